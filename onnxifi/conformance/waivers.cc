// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/waivers.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "onnxifi/conformance/spec.h"
#include "tools/cli/usage.h"

namespace heddle::conformance {

absl::StatusOr<std::vector<Waiver>> ParseWaivers(
    const std::string& text, const std::vector<Case>& cases) {
  std::vector<Waiver> waivers;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = Fields(std::string(line));
    if (fields.size() != 3 || fields[0].empty() || fields[1].empty() ||
        fields[2].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": not CASE | OWNER | REASON"));
    }
    std::vector<std::string> ids;
    for (const Case& c : cases) ids.push_back(c.id);
    if (std::find(ids.begin(), ids.end(), fields[0]) == ids.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": there is no case '", fields[0], "'",
                       cli::DidYouMean(fields[0], ids), " (--list shows all)"));
    }
    waivers.push_back({fields[0], fields[1], fields[2]});
  }
  return waivers;
}

void ApplyWaivers(const std::vector<Waiver>& waivers,
                  std::vector<Result>* results) {
  for (Result& result : *results) {
    for (const Waiver& waiver : waivers) {
      if (waiver.case_id != result.test->id ||
          result.verdict == Verdict::kNotRun) {
        continue;
      }
      if (result.verdict == Verdict::kFail) {
        result.verdict = Verdict::kWaived;
        result.waived_by = waiver.owner;
        result.waived_because = waiver.reason;
      } else {
        result.notes.push_back(absl::StrCat("the waiver of ", waiver.owner,
                                            " is not needed any more"));
      }
    }
  }
}

}  // namespace heddle::conformance
