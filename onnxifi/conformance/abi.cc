// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/abi.h"

#include <cstdio>
#include <cstring>

namespace heddle::conformance {
namespace {

constexpr const char* kFunctionNames[kFunctions] = {
    "onnxGetBackendIDs",    "onnxReleaseBackendID",
    "onnxGetBackendInfo",   "onnxGetBackendCompatibility",
    "onnxInitBackend",      "onnxReleaseBackend",
    "onnxInitEvent",        "onnxSignalEvent",
    "onnxGetEventState",    "onnxWaitEvent",
    "onnxReleaseEvent",     "onnxInitGraph",
    "onnxSetGraphIO",       "onnxRunGraph",
    "onnxReleaseGraph",     "onnxGetExtensionFunctionAddress",
    "onnxSetIOAndRunGraph",
};

struct NamedStatus {
  onnxStatus status;
  const char* name;
};

#define STATUS(name) \
  { ONNXIFI_STATUS_##name, #name }
constexpr NamedStatus kNames[] = {
    STATUS(SUCCESS),
    STATUS(FALLBACK),
    STATUS(INVALID_ID),
    STATUS(INVALID_SIZE),
    STATUS(INVALID_POINTER),
    STATUS(INVALID_PROTOBUF),
    STATUS(INVALID_MODEL),
    STATUS(INVALID_BACKEND),
    STATUS(INVALID_GRAPH),
    STATUS(INVALID_EVENT),
    STATUS(INVALID_STATE),
    STATUS(INVALID_NAME),
    STATUS(INVALID_SHAPE),
    STATUS(INVALID_DATATYPE),
    STATUS(INVALID_MEMORY_TYPE),
    STATUS(INVALID_MEMORY_LOCATION),
    STATUS(INVALID_FENCE_TYPE),
    STATUS(INVALID_PROPERTY),
    STATUS(UNSUPPORTED_TAG),
    STATUS(UNSUPPORTED_VERSION),
    STATUS(UNSUPPORTED_OPERATOR),
    STATUS(UNSUPPORTED_ATTRIBUTE),
    STATUS(UNSUPPORTED_SHAPE),
    STATUS(UNSUPPORTED_DATATYPE),
    STATUS(UNSUPPORTED_MEMORY_TYPE),
    STATUS(UNSUPPORTED_FENCE_TYPE),
    STATUS(UNSUPPORTED_PROPERTY),
    STATUS(UNIDENTIFIED_NAME),
    STATUS(MISMATCHING_SHAPE),
    STATUS(MISMATCHING_DATATYPE),
    STATUS(NO_SYSTEM_MEMORY),
    STATUS(NO_DEVICE_MEMORY),
    STATUS(NO_SYSTEM_RESOURCES),
    STATUS(NO_DEVICE_RESOURCES),
    STATUS(BACKEND_UNAVAILABLE),
    STATUS(INTERNAL_ERROR),
    {0x0407, "FATAL_ERROR"},
};
#undef STATUS
constexpr int kNamed = sizeof(kNames) / sizeof(kNames[0]);
static_assert(kNamed + 1 == kStatuses, "one place more, for unknown codes");

template <typename T>
void Put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

}  // namespace

const char* AbiName(Abi abi) {
  return abi == Abi::kExtended ? "extended" : "onnx1";
}

const char* FunctionName(int function) { return kFunctionNames[function]; }

int StatusIndex(onnxStatus status) {
  for (int i = 0; i < kNamed; ++i) {
    if (kNames[i].status == status) return i;
  }
  return -1;
}

onnxStatus StatusAt(int index) { return kNames[index].status; }

std::string StatusName(onnxStatus status) {
  const int index = StatusIndex(status);
  if (index >= 0) return kNames[index].name;
  char text[16];
  std::snprintf(text, sizeof(text), "0x%x", static_cast<unsigned>(status));
  return text;
}

DescriptorArray::DescriptorArray(Abi abi,
                                 const std::vector<Descriptor>& descriptors)
    : count_(static_cast<uint32_t>(descriptors.size())),
      words_(DescriptorBytes(abi) / sizeof(uint64_t) * descriptors.size()) {
  uint8_t* at = bytes();
  for (const Descriptor& d : descriptors) {
    Put(at, d.tag);
    Put(at + 8, d.name);
    Put(at + 16, d.data_type);
    Put(at + 24, d.memory_type);
    Put(at + 32, d.dimensions);
    Put(at + 40, d.shape);
    if (abi == Abi::kExtended) {
      Put(at + 48, d.quantization_axis);
      Put(at + 56, d.quantization_params);
      Put(at + 64, d.scales);
      Put(at + 72, d.biases);
      Put(at + 80, d.is_offline);
      Put(at + 88, d.buffer);
    } else {
      Put(at + 48, d.buffer);
    }
    at += DescriptorBytes(abi);
  }
}

const onnxTensorDescriptorV1* DescriptorArray::data() const {
  return words_.empty()
             ? nullptr
             : reinterpret_cast<const onnxTensorDescriptorV1*>(words_.data());
}

}  // namespace heddle::conformance
