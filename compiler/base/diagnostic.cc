// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/diagnostic.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace heddle::compiler {
namespace {

constexpr char kPayload[] = "heddle/rejection";

absl::StatusCode CodeOf(Rejection kind) {
  switch (kind) {
    case Rejection::kNone:
      return absl::StatusCode::kInternal;
    case Rejection::kInvalidProtobuf:
    case Rejection::kInvalidModel:
    case Rejection::kMismatchingShape:
    case Rejection::kMismatchingDatatype:
      return absl::StatusCode::kInvalidArgument;
    case Rejection::kUnsupportedVersion:
    case Rejection::kUnsupportedOperator:
    case Rejection::kUnsupportedAttribute:
    case Rejection::kUnsupportedShape:
    case Rejection::kUnsupportedDatatype:
      return absl::StatusCode::kUnimplemented;
    case Rejection::kNoSystemMemory:
    case Rejection::kNoDeviceMemory:
      return absl::StatusCode::kResourceExhausted;
  }
  return absl::StatusCode::kInternal;
}

}  // namespace

const char* RejectionName(Rejection kind) {
  switch (kind) {
    case Rejection::kNone:
      return "internal error";
    case Rejection::kInvalidProtobuf:
      return "invalid protobuf";
    case Rejection::kInvalidModel:
      return "invalid model";
    case Rejection::kUnsupportedVersion:
      return "unsupported version";
    case Rejection::kUnsupportedOperator:
      return "unsupported operator";
    case Rejection::kUnsupportedAttribute:
      return "unsupported attribute";
    case Rejection::kUnsupportedShape:
      return "unsupported shape";
    case Rejection::kUnsupportedDatatype:
      return "unsupported datatype";
    case Rejection::kMismatchingShape:
      return "mismatching shape";
    case Rejection::kMismatchingDatatype:
      return "mismatching datatype";
    case Rejection::kNoSystemMemory:
      return "not enough system memory";
    case Rejection::kNoDeviceMemory:
      return "not enough device memory";
  }
  return "internal error";
}

absl::Status Reject(Rejection kind, std::string message) {
  absl::Status status(CodeOf(kind), std::move(message));
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(kind))));
  return status;
}

Rejection RejectionOf(const absl::Status& status) {
  auto payload = status.GetPayload(kPayload);
  int value = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &value) ||
      value < 0 || value > static_cast<int>(Rejection::kNoDeviceMemory)) {
    return Rejection::kNone;
  }
  return static_cast<Rejection>(value);
}

}  // namespace heddle::compiler
