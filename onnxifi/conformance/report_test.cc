// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/report.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace heddle::conformance {
namespace {

constexpr char kOnlyFull[] = "info.older_opsets";
constexpr char kBoth[] = "io.failure_invalidates";
constexpr char kNeither[] = "io.unaligned";

// Of all cases but kNeither: they pass.
Report Passed() {
  Report report;
  for (const Case& c : AllCases()) {
    if (c.id == std::string(kNeither)) continue;
    Result result;
    result.test = &c;
    result.verdict = Verdict::kPass;
    report.results.push_back(result);
  }
  return report;
}

Report With(Report report, const std::string& id, Verdict verdict) {
  for (Result& r : report.results) {
    if (r.test->id == id) r.verdict = verdict;
  }
  return report;
}

class ConclusionTest : public testing::Test {
 protected:
  const MustPass& minimal_ = MustPassLists()[0];
  const MustPass& full_ = MustPassLists()[1];
  const std::string in_minimal_ = "minimal list " + minimal_.version;
  const std::string in_full_ = "full list " + full_.version;
};

TEST_F(ConclusionTest, NamesTheListThatTheLibraryConformsTo) {
  EXPECT_EQ(Conclusion(Passed()),
            "The library conforms to the " + in_full_ + ".");
  EXPECT_EQ(Conclusion(With(Passed(), kOnlyFull, Verdict::kFail)),
            "The library conforms to the " + in_minimal_ + ", but not to the " +
                in_full_ + " (1 case failed).");
  EXPECT_EQ(Conclusion(With(With(Passed(), kOnlyFull, Verdict::kFail), kBoth,
                            Verdict::kFail)),
            "The library does not conform to the " + in_minimal_ +
                " (1 case failed) or the " + in_full_ + " (2 cases failed).");
  EXPECT_EQ(Conclusion(With(Passed(), kBoth, Verdict::kWaived)),
            "The library conforms to the " + in_full_ + " (1 case waived).");
  EXPECT_EQ(Conclusion(With(Passed(), kBoth, Verdict::kNotSupported)),
            "The library conforms to the " + in_full_ + ".");
}

TEST_F(ConclusionTest, OfAPartSaysSo) {
  EXPECT_EQ(Conclusion(With(Passed(), kOnlyFull, Verdict::kNotRun)),
            "The library conforms to the " + in_minimal_ +
                "; only part of the cases ran.");
  EXPECT_EQ(Conclusion(With(Passed(), kBoth, Verdict::kNotRun)),
            "No verdict on conformance; only part of the cases ran.");
  EXPECT_EQ(Conclusion(With(With(Passed(), kBoth, Verdict::kNotRun), kOnlyFull,
                            Verdict::kFail)),
            "The library does not conform to the " + in_full_ +
                " (1 case failed); only part of the cases ran.");
  EXPECT_EQ(Conclusion(Report()),
            "No verdict on conformance; only part of the cases ran.");
}

// As ONNX's node tests, which are in no list.
TEST_F(ConclusionTest, CountsOtherFailures) {
  Report report = Passed();
  Result result;
  result.test = FindCase(kNeither);
  result.verdict = Verdict::kFail;
  report.results.push_back(result);
  EXPECT_EQ(Conclusion(report), "The library conforms to the " + in_full_ +
                                    "; 1 case outside the lists failed.");
}

TEST_F(ConclusionTest, AScoreAddsUp) {
  Report report = With(Passed(), kBoth, Verdict::kFail);
  report = With(report, "io.names", Verdict::kWaived);
  report = With(report, "io.shape", Verdict::kNotSupported);
  report = With(report, "io.tag", Verdict::kNotRun);
  report = With(report, "io.missing", Verdict::kWarning);
  for (const MustPassScore& score : Score(report)) {
    EXPECT_EQ(ScoreText(score),
              absl::StrCat(score.list->name, " list ", score.list->version,
                           ": ", score.list->cases.size() - 4,
                           " passed, 1 failed, 1 waived, 1 not supported, 1 "
                           "not run"));
  }
}

// general.out_handles is about four functions.
TEST(ViolatedSentences, AreOfTheFunctionsThatFailed) {
  Result result;
  result.test = FindCase("general.out_handles");
  const size_t all = SentencesOf(result.test->id).size();
  ASSERT_GT(all, 1u);
  result.failures = {"crashed"};
  EXPECT_EQ(ViolatedSentences(result).size(), all);
  result.failures = {"onnxInitEvent with NULL returned SUCCESS"};
  const std::vector<const Sentence*> quoted = ViolatedSentences(result);
  ASSERT_EQ(quoted.size(), 1u);
  EXPECT_EQ(quoted[0]->context, "onnxInitEvent");
  // Seventeen queries; NAME is no part of another word.
  result.test = FindCase("info.required");
  result.failures = {"onnxGetBackendInfo(NAME) returned INVALID_NAME",
                     "onnxGetBackendInfo(DEVICE_TYPE) has 4 bytes"};
  std::set<std::string> contexts;
  for (const Sentence* s : ViolatedSentences(result)) {
    contexts.insert(s->context);
  }
  EXPECT_EQ(contexts, (std::set<std::string>{"ONNXIFI_BACKEND_NAME",
                                             "ONNXIFI_BACKEND_DEVICE_TYPE"}));
  result.no_device = true;
  EXPECT_TRUE(ViolatedSentences(result).empty());
}

TEST(JunitReport, QuotesTheSpecificationOfAFailure) {
  Report report = With(Passed(), kBoth, Verdict::kFail);
  const std::vector<const Sentence*> sentences = SentencesOf(kBoth);
  ASSERT_FALSE(sentences.empty());
  const std::string quoted =
      absl::StrCat("\n", sentences[0]->context, ": &quot;",
                   sentences[0]->text.substr(0, 20));
  EXPECT_NE(JunitReport(report).find(quoted), std::string::npos)
      << JunitReport(report);
  // It has not come to what that says.
  for (Result& r : report.results) r.no_device = true;
  EXPECT_EQ(JunitReport(report).find(quoted), std::string::npos);
}

}  // namespace
}  // namespace heddle::conformance
