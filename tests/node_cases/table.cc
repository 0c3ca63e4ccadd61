// SPDX-License-Identifier: Apache-2.0
#include "tests/node_cases/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/comparer/api.h"

namespace heddle::tests {

int CountPassed(const std::vector<CaseResult>& results) {
  return static_cast<int>(
      std::count_if(results.begin(), results.end(), [](const CaseResult& r) {
        return r.verdict == Verdict::kPass ||
               r.verdict == Verdict::kPassAdapted;
      }));
}

int CountAdapted(const std::vector<CaseResult>& results) {
  return static_cast<int>(std::count_if(
      results.begin(), results.end(),
      [](const CaseResult& r) { return r.verdict == Verdict::kPassAdapted; }));
}

std::string OperatorTable(const std::string& group,
                          const std::vector<CaseResult>& results) {
  const int adapted = CountAdapted(results);
  std::string text =
      absl::StrFormat("%-32s %3d of %3d pass", group, CountPassed(results),
                      static_cast<int>(results.size()));
  if (adapted > 0) {
    absl::StrAppend(&text, ", ", adapted, " of them with constant parameters");
  }
  absl::StrAppend(&text, "\n");
  std::map<std::string, int> refusals;
  for (const CaseResult& result : results) {
    if (result.verdict == Verdict::kRefused) {
      ++refusals[absl::StrCat(comparer::StatusName(result.status), ": ",
                              result.reason)];
    }
  }
  for (const auto& [reason, count] : refusals) {
    absl::StrAppendFormat(&text, "    refused %3d  %s\n", count, reason);
  }
  for (const CaseResult& result : results) {
    if (IsGood(result.verdict)) continue;
    absl::StrAppendFormat(
        &text, "    %s %s%s: %s\n", VerdictName(result.verdict), result.name,
        result.status == 0 ? "" : " " + comparer::StatusName(result.status),
        result.message);
  }
  return text;
}

std::map<std::string, std::vector<CaseResult>> ByGroup(
    const std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<CaseResult>> groups;
  for (const CaseResult& result : results) {
    groups[result.group].push_back(result);
  }
  return groups;
}

}  // namespace heddle::tests
