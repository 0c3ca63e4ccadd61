// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/sparse_tensor.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

template <typename... Args>
absl::Status Invalid(const std::string& what, const Args&... why) {
  return Reject(Rejection::kInvalidModel, absl::StrCat(what, " ", why...));
}

// The position in the flattened tensor that row `row` of the indices states;
// -1 if it is outside.
int64_t Position(const TensorData& indices, int64_t row, const Shape& dims) {
  const int64_t* values = indices.as<int64_t>();
  if (indices.shape.size() == 1) {
    const int64_t position = values[row];
    return position < ElementCount(dims) ? position : -1;
  }
  int64_t position = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t index = values[row * static_cast<int64_t>(dims.size()) + i];
    if (index < 0 || index >= dims[i]) return -1;
    position = position * dims[i] + index;
  }
  return position;
}

}  // namespace

absl::StatusOr<TensorData> FromSparseTensorProto(
    const onnx::SparseTensorProto& proto, const std::string& what,
    TensorSource* source) {
  ASSIGN_OR_RETURN(auto values,
                   FromTensorProto(proto.values(), what + ": values", source));
  ASSIGN_OR_RETURN(auto indices, FromTensorProto(proto.indices(),
                                                 what + ": indices", source));
  if (values.shape.size() != 1) {
    return Invalid(what, "has values of shape ", ShapeToString(values.shape),
                   ", must be [NNZ]");
  }
  TensorData dense;
  dense.type = values.type;
  dense.shape.assign(proto.dims().begin(), proto.dims().end());
  if (dense.shape.empty()) return Invalid(what, "has no dims");
  for (int64_t dimension : dense.shape) {
    if (dimension <= 0) {
      return Invalid(what, "has the dimension ", dimension,
                     ", must be positive");
    }
  }
  const int64_t count = values.shape[0];
  const auto rank = static_cast<int64_t>(dense.shape.size());
  if (indices.type != DataType::kInt64) {
    return Invalid(what, "has indices of type ", DataTypeName(indices.type),
                   ", must be int64");
  }
  if (indices.shape != Shape{count} && indices.shape != Shape{count, rank}) {
    return Invalid(what, "has indices of shape ", ShapeToString(indices.shape),
                   ", must be [", count, "] or [", count, ",", rank, "]");
  }
  const auto element = static_cast<int64_t>(ElementBytes(dense.type));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(dense.count(), element, &bytes) ||
      bytes > source->sparse_bytes) {
    return Reject(
        Rejection::kNoSystemMemory,
        absl::StrCat(what, " has the dense shape ", ShapeToString(dense.shape),
                     "; the sparse tensors of a model may take ",
                     kMaxSparseBytes, " bytes together, store it dense"));
  }
  source->sparse_bytes -= bytes;
  dense.bytes.resize(static_cast<size_t>(bytes));
  int64_t last = -1;
  for (int64_t row = 0; row < count; ++row) {
    const int64_t position = Position(indices, row, dense.shape);
    if (position < 0) {
      return Invalid(what, "has index ", row, " outside of its shape ",
                     ShapeToString(dense.shape));
    }
    if (position <= last) {
      return Invalid(what, "has index ", row,
                     " not after the one before; they must ascend");
    }
    last = position;
    std::memcpy(&dense.bytes[static_cast<size_t>(position * element)],
                &values.bytes[static_cast<size_t>(row * element)],
                static_cast<size_t>(element));
  }
  return dense;
}

}  // namespace heddle::compiler
