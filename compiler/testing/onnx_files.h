// SPDX-License-Identifier: Apache-2.0
// Files that tests read: models and serialized onnx.TensorProto.
#ifndef HEDDLE_COMPILER_TESTING_ONNX_FILES_H_
#define HEDDLE_COMPILER_TESTING_ONNX_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct NamedTensor {
  std::string name;
  TensorData data;
};

absl::StatusOr<std::string> ReadFile(const std::string& path);
absl::StatusOr<NamedTensor> ReadTensorFile(const std::string& path);
// FOLDER/PREFIX*.pb in the order of the number in their names.
absl::StatusOr<std::vector<NamedTensor>> ReadTensorFiles(
    const std::string& folder, const std::string& prefix);

// What differs between two tensors: "" if type and shape are equal and every
// float is within rtol*|expected| + atol (or both NaN, or equal infinities) and
// everything else is equal.
std::string Difference(const TensorData& actual, const TensorData& expected,
                       double rtol, double atol);

// Largest minus smallest finite value of a float tensor.
double Range(const TensorData& data);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_ONNX_FILES_H_
