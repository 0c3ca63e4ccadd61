// SPDX-License-Identifier: Apache-2.0
// The result of one ONNXIFI call: a status code and a sentence for the log.
// With a literal it needs no memory, so it can report that there is none.
#ifndef HEDDLE_ONNXIFI_OUTCOME_H_
#define HEDDLE_ONNXIFI_OUTCOME_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {

struct Outcome {
  Outcome() = default;
  // `literal` must live for ever.
  explicit Outcome(onnxStatus code_in, const char* literal = "")
      : code(code_in), text(literal) {}
  explicit Outcome(const absl::Status& status)
      : code(CodeOf(status)), detail(status.message()) {}

  absl::string_view message() const {
    return detail.empty() ? absl::string_view(text) : detail;
  }
  bool failed() const {
    return code != ONNXIFI_STATUS_SUCCESS && code != ONNXIFI_STATUS_FALLBACK;
  }

  onnxStatus code = ONNXIFI_STATUS_SUCCESS;
  const char* text = "";
  std::string detail;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_OUTCOME_H_
