// SPDX-License-Identifier: Apache-2.0
// Every mutant of data/mutants.txt is noticed by the case that is meant for it,
// and the backend that forwards without breaking anything passes all of them.
// Over the reference backend, or the library of BACKEND.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {
namespace {

using nlohmann::json;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif !defined(__has_feature)
constexpr bool kSanitized = false;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// A kit with a sanitizer cannot refuse a process anything.
bool CanBeTried(const std::string& case_id) {
  return !kSanitized || case_id.rfind("scarcity.", 0) != 0;
}

// Descriptors of ONNX 1.x lack what some of the mutants break.
bool IsOfThisAbi(const Mutant& mutant) {
  return Env("ABI") != "onnx1" ||
         !absl::StrContains(mutant.breaks, "(extended ABI)");
}

// What the backend lacks; and ThreadSanitizer's own thread leaves no process
// with one thread, which some cases need.
bool IsUnsupported(const json& result) {
  return result["verdict"] == "not supported" &&
         (Env("SKIP_UNSUPPORTED") == "1" ||
          absl::StrContains(result["excuse"].dump(), "ThreadSanitizer"));
}

// Hangs are noticed by their time limit, so that is short.
std::string ShortTimeout() {
  const double factor = std::atof(Env("HEDDLE_TEST_TIME_FACTOR").c_str());
  return absl::StrCat(std::atof(Env("TIMEOUT").c_str()) *
                      (factor > 1 ? factor : 1));
}

// Verdict and findings by case.
std::map<std::string, json> RunKit(const std::string& mutant,
                                   const std::string& arguments,
                                   const std::string& timeout) {
  const std::string command = absl::StrCat(
      "ONNXIFI_REFERENCE_UNPLUGGED=", testing::TempDir(), "/unplugged",
      " ONNXIFI_MUTANT=", mutant, " ONNXIFI_MUTANT_LIBRARY=./", Env("BACKEND"),
      " ONNXIFI_MUTANT_ABI=", Env("ABI"), " ", Env("KIT"), " --lib ./",
      Env("MUTANT"), " --abi ", Env("ABI"), " --timeout ", timeout, " ",
      arguments, " --report json",
      Env("PROVOKE").empty() ? "" : " --provoke '" + Env("PROVOKE") + "'",
      Env("PROVOKER").empty() ? "" : " --provoker ./" + Env("PROVOKER"));
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, n);
  }
  pclose(pipe);
  std::map<std::string, json> cases;
  const json report = json::parse(output, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << command << "\n" << output;
  if (report.is_discarded()) return cases;
  for (const json& c : report["cases"]) cases[c["id"]] = c;
  return cases;
}

TEST(Mutants, AreMany) { EXPECT_GE(Mutants().size(), 60u); }

TEST(Mutants, WithoutAMutationEveryCasePasses) {
  std::set<std::string> ids;
  std::string arguments;
  for (const Mutant& mutant : Mutants()) {
    if (IsOfThisAbi(mutant) && CanBeTried(mutant.case_id) &&
        ids.insert(mutant.case_id).second) {
      absl::StrAppend(&arguments, " --case ", mutant.case_id);
    }
  }
  const auto cases = RunKit("", arguments, kSanitized ? "120" : "30");
  EXPECT_EQ(cases.size(), ids.size());
  for (const auto& [id, result] : cases) {
    if (IsUnsupported(result)) {
      continue;
    }
    EXPECT_EQ(result["verdict"], "pass") << result.dump(1);
  }
}

TEST(Mutants, EachIsNoticed) {
  for (const Mutant& mutant : Mutants()) {
    SCOPED_TRACE(mutant.name + ": " + mutant.breaks);
    if (!IsOfThisAbi(mutant) || !CanBeTried(mutant.case_id)) continue;
    auto cases =
        RunKit(mutant.name, "--case " + mutant.case_id, ShortTimeout());
    const json& result = cases[mutant.case_id];
    ASSERT_TRUE(result.is_object());
    if (IsUnsupported(result)) {
      std::printf("%s: not on this backend: %s\n", mutant.name.c_str(),
                  result["excuse"].dump().c_str());
      continue;
    }
    EXPECT_EQ(result["verdict"], mutant.verdict) << result.dump(1);
  }
}

}  // namespace
}  // namespace heddle::conformance
