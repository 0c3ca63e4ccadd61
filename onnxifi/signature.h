// SPDX-License-Identifier: Apache-2.0
// What a model declares about its inputs and outputs, read from the ModelProto.
// onnxSetGraphIO compares descriptors with it, including symbolic dimensions,
// which the compiler's graph no longer has.
#ifndef HEDDLE_ONNXIFI_SIGNATURE_H_
#define HEDDLE_ONNXIFI_SIGNATURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "onnxifi/quantization.h"

namespace heddle::onnxifi {

struct DeclaredDim {
  int64_t value = -1;     // -1: symbolic
  std::string parameter;  // its name; "" if it has none
};

struct DeclaredTensor {
  std::string name;
  compiler::DataType type = compiler::DataType::kUndefined;
  bool has_shape = false;
  std::vector<DeclaredDim> dims;
  bool symbolic() const;  // has a dimension that is not fixed
};

struct Signature {
  std::vector<DeclaredTensor> inputs;  // without those with an initializer
  std::vector<DeclaredTensor> outputs;
  bool has_initializers = false;
  QuantizationModel quantization;
  const DeclaredTensor* FindInput(absl::string_view name) const;
  const DeclaredTensor* FindOutput(absl::string_view name) const;
};

// Untrusted bytes. INVALID_PROTOBUF, NO_SYSTEM_MEMORY, INVALID_MODEL (no
// graph).
absl::StatusOr<Signature> ReadSignature(absl::string_view model);

// Makes protobuf build its tables, which is the one thing of it that does not
// survive a lack of memory.
void PrepareSignatures();

// Values of symbolic dimensions by name.
using Dimensions = std::map<std::string, int64_t>;

// Whether `shape` fits the declaration; a new name enters `dimensions`, a known
// one must agree. MISMATCHING_SHAPE.
absl::Status MatchShape(const DeclaredTensor& declared,
                        const compiler::Shape& shape, Dimensions* dimensions);

// Whether a descriptor of type `data_type` (ONNXIFI_DATATYPE_*) can carry
// `type`: the same value, or UINT8 for bool.
bool SameType(compiler::DataType type, uint64_t data_type);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_SIGNATURE_H_
