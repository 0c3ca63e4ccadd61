// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/report.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/cli/colour.h"

namespace heddle::conformance {
namespace {

// Lines of stderr that the text report has of a failure.
constexpr ptrdiff_t kWordsOfLibrary = 3;

constexpr Verdict kVerdicts[] = {Verdict::kPass,         Verdict::kFail,
                                 Verdict::kNotSupported, Verdict::kWarning,
                                 Verdict::kWaived,       Verdict::kNotRun};

std::string Escaped(absl::string_view text) {
  std::string out;
  for (char c : text) {
    // XML 1.0 has no place for other control characters.
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
      out += '?';
    } else {
      out += c;
    }
  }
  return absl::StrReplaceAll(
      out, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// "minimal list 1.0".
std::string Name(const MustPass& list) {
  return absl::StrCat(list.name, " list ", list.version);
}

std::string Cases(size_t count) {
  return absl::StrCat(count, count == 1 ? " case" : " cases");
}

// What a sentence stands at, if it is something that failures have by name: a
// function, or what onnxGetBackendInfo is asked for; else "".
absl::string_view NameIn(absl::string_view context) {
  if (absl::ConsumePrefix(&context, "ONNXIFI_BACKEND_") ||
      absl::ConsumePrefix(&context, "ONNXIFI_CAPABILITY_")) {
    return context;
  }
  for (int f = 0; f < kFunctions; ++f) {
    if (context == FunctionName(f)) return context;
  }
  return "";
}

// Whether a word is in a text, and not a part of a longer one.
bool HasWord(absl::string_view text, absl::string_view word) {
  const auto inside = [&](size_t at) {
    return at < text.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text[at])) ||
            text[at] == '_');
  };
  for (size_t at = text.find(word); at != absl::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || !inside(at - 1)) && !inside(at + word.size())) return true;
  }
  return false;
}

std::string Quotation(const Sentence& sentence) {
  return absl::StrCat(sentence.context, ": \"", sentence.text, "\"");
}

std::string Quoted(const std::string& word) {
  const bool plain =
      word.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
          "/._-+:,") == std::string::npos;
  if (plain && !word.empty()) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace

std::map<Verdict, int> Count(const std::vector<Result>& results) {
  std::map<Verdict, int> count;
  for (Verdict verdict : kVerdicts) count[verdict] = 0;
  for (const Result& result : results) ++count[result.verdict];
  return count;
}

std::vector<MustPassScore> Score(const Report& report) {
  std::map<std::string, Verdict> verdicts;
  for (const Result& r : report.results) verdicts[r.test->id] = r.verdict;
  std::vector<MustPassScore> scores;
  for (const MustPass& list : MustPassLists()) {
    MustPassScore score;
    score.list = &list;
    for (const std::string& id : list.cases) {
      const auto found = verdicts.find(id);
      if (found == verdicts.end() || found->second == Verdict::kNotRun) {
        score.not_run.push_back(id);
      } else if (found->second == Verdict::kFail ||
                 found->second == Verdict::kWaived) {
        score.failed.push_back(id);
        if (found->second == Verdict::kWaived) score.waived.push_back(id);
      } else if (found->second == Verdict::kNotSupported) {
        score.not_supported.push_back(id);
      } else {
        ++score.passed;
      }
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

std::string ScoreText(const MustPassScore& score) {
  std::string text =
      absl::StrCat(Name(*score.list), ": ", score.passed, " passed, ",
                   score.failed.size() - score.waived.size(), " failed");
  const std::pair<size_t, const char*> kMore[] = {
      {score.waived.size(), "waived"},
      {score.not_supported.size(), "not supported"},
      {score.not_run.size(), "not run"},
  };
  for (const auto& [count, what] : kMore) {
    if (count > 0) absl::StrAppend(&text, ", ", count, " ", what);
  }
  return text;
}

std::string Conclusion(const Report& report) {
  std::string conforms, violates;
  std::set<std::string> listed;
  bool part = false;
  for (const MustPassScore& score : Score(report)) {  // the full list is last
    listed.insert(score.list->cases.begin(), score.list->cases.end());
    part |= !score.not_run.empty();
    const size_t failed = score.failed.size() - score.waived.size();
    if (failed > 0) {
      absl::StrAppend(&violates, violates.empty() ? "the " : " or the ",
                      Name(*score.list), " (", Cases(failed), " failed)");
    } else if (score.not_run.empty()) {
      conforms = "the " + Name(*score.list);
      if (!score.waived.empty()) {
        absl::StrAppend(&conforms, " (", Cases(score.waived.size()),
                        " waived)");
      }
    }
  }
  const auto others = static_cast<size_t>(std::count_if(
      report.results.begin(), report.results.end(), [&](const Result& r) {
        return r.verdict == Verdict::kFail && listed.count(r.test->id) == 0;
      }));
  std::string text;
  if (!conforms.empty()) {
    text = "The library conforms to " + conforms;
    if (!violates.empty()) absl::StrAppend(&text, ", but not to ", violates);
  } else if (!violates.empty()) {
    text = "The library does not conform to " + violates;
  } else {
    text = "No verdict on conformance";
  }
  if (part) absl::StrAppend(&text, "; only part of the cases ran");
  if (others > 0) {
    absl::StrAppend(&text, "; ", Cases(others), " outside the lists failed");
  }
  return text + ".";
}

std::vector<const Pair*> ExercisedPairs(const Report& report) {
  std::set<std::pair<std::string, std::string>> returned;
  for (const Result& result : report.results) {
    for (const Result::Returned& r : result.returned) {
      returned.insert({r.function, r.status});
    }
  }
  std::vector<const Pair*> exercised;
  for (const Pair& pair : Pairs()) {
    if (pair.kind == Pair::kListed &&
        returned.count({pair.function, pair.status}) != 0) {
      exercised.push_back(&pair);
    }
  }
  return exercised;
}

std::vector<const Sentence*> ExercisedSentences(const Report& report) {
  std::set<std::string> ran;
  for (const Result& result : report.results) {
    if (result.verdict != Verdict::kNotSupported &&
        result.verdict != Verdict::kNotRun) {
      ran.insert(result.test->id);
    }
  }
  std::vector<const Sentence*> exercised;
  for (const Sentence& sentence : Sentences()) {
    if (std::any_of(
            sentence.cases.begin(), sentence.cases.end(),
            [&](const std::string& id) { return ran.count(id) != 0; })) {
      exercised.push_back(&sentence);
    }
  }
  return exercised;
}

std::vector<const Sentence*> SentencesOf(const std::string& case_id) {
  std::vector<const Sentence*> sentences;
  for (const Sentence& sentence : Sentences()) {
    if (std::find(sentence.cases.begin(), sentence.cases.end(), case_id) !=
        sentence.cases.end()) {
      sentences.push_back(&sentence);
    }
  }
  return sentences;
}

std::vector<const Sentence*> ViolatedSentences(const Result& result) {
  if (result.no_device) return {};
  const std::vector<const Sentence*> all = SentencesOf(result.test->id);
  const std::string failures = absl::StrJoin(result.failures, "\n");
  const auto named = [&](const Sentence* s) {
    const absl::string_view name = NameIn(s->context);
    return !name.empty() && HasWord(failures, name);
  };
  if (std::none_of(all.begin(), all.end(), named)) return all;
  std::vector<const Sentence*> violated;
  std::copy_if(all.begin(), all.end(), std::back_inserter(violated),
               [&](const Sentence* s) {
                 return NameIn(s->context).empty() || named(s);
               });
  return violated;
}

std::string NoDevice(const Environment& environment) {
  if (environment.no_device.empty()) return "";
  return absl::StrCat(
      "onnxGetBackendIDs lists no device: ", environment.no_device,
      "; cases that need one were not run");
}

std::string Reproduce(const Environment& environment, const std::string& id) {
  std::string command = absl::StrCat(
      Quoted(environment.program), " --lib ", Quoted(environment.library),
      " --abi ", environment.abi, " --seed ", environment.seed);
  const std::pair<const char*, const std::string&> kMore[] = {
      {"--provoke", environment.provoke},
      {"--provoker", environment.provoker},
      {"--nodes", environment.nodes},
  };
  for (const auto& [option, value] : kMore) {
    if (value.empty()) continue;
    absl::StrAppend(&command, " ", option, " ", Quoted(value));
  }
  return absl::StrCat(command, " --case ", Quoted(id));
}

static std::string Shown(Verdict verdict, bool colour) {
  const std::string name = absl::StrFormat("%-15s", VerdictName(verdict));
  if (verdict == Verdict::kNotSupported || verdict == Verdict::kNotRun) {
    return name;
  }
  return cli::Coloured(name,
                       verdict == Verdict::kPass   ? cli::Colour::kGood
                       : verdict == Verdict::kFail ? cli::Colour::kBad
                                                   : cli::Colour::kWarning,
                       colour);
}

std::string TextReport(const Report& report, bool colour) {
  const Environment& e = report.environment;
  std::string out = absl::StrCat("ONNXIFI conformance of ", e.library,
                                 "\n  sha256 ", e.sha256, "\n  ABI ", e.abi,
                                 " (", e.abi_source, "), seed ", e.seed, "\n");
  for (const auto& [name, value] : e.backend) {
    absl::StrAppend(&out, "  ", name, " ", value, "\n");
  }
  absl::StrAppend(&out, "\n");
  if (const std::string none = NoDevice(e); !none.empty()) {
    absl::StrAppend(&out, none, "\n\n");
  }
  std::string group;
  for (const Result& r : report.results) {
    if (r.test->group() != group) {
      group = r.test->group();
      absl::StrAppend(&out, group, "\n");
    }
    absl::StrAppendFormat(&out, "  %s %-36s %s\n", Shown(r.verdict, colour),
                          r.test->id, r.test->title);
    for (const std::string& text : r.failures) {
      absl::StrAppend(&out, "      ", text, "\n");
    }
    for (const std::string& text : r.warnings) {
      absl::StrAppend(&out, "      quality: ", text, "\n");
    }
    if (!r.excuse.empty()) absl::StrAppend(&out, "      ", r.excuse, "\n");
    if (r.verdict == Verdict::kWaived) {
      absl::StrAppend(&out, "      waived by ", r.waived_by, ": ",
                      r.waived_because, "\n");
    }
    if (r.verdict == Verdict::kFail) {
      for (const Sentence* s : ViolatedSentences(r)) {
        absl::StrAppend(&out, "      ", Quotation(*s), "\n");
      }
      // The library's own words, the last of them.
      std::vector<std::string> said =
          absl::StrSplit(r.errors, '\n', absl::SkipEmpty());
      if (said.size() > static_cast<size_t>(kWordsOfLibrary)) {
        said.erase(said.begin(), said.end() - kWordsOfLibrary);
      }
      for (const std::string& line : said) {
        absl::StrAppend(&out, "      | ", line, "\n");
      }
      absl::StrAppend(&out, "      again: ", Reproduce(e, r.test->id), "\n");
    }
  }
  absl::StrAppend(&out, "\n");
  for (const MustPassScore& score : Score(report)) {
    absl::StrAppend(&out, ScoreText(score), "\n");
  }
  absl::StrAppend(&out, ExercisedPairs(report).size(),
                  " of 135 function/status pairs occurred; ",
                  ExercisedSentences(report).size(), " of ", Sentences().size(),
                  " sentences exercised\n");
  std::vector<std::string> counts;
  for (const auto& [verdict, count] : Count(report.results)) {
    counts.push_back(absl::StrCat(count, " ", VerdictName(verdict)));
  }
  absl::StrAppend(&out, Cases(report.results.size()), ": ",
                  absl::StrJoin(counts, ", "), "\n", Conclusion(report), "\n");
  return out;
}

std::string JunitReport(const Report& report) {
  const auto count = Count(report.results);
  const std::string no_device = NoDevice(report.environment);
  double seconds = 0;
  for (const Result& r : report.results) seconds += r.seconds;
  std::string out = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites><testsuite name=\"onnxifi-conformance\" tests=\"%d\" "
      "failures=\"%d\" skipped=\"%d\" time=\"%.3f\">\n"
      "<properties><property name=\"library\" value=\"%s\"/>"
      "<property name=\"sha256\" value=\"%s\"/>"
      "<property name=\"abi\" value=\"%s\"/>"
      "<property name=\"seed\" value=\"%d\"/>%s</properties>\n",
      report.results.size(), count.at(Verdict::kFail),
      count.at(Verdict::kNotSupported) + count.at(Verdict::kWaived) +
          count.at(Verdict::kNotRun),
      seconds, Escaped(report.environment.library), report.environment.sha256,
      report.environment.abi, report.environment.seed,
      no_device.empty() ? ""
                        : absl::StrCat("<property name=\"no_device\" value=\"",
                                       Escaped(no_device), "\"/>"));
  for (const Result& r : report.results) {
    absl::StrAppendFormat(
        &out, "<testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">",
        r.test->group(), r.test->id, r.seconds);
    if (r.verdict == Verdict::kFail) {
      absl::StrAppend(&out, "<failure message=\"",
                      Escaped(r.failures.empty() ? "" : r.failures[0]), "\">",
                      Escaped(absl::StrJoin(r.failures, "\n")), "\n");
      for (const Sentence* s : ViolatedSentences(r)) {
        absl::StrAppend(&out, Escaped(Quotation(*s)), "\n");
      }
      absl::StrAppend(&out, Escaped(Reproduce(report.environment, r.test->id)),
                      "</failure>");
    } else if (r.verdict == Verdict::kNotSupported) {
      absl::StrAppend(&out, "<skipped message=\"", Escaped(r.excuse), "\"/>");
    } else if (r.verdict == Verdict::kNotRun) {
      absl::StrAppend(&out, "<skipped message=\"not run: no device\"/>");
    } else if (r.verdict == Verdict::kWaived) {
      absl::StrAppend(&out, "<skipped message=\"waived by ",
                      Escaped(r.waived_by), ": ", Escaped(r.waived_because),
                      "\"/>");
    }
    if (!r.warnings.empty()) {
      absl::StrAppend(&out, "<system-out>",
                      Escaped(absl::StrJoin(r.warnings, "\n")),
                      "</system-out>");
    }
    if (!r.errors.empty() && r.verdict == Verdict::kFail) {
      absl::StrAppend(&out, "<system-err>", Escaped(r.errors), "</system-err>");
    }
    absl::StrAppend(&out, "</testcase>\n");
  }
  absl::StrAppend(&out, "</testsuite></testsuites>\n");
  return out;
}

}  // namespace heddle::conformance
