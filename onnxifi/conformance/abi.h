// SPDX-License-Identifier: Apache-2.0
// The two binary interfaces that go by the name of ONNXIFI, and the names of
// their functions and status codes.
//
// Constants and the types that both have in common come from libonnx-dev's
// <onnx/onnxifi.h>. Tensor descriptors, whose layouts differ, are written byte
// by byte (DescriptorArray), so one program tests libraries of either kind.
#ifndef ONNXIFI_CONFORMANCE_ABI_H_
#define ONNXIFI_CONFORMANCE_ABI_H_

#include <onnx/onnxifi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::conformance {

enum class Abi {
  kOnnx1,     // 56-byte descriptors, onnxInitGraph of 7 arguments
  kExtended,  // 96 bytes, 9 arguments
};

const char* AbiName(Abi abi);  // "onnx1", "extended"

// The functions whose statuses are recorded; the first 15 are the standard's.
enum Function {
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
  kStandardFunctions,
  kGetExtensionFunctionAddress = kStandardFunctions,
  kSetIOAndRunGraph,
  kFunctions,
};

const char* FunctionName(int function);

// The status codes of the header, in its order, and FATAL_ERROR of the extended
// one. An index into them; -1: no such code.
constexpr int kStatuses = 38;
int StatusIndex(onnxStatus status);
onnxStatus StatusAt(int index);
// "INVALID_MODEL"; "0x1234" of a code that is none.
std::string StatusName(onnxStatus status);

// A tensor as the tests describe it.
struct Descriptor {
  int32_t tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  const char* name = nullptr;
  uint64_t data_type = ONNXIFI_DATATYPE_FLOAT32;
  uint64_t memory_type = ONNXIFI_MEMORY_TYPE_CPU;
  uint32_t dimensions = 0;
  const uint64_t* shape = nullptr;
  // Only in the extended ABI.
  uint32_t quantization_axis = 0;
  uint64_t quantization_params = 0;
  const float* scales = nullptr;
  const int32_t* biases = nullptr;
  uint8_t is_offline = 0;
  uint64_t buffer = 0;
};

constexpr size_t DescriptorBytes(Abi abi) {
  return abi == Abi::kExtended ? 96 : 56;
}

// Descriptors in the layout of an ABI.
class DescriptorArray {
 public:
  DescriptorArray(Abi abi, const std::vector<Descriptor>& descriptors);
  // What a function takes; NULL if there are none.
  const onnxTensorDescriptorV1* data() const;
  uint32_t size() const { return count_; }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(words_.data()); }
  size_t byte_count() const { return words_.size() * sizeof(uint64_t); }

 private:
  uint32_t count_;
  std::vector<uint64_t> words_;
};

// onnxInitGraph with all arguments of the extended ABI. A function of seven
// does not look at the last two.
using InitGraphFunction = onnxStatus (*)(onnxBackend, const uint64_t*, size_t,
                                         const void*, uint32_t,
                                         const onnxTensorDescriptorV1*,
                                         onnxGraph*, uint32_t, void*);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_ABI_H_
