// SPDX-License-Identifier: Apache-2.0
// What abi_test.cc asks of the extended header, which cannot be included beside
// the other.
#include <heddle/onnxifi.h>

#include <cstring>

namespace heddle::conformance {

size_t ExtendedDescriptorBytes();
bool ExtendedHasSample(const void* descriptor);
int ExtendedStatus(const char* name);

size_t ExtendedDescriptorBytes() { return sizeof(onnxTensorDescriptorV1); }

bool ExtendedHasSample(const void* descriptor) {
  const auto& d = *static_cast<const onnxTensorDescriptorV1*>(descriptor);
  return d.tag == ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1 &&
         std::strcmp(d.name, "name") == 0 && d.dataType == 10 &&
         d.memoryType == 2 && d.dimensions == 2 && d.shape[1] == 5 &&
         d.quantizationAxis == 1 && d.quantizationParams == 1 &&
         d.scales[0] == 1 && d.biases[0] == 2 && d.isOffline == 1 &&
         d.buffer == 0x123456789ABCDEF0;
}

int ExtendedStatus(const char* name) {
  static const struct {
    const char* name;
    int status;
  } kStatuses[] = {
#define S(name) {#name, ONNXIFI_STATUS_##name}
      S(SUCCESS),
      S(FALLBACK),
      S(INVALID_ID),
      S(INVALID_SIZE),
      S(INVALID_POINTER),
      S(INVALID_PROTOBUF),
      S(INVALID_MODEL),
      S(INVALID_BACKEND),
      S(INVALID_GRAPH),
      S(INVALID_EVENT),
      S(INVALID_STATE),
      S(INVALID_NAME),
      S(INVALID_SHAPE),
      S(INVALID_DATATYPE),
      S(INVALID_MEMORY_TYPE),
      S(INVALID_MEMORY_LOCATION),
      S(INVALID_FENCE_TYPE),
      S(INVALID_PROPERTY),
      S(UNSUPPORTED_TAG),
      S(UNSUPPORTED_VERSION),
      S(UNSUPPORTED_OPERATOR),
      S(UNSUPPORTED_ATTRIBUTE),
      S(UNSUPPORTED_SHAPE),
      S(UNSUPPORTED_DATATYPE),
      S(UNSUPPORTED_MEMORY_TYPE),
      S(UNSUPPORTED_FENCE_TYPE),
      S(UNSUPPORTED_PROPERTY),
      S(UNIDENTIFIED_NAME),
      S(MISMATCHING_SHAPE),
      S(MISMATCHING_DATATYPE),
      S(NO_SYSTEM_MEMORY),
      S(NO_DEVICE_MEMORY),
      S(NO_SYSTEM_RESOURCES),
      S(NO_DEVICE_RESOURCES),
      S(BACKEND_UNAVAILABLE),
      S(INTERNAL_ERROR),
      S(FATAL_ERROR),
#undef S
  };
  for (const auto& one : kStatuses) {
    if (std::strcmp(one.name, name) == 0) return one.status;
  }
  return -1;
}

}  // namespace heddle::conformance
