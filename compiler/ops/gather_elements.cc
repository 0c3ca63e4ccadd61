// SPDX-License-Identifier: Apache-2.0
// GatherElements: y[.., p, ..] = x[.., index[.., p, ..], ..] along one axis, an
// index for every element of the result.
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/indices.h"

namespace heddle::compiler {
namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& indices = InputOf(*graph, node, 1);
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, x.shape.size(), 0));
  bool fits = indices.shape.size() == x.shape.size();
  for (size_t i = 0; fits && i < x.shape.size(); ++i) {
    fits = i == axis || indices.shape[i] <= x.shape[i];
  }
  if (!fits) {
    return RejectNode(
        Rejection::kMismatchingShape, node, "indices of shape ",
        ShapeToString(indices.shape), " reach beyond an input of shape ",
        ShapeToString(x.shape), " in dimensions other than axis ", axis);
  }
  RETURN_IF_ERROR(CheckIndices(node, indices, {x.shape[axis]}));
  return SetOutput(graph, node, 0, x.type, indices.shape);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& indices = *inputs[1];
  const size_t rank = x.shape.size();
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, rank, 0));
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * x.shape[i];
  TensorData y = TensorData::Zeros(x.type, indices.shape);
  const size_t element = ElementBytes(x.type);
  std::vector<int64_t> position(rank, 0);
  size_t at = 0;
  for (int64_t index : ToInts(indices)) {
    Pace(1);
    ASSIGN_OR_RETURN(const int64_t place, PlaceOf(node, index, x.shape[axis]));
    int64_t source = place * strides[axis];
    for (size_t i = 0; i < rank; ++i) {
      if (i != axis) source += position[i] * strides[i];
    }
    std::memcpy(&y.bytes[at], &x.bytes[source * element], element);
    at += element;
    for (size_t i = rank; i-- > 0;) {
      if (++position[i] < indices.shape[i]) break;
      position[i] = 0;
    }
  }
  return One(std::move(y));
}

const OperatorRegistration kGatherElements(Define("GatherElements", 11,
                                                  kMaxOpset)
                                               .Inputs(2, 2, kMovable, kIndices)
                                               .Attr("axis",
                                                     AttributeKind::kInt)
                                               .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
