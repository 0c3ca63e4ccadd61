// SPDX-License-Identifier: Apache-2.0
// CumProd: the products of the elements up to each along an axis, from 1, in
// their order (in reverse from the end), of each with (or, exclusive, without)
// itself; float16 in fp32, rounded once, integers wrap. The host computes it.
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/half.h"
#include "compiler/ops/indices.h"
#include "compiler/ops/reduce.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

template <typename T, typename Product>
void Multiply(const Node& node, const Shape& shape, size_t axis, T* values,
              Product product) {
  const bool exclusive = node.IntAttribute("exclusive", 0) != 0;
  const bool reverse = node.IntAttribute("reverse", 0) != 0;
  const Shape about = AboutAxis(shape, axis);  // [before, count, behind]
  std::vector<T> totals(static_cast<size_t>(about[2]));
  for (int64_t o = 0; o < about[0]; ++o) {
    totals.assign(totals.size(), T{1});
    for (int64_t k = 0; k < about[1]; ++k) {
      Pace(about[2]);
      const int64_t at = reverse ? about[1] - 1 - k : k;
      T* const row = values + (o * about[1] + at) * about[2];
      for (int64_t i = 0; i < about[2]; ++i) {
        const T before = totals[i];
        totals[i] = product(before, row[i]);
        row[i] = exclusive ? before : totals[i];
      }
    }
  }
}

template <typename T>
T Wrapping(T a, T b) {
  return static_cast<T>(a * b);
}

// `axis`: null if it is computed.
absl::Status CheckAxis(const Node& node, const Shape& axis_shape,
                       const TensorData* axis, size_t rank, size_t* at) {
  if (ElementCount(axis_shape) != 1 || rank == 0) {
    return RejectNode(Rejection::kInvalidModel, node, "axis of shape ",
                      ShapeToString(axis_shape), " for an input of rank ",
                      rank);
  }
  if (axis == nullptr || NormalizeAxis(ToInts(*axis)[0], rank, at)) {
    return absl::OkStatus();
  }
  return RejectNode(Rejection::kInvalidModel, node, "axis ", ToInts(*axis)[0],
                    " is not an axis of a tensor of rank ", rank);
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& axis = InputOf(*graph, node, 1);
  size_t at = 0;
  RETURN_IF_ERROR(CheckAxis(node, axis.shape, axis.constant.get(),
                            InputOf(*graph, node, 0).shape.size(), &at));
  return InferSame(graph, node);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  TensorData y = *inputs[0];
  size_t axis = 0;
  RETURN_IF_ERROR(
      CheckAxis(node, inputs[1]->shape, inputs[1], y.shape.size(), &axis));
  switch (y.type) {
    case DataType::kInt32:
    case DataType::kUint32:
      Multiply(node, y.shape, axis, y.as<uint32_t>(), Wrapping<uint32_t>);
      break;
    case DataType::kInt64:
    case DataType::kUint64:
      Multiply(node, y.shape, axis, y.as<uint64_t>(), Wrapping<uint64_t>);
      break;
    case DataType::kDouble:
      Multiply(node, y.shape, axis, y.as<double>(),
               [](double a, double b) { return a * b; });
      break;
    default: {
      std::vector<float> values = ToFloats(y);
      Multiply(node, y.shape, axis, values.data(), model::FMul);
      return One(FromFloats(y.type, y.shape, values));
    }
  }
  return One(std::move(y));
}

const OperatorRegistration kCumProd(
    Define("CumProd", 26, kMaxOpset)
        .Inputs(2, 2,
                kRealsAndDouble | Types(DataType::kInt32, DataType::kUint32,
                                        DataType::kInt64, DataType::kUint64),
                kIndices)
        .Attr("exclusive", AttributeKind::kInt)
        .Attr("reverse", AttributeKind::kInt)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
