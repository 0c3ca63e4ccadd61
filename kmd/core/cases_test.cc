// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Runs the cases of one unit (cases/heddle_<unit>_cases.c, HEDDLE_UNIT=<unit>):
// each is a GoogleTest case of its own. cases/heddle_kunit_suites.c does the same
// within a kernel.
#include <cstddef>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

extern "C" {
#include "kmd/core/cases/heddle_cases.h"
}

#define HEDDLE_NAME(unit) HEDDLE_PASTE(unit)
#define HEDDLE_PASTE(unit) heddle_##unit##_cases
#define HEDDLE_TEXT(unit) HEDDLE_QUOTE(unit)
#define HEDDLE_QUOTE(unit) #unit

namespace {

struct HostedTest {
  heddle_test test = {};
  std::vector<std::unique_ptr<char[]>> memory;
};

std::string Number(u64 value) {
  std::ostringstream text;
  text << static_cast<s64>(value) << " (0x" << std::hex << value << ")";
  return text.str();
}

void Fail(heddle_test* t, const heddle_failure* failure) {
  std::ostringstream text;
  text << failure->text;
  if (failure->has_values) {
    text << "\n  left:  " << Number(failure->got)
         << "\n  right: " << Number(failure->want);
  }
  if (t->row != nullptr) {
    text << "\n  row:   " << t->row << ", " << Number(t->number);
  }
  ADD_FAILURE_AT(failure->file, failure->line) << text.str();
}

void* Allocate(heddle_test* t, size_t bytes) {
  auto* hosted = reinterpret_cast<HostedTest*>(t);
  hosted->memory.emplace_back(new char[bytes]);
  return hosted->memory.back().get();
}
static_assert(offsetof(HostedTest, test) == 0);

class Case : public testing::Test {
 public:
  explicit Case(const heddle_case& c) : case_(c) {}
  void TestBody() override {
    HostedTest hosted;
    hosted.test.fail = Fail;
    hosted.test.alloc = Allocate;
    case_.run(&hosted.test);
  }

 private:
  const heddle_case& case_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const heddle_case* c = HEDDLE_NAME(HEDDLE_UNIT); c->name != nullptr;
       ++c) {
    testing::RegisterTest("heddle_" HEDDLE_TEXT(HEDDLE_UNIT), c->name, nullptr,
                          nullptr, __FILE__, __LINE__,
                          [c]() -> Case* { return new Case(*c); });
  }
  return RUN_ALL_TESTS();
}
