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
  if (y.bytes.empty()) return One(std::move(y));
  const std::vector<int64_t> picks = ToInts(indices);
  const int64_t size = x.shape[axis], row = indices.shape[rank - 1];
  // Along a row of indices the other places of the element change with them.
  const int64_t step = axis == rank - 1 ? 0 : 1;
  const uint8_t* const from = x.bytes.data();
  uint8_t* to = y.bytes.data();
  std::vector<int64_t> position(rank, 0);
  for (size_t at = 0; at < picks.size(); at += static_cast<size_t>(row)) {
    Pace(row);
    int64_t source = 0;
    for (size_t i = 0; i + 1 < rank; ++i) {
      if (i != axis) source += position[i] * strides[i];
    }
    for (int64_t i = 0; i < row; ++i, source += step) {
      int64_t place = picks[at + static_cast<size_t>(i)];
      if (place < -size || place >= size) {
        return PlaceOf(node, place, size).status();
      }
      if (place < 0) place += size;
      const auto element_at =
          static_cast<size_t>(source + place * strides[axis]);
      // A copy of known size is an instruction.
      if (element == 4) {
        std::memcpy(to, from + element_at * 4, 4);
      } else if (element == 8) {
        std::memcpy(to, from + element_at * 8, 8);
      } else {
        std::memcpy(to, from + element_at * element, element);
      }
      to += element;
    }
    for (size_t i = rank - 1; i-- > 0;) {
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
