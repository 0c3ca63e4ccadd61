// SPDX-License-Identifier: Apache-2.0
// Why a model is rejected: an absl::Status that carries a kind, which
// determines the ONNXIFI status and the tools' exit code.
#ifndef HEDDLE_COMPILER_BASE_DIAGNOSTIC_H_
#define HEDDLE_COMPILER_BASE_DIAGNOSTIC_H_

#include <string>

#include "absl/status/status.h"

namespace heddle::compiler {

// The names are ONNXIFI's; the meaning is that of onnxifi.h.
enum class Rejection {
  kNone,  // not a rejection of the model (an internal or system error)
  kInvalidProtobuf,
  kInvalidModel,
  kUnsupportedVersion,
  kUnsupportedOperator,
  kUnsupportedAttribute,
  kUnsupportedShape,
  kUnsupportedDatatype,
  kMismatchingShape,
  kMismatchingDatatype,
  kNoSystemMemory,
  kNoDeviceMemory,
};

// "unsupported operator", ... for tools.
const char* RejectionName(Rejection kind);

// A status whose message is one sentence that names the node or field, the
// limit, the value and the way out.
absl::Status Reject(Rejection kind, std::string message);

// The kind a status carries; kNone for any other status.
Rejection RejectionOf(const absl::Status& status);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_DIAGNOSTIC_H_
