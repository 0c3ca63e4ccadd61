// SPDX-License-Identifier: Apache-2.0
// Bad models and packages through the tools: one sentence on stderr that names
// the node or the field, the documented exit code, and no file left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/bad_models.h"
#include "tests/e2e/product.h"
#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

// Exit codes of --help.
constexpr int kFailed = 1, kRefused = 4;

// One line "TOOL: error: SENTENCE" that has `mention` in it.
void ExpectOneSentence(const std::string& tool, const std::string& text,
                       const std::string& mention) {
  EXPECT_EQ(text.rfind(tool + ": error: ", 0), 0u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_GT(text.size(), tool.size() + 25) << text;
  EXPECT_LT(text.size(), 600u) << text;
  EXPECT_NE(text.find(mention), std::string::npos)
      << "nothing about " << mention << ": " << text;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void ExpectCompileRefuses(const BadModel& bad) {
  SCOPED_TRACE(bad.name);
  TempFolder folder;
  WriteFileOrDie(folder / "model.onnx", bad.bytes);
  const Finished compile =
      HeddleCompile({folder / "model.onnx", "-o", folder / "model.hpk"});
  EXPECT_EQ(compile.code, kRefused) << compile.err;
  EXPECT_EQ(compile.out, "");
  ExpectOneSentence("heddle-compile", compile.err, bad.mention);
  EXPECT_EQ(FilesIn(folder.path()), std::vector<std::string>{"model.onnx"});
}

TEST(BadModels, CompileSaysWhyAndWritesNothing) {
  for (const BadModel& bad : BadModels()) ExpectCompileRefuses(bad);
}

TEST(BadModels, CompileRefusesTruncatedModels) {
  for (const BadModel& bad : TruncatedModels()) ExpectCompileRefuses(bad);
}

class OnACard : public testing::Test {
 protected:
  OnACard()
      : card_(folder_ / "card", {}),
        driver_(folder_ / "driver", {folder_ / "card"}) {}

  void ExpectRunFails(const std::string& file, int code,
                      const std::string& mention) {
    const Finished run = HeddleRun({file}, driver_.device());
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(run.out, "");
    ExpectOneSentence("heddle-run", run.err, mention);
  }

  TempFolder folder_;
  VirtualCard card_;
  HostedDriver driver_;
};

TEST_F(OnACard, RunSaysWhyAModelIsRefused) {
  for (const BadModel& bad : BadModels()) {
    SCOPED_TRACE(bad.name);
    WriteFileOrDie(folder_ / "model.onnx", bad.bytes);
    ExpectRunFails(folder_ / "model.onnx", kRefused, bad.mention);
  }
}

TEST_F(OnACard, EveryTamperedPackageIsRefused) {
  const std::string path = folder_ / "digits.hpk";
  const Finished compile =
      HeddleCompile({Digits("digits_int8.onnx"), "-o", path});
  ASSERT_EQ(compile.code, 0) << compile.err;
  ASSERT_EQ(HeddleRun({path}, driver_.device()).code, 0);
  const std::string good = ReadFileOrDie(path);
  ASSERT_GT(good.size(), 10000u);
  for (size_t at = 0; at < good.size(); at += 1000) {
    SCOPED_TRACE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    WriteFileOrDie(path, bad);
    ExpectRunFails(path, kFailed, "");
  }
  // And the one that was not touched still runs.
  WriteFileOrDie(path, good);
  EXPECT_EQ(HeddleRun({path}, driver_.device()).code, 0);
}

TEST_F(OnACard, TruncatedAndForeignPackagesAreRefused) {
  const std::string path = folder_ / "digits.hpk";
  ASSERT_EQ(HeddleCompile({Digits("digits_int8.onnx"), "-o", path}).code, 0);
  const std::string good = ReadFileOrDie(path);
  for (size_t size = 1000; size < good.size(); size += 10000) {
    SCOPED_TRACE(size);
    WriteFileOrDie(path, good.substr(0, size));
    ExpectRunFails(path, kFailed, "");
  }
  WriteFileOrDie(path, ReadFileOrDie(Digits("digits_test.u8")));
  ExpectRunFails(path, kFailed, "not a package");
  WriteFileOrDie(path, "");
  ExpectRunFails(path, kFailed, "not a package: 0 bytes");
}

}  // namespace
}  // namespace heddle::tests
