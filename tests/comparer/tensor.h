// SPDX-License-Identifier: Apache-2.0
// Tensors as the comparer knows them: bytes in row-major order, little-endian,
// read from TensorProto files. No code of the compiler or the runtime is used,
// so that a fault there cannot hide itself here.
#ifndef TESTS_COMPARER_TENSOR_H_
#define TESTS_COMPARER_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::comparer {

struct Tensor {
  std::string name;
  int32_t type = 0;  // onnx::TensorProto::DataType
  std::vector<int64_t> shape;
  std::string bytes;  // Elements() * ElementBytes(type)
};

// 0 for types without a fixed size (strings) and unknown ones.
int ElementBytes(int32_t type);
// Name of the ONNX type, e.g. "FLOAT".
std::string TypeName(int32_t type);
// "FLOAT[1,10]".
std::string Describe(const Tensor& tensor);
// Product of the dimensions; -1 if one is negative or the product does not fit.
int64_t Elements(const std::vector<int64_t>& shape);

// The whole file. NotFound: it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// A file with one TensorProto. InvalidArgument: damaged, a type without fixed
// size, or as many bytes as its shape does not say.
absl::StatusOr<Tensor> ReadTensor(const std::string& path);
// PermissionDenied: the file cannot be written.
absl::Status WriteTensor(const std::string& path, const Tensor& tensor);
// The TensorProto files NAME*.pb of a folder, sorted by name.
absl::StatusOr<std::vector<std::string>> ListTensorFiles(
    const std::string& folder);

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_TENSOR_H_
