// SPDX-License-Identifier: Apache-2.0
// What a run of the suite found, in four forms.
#ifndef ONNXIFI_CONFORMANCE_REPORT_H_
#define ONNXIFI_CONFORMANCE_REPORT_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "onnxifi/conformance/runner.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {

struct Environment {
  std::string program;  // as it was called
  std::string library;  // as given
  std::string sha256;
  std::string abi;
  std::string abi_source;  // "--abi", or what it was told by
  std::string provoke, provoker, nodes;
  std::string kernel;
  std::string machine;
  std::string date;
  uint64_t seed = 0;
  double timeout_seconds = 0;
  std::string no_device;  // WhyNoDevice()
  // What the library says of itself: "VENDOR", "NAME", ...
  std::vector<std::pair<std::string, std::string>> backend;
};

struct Report {
  Environment environment;
  std::vector<Result> results;
};

// Counts of results by verdict.
std::map<Verdict, int> Count(const std::vector<Result>& results);

// How a must-pass list came out.
struct MustPassScore {
  const MustPass* list = nullptr;
  int passed = 0;
  std::vector<std::string> failed;  // those that are waived among them
  std::vector<std::string> waived;
  std::vector<std::string> not_supported;
  std::vector<std::string> not_run;
  bool holds() const { return failed.empty() && not_run.empty(); }
};
std::vector<MustPassScore> Score(const Report& report);
// "minimal list 1.0: 1 passed, 31 failed, 39 not run".
std::string ScoreText(const MustPassScore& score);
// Whether the library conforms, and to which list; or why that is not known.
std::string Conclusion(const Report& report);

// What a library is said to lack that lists no device, or "".
std::string NoDevice(const Environment& environment);

// Of the 135 listed pairs those that some call returned.
std::vector<const Pair*> ExercisedPairs(const Report& report);
// Those with a case that ran and was supported.
std::vector<const Sentence*> ExercisedSentences(const Report& report);
// The sentences that a case stands for.
std::vector<const Sentence*> SentencesOf(const std::string& case_id);
// Those that a failure may have violated: of the functions and queries of the
// case those that it names, if any; none if there was no device to try them on.
std::vector<const Sentence*> ViolatedSentences(const Result& result);

// The command that runs one case again.
std::string Reproduce(const Environment& environment, const std::string& id);

std::string TextReport(const Report& report, bool colour = false);
std::string JunitReport(const Report& report);
nlohmann::ordered_json JsonReport(const Report& report);
std::string HtmlReport(const Report& report);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_REPORT_H_
