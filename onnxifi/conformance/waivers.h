// SPDX-License-Identifier: Apache-2.0
// Failures that somebody answers for: a file of lines CASE | OWNER | REASON.
#ifndef ONNXIFI_CONFORMANCE_WAIVERS_H_
#define ONNXIFI_CONFORMANCE_WAIVERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnxifi/conformance/runner.h"

namespace heddle::conformance {

struct Waiver {
  std::string case_id;
  std::string owner;
  std::string reason;
};

// InvalidArgument, with the line: a field is missing, or there is no such case.
absl::StatusOr<std::vector<Waiver>> ParseWaivers(
    const std::string& text, const std::vector<Case>& cases);

// A failure with a waiver becomes kWaived; a pass stays one, and says that the
// waiver is not needed any more.
void ApplyWaivers(const std::vector<Waiver>& waivers,
                  std::vector<Result>* results);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_WAIVERS_H_
