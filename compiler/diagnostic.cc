// SPDX-License-Identifier: Apache-2.0
#include "compiler/diagnostic.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace heddle::compiler {
namespace {

constexpr char kPayload[] = "heddle/refusal";

absl::StatusCode CodeOf(Refusal kind) {
  switch (kind) {
    case Refusal::kNone:
      return absl::StatusCode::kInternal;
    case Refusal::kInvalidProtobuf:
    case Refusal::kInvalidModel:
    case Refusal::kMismatchingShape:
    case Refusal::kMismatchingDatatype:
      return absl::StatusCode::kInvalidArgument;
    case Refusal::kUnsupportedVersion:
    case Refusal::kUnsupportedOperator:
    case Refusal::kUnsupportedAttribute:
    case Refusal::kUnsupportedShape:
    case Refusal::kUnsupportedDatatype:
      return absl::StatusCode::kUnimplemented;
    case Refusal::kNoSystemMemory:
    case Refusal::kNoDeviceMemory:
      return absl::StatusCode::kResourceExhausted;
  }
  return absl::StatusCode::kInternal;
}

}  // namespace

const char* RefusalName(Refusal kind) {
  switch (kind) {
    case Refusal::kNone:
      return "internal error";
    case Refusal::kInvalidProtobuf:
      return "invalid protobuf";
    case Refusal::kInvalidModel:
      return "invalid model";
    case Refusal::kUnsupportedVersion:
      return "unsupported version";
    case Refusal::kUnsupportedOperator:
      return "unsupported operator";
    case Refusal::kUnsupportedAttribute:
      return "unsupported attribute";
    case Refusal::kUnsupportedShape:
      return "unsupported shape";
    case Refusal::kUnsupportedDatatype:
      return "unsupported datatype";
    case Refusal::kMismatchingShape:
      return "mismatching shape";
    case Refusal::kMismatchingDatatype:
      return "mismatching datatype";
    case Refusal::kNoSystemMemory:
      return "not enough system memory";
    case Refusal::kNoDeviceMemory:
      return "not enough device memory";
  }
  return "internal error";
}

absl::Status Refuse(Refusal kind, std::string message) {
  absl::Status status(CodeOf(kind), std::move(message));
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(kind))));
  return status;
}

Refusal RefusalOf(const absl::Status& status) {
  auto payload = status.GetPayload(kPayload);
  int value = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &value) ||
      value < 0 || value > static_cast<int>(Refusal::kNoDeviceMemory)) {
    return Refusal::kNone;
  }
  return static_cast<Refusal>(value);
}

}  // namespace heddle::compiler
