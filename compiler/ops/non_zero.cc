// SPDX-License-Identifier: Apache-2.0
// NonZero: the indices of what is not zero, a row for each dimension of x, in
// row-major order. Its shape has room for every element (bounded.h).
#include <algorithm>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

// ONNX says (0, n) for a scalar, ONNX Runtime (1, n).
bool HasDimension(const Graph& graph, const Node& node, std::string* detail) {
  *detail = "x is a scalar";
  return !InputOf(graph, node, 0).shape.empty();
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Shape& x = InputOf(*graph, node, 0).shape;
  return SetOutput(graph, node, 0, DataType::kInt64,
                   {static_cast<int64_t>(x.size()), ElementCount(x)});
}

// Of the bytes of an element; -0 is zero, NaN is not.
bool IsZero(DataType type, const uint8_t* bytes, size_t size) {
  const bool real = type == DataType::kFloat || type == DataType::kFloat16 ||
                    type == DataType::kBfloat16 || type == DataType::kDouble;
  for (size_t i = 0; i < size; ++i) {
    const bool sign = real && i + 1 == size;
    if ((sign ? bytes[i] & 0x7f : bytes[i]) != 0) return false;
  }
  return true;
}

Results Evaluate(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const size_t rank = x.shape.size();
  const size_t element = ElementBytes(x.type);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    if (!IsZero(x.type, x.bytes.data() + i * element, element)) {
      found.push_back(i);
    }
  }
  const auto count = static_cast<int64_t>(found.size());
  TensorData y =
      TensorData::Zeros(DataType::kInt64, {static_cast<int64_t>(rank), count});
  for (int64_t n = 0; n < count; ++n) {
    PaceAt(n);
    int64_t rest = found[n];
    for (size_t axis = rank; axis-- > 0;) {
      y.as<int64_t>()[axis * count + n] = rest % x.shape[axis];
      rest /= x.shape[axis];
    }
  }
  return One(std::move(y));
}

const OperatorRegistration kNonZero(Define("NonZero", 9, kMaxOpset)
                                        .Inputs(1, 1, kMovable)
                                        .Rule(Rejection::kUnsupportedShape,
                                              "x has a dimension", HasDimension)
                                        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
