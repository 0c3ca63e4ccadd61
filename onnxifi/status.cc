// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/status.h"

#include <cstdint>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"

namespace heddle::onnxifi {
namespace {

constexpr char kPayload[] = "heddle/onnxifi-status";
constexpr char kWhatever[] = "heddle/onnxifi-whatever-shapes";

struct Name {
  onnxStatus code;
  const char* name;
};
#define HEDDLE_STATUS(name) \
  { ONNXIFI_STATUS_##name, "ONNXIFI_STATUS_" #name }
// Index = bit in a Set below.
constexpr Name kNames[] = {
    HEDDLE_STATUS(SUCCESS),
    HEDDLE_STATUS(FALLBACK),
    HEDDLE_STATUS(INVALID_ID),
    HEDDLE_STATUS(INVALID_SIZE),
    HEDDLE_STATUS(INVALID_POINTER),
    HEDDLE_STATUS(INVALID_PROTOBUF),
    HEDDLE_STATUS(INVALID_MODEL),
    HEDDLE_STATUS(INVALID_BACKEND),
    HEDDLE_STATUS(INVALID_GRAPH),
    HEDDLE_STATUS(INVALID_EVENT),
    HEDDLE_STATUS(INVALID_STATE),
    HEDDLE_STATUS(INVALID_NAME),
    HEDDLE_STATUS(INVALID_SHAPE),
    HEDDLE_STATUS(INVALID_DATATYPE),
    HEDDLE_STATUS(INVALID_MEMORY_TYPE),
    HEDDLE_STATUS(INVALID_MEMORY_LOCATION),
    HEDDLE_STATUS(INVALID_FENCE_TYPE),
    HEDDLE_STATUS(INVALID_PROPERTY),
    HEDDLE_STATUS(UNSUPPORTED_TAG),
    HEDDLE_STATUS(UNSUPPORTED_VERSION),
    HEDDLE_STATUS(UNSUPPORTED_OPERATOR),
    HEDDLE_STATUS(UNSUPPORTED_ATTRIBUTE),
    HEDDLE_STATUS(UNSUPPORTED_SHAPE),
    HEDDLE_STATUS(UNSUPPORTED_DATATYPE),
    HEDDLE_STATUS(UNSUPPORTED_MEMORY_TYPE),
    HEDDLE_STATUS(UNSUPPORTED_FENCE_TYPE),
    HEDDLE_STATUS(UNSUPPORTED_PROPERTY),
    HEDDLE_STATUS(UNIDENTIFIED_NAME),
    HEDDLE_STATUS(MISMATCHING_SHAPE),
    HEDDLE_STATUS(MISMATCHING_DATATYPE),
    HEDDLE_STATUS(NO_SYSTEM_MEMORY),
    HEDDLE_STATUS(NO_DEVICE_MEMORY),
    HEDDLE_STATUS(NO_SYSTEM_RESOURCES),
    HEDDLE_STATUS(NO_DEVICE_RESOURCES),
    HEDDLE_STATUS(BACKEND_UNAVAILABLE),
    HEDDLE_STATUS(INTERNAL_ERROR),
    HEDDLE_STATUS(FATAL_ERROR),
};
#undef HEDDLE_STATUS

using Set = uint64_t;

constexpr Set Bit(onnxStatus code) {
  Set bit = 1;
  for (const Name& entry : kNames) {
    if (entry.code == code) return bit;
    bit <<= 1;
  }
  return 0;
}

template <typename... Codes>
constexpr Set Of(Codes... codes) {
  return (Bit(codes) | ... | Set{0});
}

// Short names for the table.
constexpr onnxStatus kSuccess = ONNXIFI_STATUS_SUCCESS;
constexpr onnxStatus kFallback = ONNXIFI_STATUS_FALLBACK;
constexpr onnxStatus kPointer = ONNXIFI_STATUS_INVALID_POINTER;
constexpr onnxStatus kUnavailable = ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
constexpr onnxStatus kInternal = ONNXIFI_STATUS_INTERNAL_ERROR;
constexpr onnxStatus kNoMemory = ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
constexpr Set kExhausted =
    Of(kNoMemory, ONNXIFI_STATUS_NO_DEVICE_MEMORY,
       ONNXIFI_STATUS_NO_SYSTEM_RESOURCES, ONNXIFI_STATUS_NO_DEVICE_RESOURCES);
constexpr Set kOfModel = Of(
    ONNXIFI_STATUS_INVALID_SIZE, ONNXIFI_STATUS_INVALID_PROTOBUF,
    ONNXIFI_STATUS_INVALID_MODEL, ONNXIFI_STATUS_UNSUPPORTED_VERSION,
    ONNXIFI_STATUS_UNSUPPORTED_OPERATOR, ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
    ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
    ONNXIFI_STATUS_MISMATCHING_SHAPE, ONNXIFI_STATUS_MISMATCHING_DATATYPE);
constexpr Set kOfDescriptors = Of(
    ONNXIFI_STATUS_INVALID_SHAPE, ONNXIFI_STATUS_INVALID_DATATYPE,
    ONNXIFI_STATUS_INVALID_MEMORY_TYPE, ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
    ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
    ONNXIFI_STATUS_MISMATCHING_SHAPE, ONNXIFI_STATUS_MISMATCHING_DATATYPE);
constexpr Set kSetGraphIO =
    kOfDescriptors | kExhausted |
    Of(kSuccess, kPointer, kUnavailable, kInternal,
       ONNXIFI_STATUS_INVALID_GRAPH, ONNXIFI_STATUS_INVALID_NAME,
       ONNXIFI_STATUS_UNSUPPORTED_TAG, ONNXIFI_STATUS_UNIDENTIFIED_NAME);
constexpr Set kOption = Of(kSuccess, kPointer, ONNXIFI_STATUS_INVALID_NAME,
                           ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE);

struct Contract {
  const char* name;
  Set listed;
  Set ruled;  // added by RULINGS.md
};

// In the order of Function.
constexpr Contract kContracts[kFunctions] = {
    {"onnxGetBackendIDs",
     Of(kSuccess, kFallback, kPointer, kNoMemory, kInternal), 0},
    {"onnxReleaseBackendID", Of(kSuccess, ONNXIFI_STATUS_INVALID_ID, kInternal),
     0},
    {"onnxGetBackendInfo",
     Of(kSuccess, kFallback, ONNXIFI_STATUS_INVALID_ID, kPointer,
        ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE, kUnavailable),
     0},
    {"onnxGetBackendCompatibility",
     kOfModel | Of(kSuccess, kFallback, ONNXIFI_STATUS_INVALID_ID, kPointer,
                   kNoMemory, kUnavailable, kInternal),
     0},
    {"onnxInitBackend",
     kExhausted | Of(kSuccess, ONNXIFI_STATUS_INVALID_ID, kPointer,
                     ONNXIFI_STATUS_INVALID_PROPERTY,
                     ONNXIFI_STATUS_UNSUPPORTED_PROPERTY, kUnavailable,
                     kInternal),
     0},
    {"onnxReleaseBackend",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_BACKEND, kInternal), 0},
    {"onnxInitEvent",
     kExhausted | Of(kSuccess, ONNXIFI_STATUS_INVALID_BACKEND, kPointer,
                     kUnavailable, kInternal),
     0},
    {"onnxSignalEvent",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_EVENT, ONNXIFI_STATUS_INVALID_STATE,
        kUnavailable, kInternal),
     0},
    {"onnxGetEventState",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_EVENT, kPointer, kUnavailable,
        kInternal),
     0},
    {"onnxWaitEvent",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_EVENT, kUnavailable, kInternal), 0},
    {"onnxReleaseEvent", Of(kSuccess, ONNXIFI_STATUS_INVALID_EVENT, kInternal),
     0},
    {"onnxInitGraph",
     kOfModel | kOfDescriptors | kExhausted |
         Of(kSuccess, kFallback, ONNXIFI_STATUS_INVALID_BACKEND,
            ONNXIFI_STATUS_INVALID_PROPERTY, kPointer,
            ONNXIFI_STATUS_UNSUPPORTED_PROPERTY, kUnavailable, kInternal),
     Of(ONNXIFI_STATUS_UNSUPPORTED_TAG, ONNXIFI_STATUS_INVALID_NAME)},
    {"onnxSetGraphIO", kSetGraphIO, 0},
    {"onnxRunGraph",
     kExhausted | Of(kSuccess, kPointer, ONNXIFI_STATUS_INVALID_GRAPH,
                     ONNXIFI_STATUS_INVALID_FENCE_TYPE,
                     ONNXIFI_STATUS_INVALID_EVENT,
                     ONNXIFI_STATUS_UNSUPPORTED_TAG,
                     ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                     ONNXIFI_STATUS_UNIDENTIFIED_NAME, kUnavailable, kInternal),
     0},
    {"onnxReleaseGraph", Of(kSuccess, ONNXIFI_STATUS_INVALID_GRAPH, kInternal),
     0},
    {"onnxGetExtensionFunctionAddress",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_ID, kPointer,
        ONNXIFI_STATUS_UNIDENTIFIED_NAME, kUnavailable, kInternal),
     0},
    {"onnxSetIOAndRunGraph", kSetGraphIO,
     Of(ONNXIFI_STATUS_INVALID_FENCE_TYPE,
        ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE)},
    {"onnxWaitEventFor",
     Of(kSuccess, ONNXIFI_STATUS_INVALID_EVENT, kPointer, kUnavailable,
        kInternal),
     0},
    {"onnxReleaseTraceEvents", Of(kSuccess, kPointer), 0},
    {"heddleGetOutputShape",
     Of(kSuccess, kFallback, kPointer, ONNXIFI_STATUS_INVALID_EVENT,
        ONNXIFI_STATUS_INVALID_STATE, ONNXIFI_STATUS_INVALID_NAME, kUnavailable,
        kInternal),
     0},
    {"onnxSetOption", kOption, 0},
    {"onnxGetOption", kOption, 0},
};

const Contract& ContractOf(Function function) {
  return kContracts[static_cast<int>(function)];
}

absl::StatusCode AbslCode(onnxStatus code) {
  switch (code) {
    case ONNXIFI_STATUS_NO_SYSTEM_MEMORY:
    case ONNXIFI_STATUS_NO_DEVICE_MEMORY:
    case ONNXIFI_STATUS_NO_SYSTEM_RESOURCES:
    case ONNXIFI_STATUS_NO_DEVICE_RESOURCES:
      return absl::StatusCode::kResourceExhausted;
    case ONNXIFI_STATUS_BACKEND_UNAVAILABLE:
      return absl::StatusCode::kUnavailable;
    case ONNXIFI_STATUS_INTERNAL_ERROR:
    case ONNXIFI_STATUS_FATAL_ERROR:
      return absl::StatusCode::kInternal;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

onnxStatus CodeOfRejection(compiler::Rejection kind) {
  using compiler::Rejection;
  switch (kind) {
    case Rejection::kNone:
      break;
    case Rejection::kInvalidProtobuf:
      return ONNXIFI_STATUS_INVALID_PROTOBUF;
    case Rejection::kInvalidModel:
      return ONNXIFI_STATUS_INVALID_MODEL;
    case Rejection::kUnsupportedVersion:
      return ONNXIFI_STATUS_UNSUPPORTED_VERSION;
    case Rejection::kUnsupportedOperator:
      return ONNXIFI_STATUS_UNSUPPORTED_OPERATOR;
    case Rejection::kUnsupportedAttribute:
      return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
    case Rejection::kUnsupportedShape:
      return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
    case Rejection::kUnsupportedDatatype:
      return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
    case Rejection::kMismatchingShape:
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    case Rejection::kMismatchingDatatype:
      return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
    case Rejection::kNoSystemMemory:
      return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
    case Rejection::kNoDeviceMemory:
      return ONNXIFI_STATUS_NO_DEVICE_MEMORY;
  }
  return ONNXIFI_STATUS_INTERNAL_ERROR;
}

}  // namespace

absl::Status Fail(onnxStatus code, std::string message) {
  absl::Status status(AbslCode(code), message);
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(code)));
  return status;
}

// A status without message or payload is one word. Nothing else has this code.
absl::Status NoMemory() noexcept {
  return absl::Status(absl::StatusCode::kAborted, "");
}

onnxStatus CodeOf(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kAborted) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  }
  if (status.ok()) return ONNXIFI_STATUS_SUCCESS;
  if (auto payload = status.GetPayload(kPayload)) {
    int32_t code = 0;
    if (absl::SimpleAtoi(std::string(*payload), &code)) return code;
  }
  const compiler::Rejection refusal = compiler::RejectionOf(status);
  if (refusal != compiler::Rejection::kNone) return CodeOfRejection(refusal);
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
    case absl::StatusCode::kResourceExhausted:
      return ONNXIFI_STATUS_NO_DEVICE_MEMORY;
    default:
      return ONNXIFI_STATUS_INTERNAL_ERROR;
  }
}

absl::Status WhateverShapes(absl::Status refusal) {
  refusal.SetPayload(kWhatever, absl::Cord("1"));
  return refusal;
}

bool HoldsWhateverShapes(const absl::Status& refusal) {
  return refusal.GetPayload(kWhatever).has_value();
}

const char* StatusName(onnxStatus code) {
  for (const Name& entry : kNames) {
    if (entry.code == code) return entry.name;
  }
  return "unknown status";
}

const char* FunctionName(Function function) {
  return ContractOf(function).name;
}

bool MayReturn(Function function, onnxStatus code, bool with_rulings) {
  const Contract& contract = ContractOf(function);
  Set set = contract.listed;
  if (with_rulings) set |= contract.ruled;
  return (set & Bit(code)) != 0;
}

onnxStatus Contracted(Function function, onnxStatus code) {
  if (MayReturn(function, code)) return code;
  if (MayReturn(function, kInternal)) return kInternal;
  return MayReturn(function, kUnavailable) ? kUnavailable : kPointer;
}

}  // namespace heddle::onnxifi
