// SPDX-License-Identifier: Apache-2.0
// ONNXIFI status codes inside absl::Status, and which of them each function may
// return.
#ifndef HEDDLE_ONNXIFI_STATUS_H_
#define HEDDLE_ONNXIFI_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "onnxifi/include/heddle/onnxifi.h"

namespace heddle::onnxifi {

// A failure with this ONNXIFI code. `message` is a sentence for the log.
absl::Status Fail(onnxStatus code, std::string message);

// NO_SYSTEM_MEMORY without a sentence; needs no memory itself.
absl::Status NoMemory() noexcept;

// The ONNXIFI code of any status: that of Fail, of compiler::Reject, else by
// the absl code.
onnxStatus CodeOf(const absl::Status& status);

// Marks a refusal that no shapes of the model's inputs can avert.
absl::Status WhateverShapes(absl::Status refusal);
bool HoldsWhateverShapes(const absl::Status& refusal);

// "ONNXIFI_STATUS_INVALID_ID"; "unknown status" for other values.
const char* StatusName(onnxStatus code);

enum class Function {
  kGetBackendIDs,
  kReleaseBackendID,
  kGetBackendInfo,
  kGetBackendCompatibility,
  kInitBackend,
  kReleaseBackend,
  kInitEvent,
  kSignalEvent,
  kGetEventState,
  kWaitEvent,
  kReleaseEvent,
  kInitGraph,
  kSetGraphIO,
  kRunGraph,
  kReleaseGraph,
  kGetExtensionFunctionAddress,
  kSetIOAndRunGraph,
  kWaitEventFor,
  kReleaseTraceEvents,
  kGetOutputShape,
  kSetOption,
  kGetOption,
};
constexpr int kStandardFunctions = 15;
constexpr int kFunctions = 22;

// "onnxInitGraph".
const char* FunctionName(Function function);

// Whether the interface (or, where `with_rulings`, RULINGS.md beside it) lets
// `function` return `code`.
bool MayReturn(Function function, onnxStatus code, bool with_rulings = true);

// `code` if the function may return it, else the nearest code that it may
// return (INTERNAL_ERROR, or BACKEND_UNAVAILABLE where that is not listed).
onnxStatus Contracted(Function function, onnxStatus code);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_STATUS_H_
