// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors of both ABIs as one structure.
//
// The extended descriptor has 96 bytes; that of ONNX 1.x has 56 and ends in a
// buffer at offset 48, where the extended one has its quantization fields. Both
// carry the same tag. An array of the other kind is recognised by its second
// tag, a single descriptor by the position of its buffer.
#ifndef HEDDLE_ONNXIFI_DESCRIPTOR_H_
#define HEDDLE_ONNXIFI_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "onnxifi/include/heddle/onnxifi.h"

namespace heddle::onnxifi {

enum class Abi { kExtended, kOnnx1 };

constexpr size_t kExtendedDescriptorBytes = 96;
constexpr size_t kOnnx1DescriptorBytes = 56;

struct Descriptor {
  const char* name = nullptr;
  onnxEnum data_type = 0;
  onnxEnum memory_type = 0;
  uint32_t dimensions = 0;
  const uint64_t* shape = nullptr;
  // Zero in ONNX 1.x's form.
  uint32_t quantization_axis = 0;
  uint64_t quantization_params = 0;
  const float* scales = nullptr;
  const int32_t* biases = nullptr;
  bool offline = false;
  onnxPointer buffer = 0;
  // Without a buffer where ONNX 1.x has it, but an address where the extended
  // form has it. No proof: what is behind the descriptor may be anything.
  bool may_be_extended = false;
};

// Looks at all tags before anything else. UNSUPPORTED_TAG. `what` ("input")
// is for the message.
absl::StatusOr<std::vector<Descriptor>> ReadDescriptors(Abi abi,
                                                        const void* array,
                                                        uint32_t count,
                                                        const char* what);

// What can be said without the model: name, data type, memory type, and the
// buffer unless the tensor is offline. INVALID_NAME, INVALID_DATATYPE,
// INVALID_MEMORY_TYPE, UNSUPPORTED_MEMORY_TYPE, INVALID_MEMORY_LOCATION.
absl::Status CheckForm(const Descriptor& descriptor);

// The shape, read only if it has as many dimensions as `rank` (-1: any, within
// the limit of the library). INVALID_SHAPE (a dimension of 0, no array),
// MISMATCHING_SHAPE, UNSUPPORTED_SHAPE (too large).
absl::StatusOr<compiler::Shape> ReadShape(const Descriptor& descriptor,
                                          int rank);

// The quantization fields against the shape. INVALID_SHAPE (axis or number),
// INVALID_MEMORY_LOCATION (no scales or biases), INVALID_DATATYPE (not an
// integer type, or a scale that is not a positive number).
absl::Status CheckQuantization(const Descriptor& descriptor,
                               const compiler::Shape& shape);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_DESCRIPTOR_H_
