// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "onnxifi/conformance/page.inc"  // kPage
#include "onnxifi/conformance/report.h"

namespace heddle::conformance {

using nlohmann::ordered_json;

ordered_json JsonReport(const Report& report) {
  const Environment& e = report.environment;
  ordered_json json;
  json["format"] = "onnxifi-conformance 1";
  ordered_json& environment = json["environment"];
  environment = {{"library", e.library},
                 {"sha256", e.sha256},
                 {"abi", e.abi},
                 {"abi_source", e.abi_source},
                 {"kernel", e.kernel},
                 {"machine", e.machine},
                 {"date", e.date},
                 {"seed", e.seed},
                 {"timeout_seconds", e.timeout_seconds}};
  for (const auto& [name, value] : e.backend) {
    environment["backend"][name] = value;
  }
  if (!e.no_device.empty()) environment["no_device"] = NoDevice(e);
  for (const auto& [verdict, count] : Count(report.results)) {
    json["verdicts"][VerdictName(verdict)] = count;
  }
  for (const MustPassScore& score : Score(report)) {
    json["must_pass"][score.list->name] = {
        {"version", score.list->version},
        {"cases", score.list->cases.size()},
        {"passed", score.passed},
        {"failed", score.failed},
        {"waived", score.waived},
        {"not_supported", score.not_supported},
        {"not_run", score.not_run},
        {"holds", score.holds()},
        {"text", ScoreText(score)}};
  }
  json["conclusion"] = Conclusion(report);
  json["pairs"] = 135;
  json["pairs_exercised"] = ordered_json::array();
  for (const Pair* pair : ExercisedPairs(report)) {
    json["pairs_exercised"].push_back({pair->function, pair->status});
  }
  json["sentences"] = Sentences().size();
  json["sentences_exercised"] = ordered_json::array();
  for (const Sentence* sentence : ExercisedSentences(report)) {
    json["sentences_exercised"].push_back(sentence->id);
  }
  json["cases"] = ordered_json::array();
  for (const Result& r : report.results) {
    ordered_json c = {{"id", r.test->id},
                      {"group", r.test->group()},
                      {"title", r.test->title},
                      {"verdict", VerdictName(r.verdict)},
                      {"seconds", r.seconds},
                      {"failures", r.failures},
                      {"warnings", r.warnings},
                      {"notes", r.notes},
                      {"reproduce", Reproduce(e, r.test->id)}};
    if (!r.excuse.empty()) c["excuse"] = r.excuse;
    if (r.verdict == Verdict::kWaived) {
      c["waived_by"] = r.waived_by;
      c["waived_because"] = r.waived_because;
    }
    if (!r.output.empty()) c["stdout"] = r.output;
    if (!r.errors.empty() && r.verdict != Verdict::kPass) {
      c["stderr"] = r.errors;
    }
    c["sentences"] = ordered_json::array();
    for (const Sentence* s :
         !r.failures.empty() ? ViolatedSentences(r) : SentencesOf(r.test->id)) {
      c["sentences"].push_back(
          {{"id", s->id}, {"context", s->context}, {"text", s->text}});
    }
    c["returned"] = ordered_json::array();
    for (const Result::Returned& returned : r.returned) {
      c["returned"].push_back(
          {returned.function, returned.status, returned.times});
    }
    json["cases"].push_back(std::move(c));
  }
  return json;
}

std::string HtmlReport(const Report& report) {
  constexpr absl::string_view kMark = "@DATA@";
  // Inside a script element only '<' could end it; the others for certainty.
  const std::string data = absl::StrReplaceAll(
      JsonReport(report).dump(-1, ' ', false,
                              ordered_json::error_handler_t::replace),
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
  const absl::string_view page(kPage);
  const size_t at = page.find(kMark);
  return absl::StrCat(page.substr(0, at), data, page.substr(at + kMark.size()));
}

}  // namespace heddle::conformance
