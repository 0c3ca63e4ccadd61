// SPDX-License-Identifier: Apache-2.0
// Operators that move elements without looking at them: Transpose, Concat,
// Gather.
#include <algorithm>
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/narrow.h"
#include "compiler/ops/strided.h"

namespace heddle::compiler {
namespace {

// perm, or the reversed order; refused if it is no permutation.
absl::StatusOr<std::vector<size_t>> Permutation(const Node& node, size_t rank) {
  Shape fallback(rank);
  for (size_t i = 0; i < rank; ++i) {
    fallback[i] = static_cast<int64_t>(rank - 1 - i);
  }
  const auto perm = node.IntsAttribute("perm", fallback);
  std::vector<bool> seen(rank, false);
  std::vector<size_t> result;
  for (int64_t p : perm) {
    if (p < 0 || p >= static_cast<int64_t>(rank) || seen[p]) break;
    seen[p] = true;
    result.push_back(static_cast<size_t>(p));
  }
  if (perm.size() != rank || result.size() != rank) {
    return RejectNode(Rejection::kInvalidModel, node, "perm ",
                      ShapeToString(perm),
                      " is not a permutation of the dimensions of a tensor of "
                      "rank ",
                      rank);
  }
  return result;
}

absl::Status InferTranspose(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto perm, Permutation(node, x.shape.size()));
  Shape shape;
  for (size_t p : perm) shape.push_back(x.shape[p]);
  return SetOutput(graph, node, 0, x.type, shape);
}

Results EvaluateTranspose(const Graph&, const Node& node,
                          const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const size_t rank = x.shape.size();
  ASSIGN_OR_RETURN(auto perm, Permutation(node, rank));
  std::vector<int64_t> in_strides(rank, 1);
  for (size_t i = rank; i-- > 1;) {
    in_strides[i - 1] = in_strides[i] * x.shape[i];
  }
  Shape shape;
  std::vector<int64_t> strides;
  for (size_t p : perm) {
    shape.push_back(x.shape[p]);
    strides.push_back(in_strides[p]);
  }
  TensorData y = TensorData::Zeros(x.type, shape);
  CopyStrided(shape, strides, ElementBytes(x.type), x.bytes.data(),
              y.bytes.data());
  return One(std::move(y));
}

absl::Status InferConcat(Graph* graph, const Node& node) {
  const Tensor& first = InputOf(*graph, node, 0);
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), first.shape.size(), &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", 0),
                      " lies outside inputs of rank ", first.shape.size());
  }
  Shape shape = first.shape;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i)) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is missing");
    }
    const Tensor& input = InputOf(*graph, node, i);
    if (input.type != first.type) {
      return RejectNode(Rejection::kInvalidModel, node, "input '", input.name,
                        "' has type ", DataTypeName(input.type),
                        ", the first one has ", DataTypeName(first.type));
    }
    Shape same = input.shape;
    if (same.size() == shape.size()) same[axis] = shape[axis];
    if (same != shape ||
        __builtin_add_overflow(shape[axis], input.shape[axis], &shape[axis])) {
      return RejectNode(Rejection::kMismatchingShape, node, "input '",
                        input.name, "' of shape ", ShapeToString(input.shape),
                        " cannot be joined along axis ", axis, " with ",
                        ShapeToString(first.shape));
    }
  }
  return SetOutput(graph, node, 0, first.type, shape);
}

Results EvaluateConcat(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& first = *inputs[0];
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), first.shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": axis");
  }
  Shape shape = first.shape;
  shape[axis] = 0;
  for (const TensorData* input : inputs) shape[axis] += input->shape[axis];
  TensorData y = TensorData::Zeros(first.type, shape);
  const int64_t outer =
      ElementCount(Shape(shape.begin(), shape.begin() + axis));
  uint8_t* out = y.bytes.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const TensorData* input : inputs) {
      const size_t run = input->bytes.size() / outer;
      Pace(1 + static_cast<int64_t>(run / 8));
      if (run != 0) std::memcpy(out, input->bytes.data() + o * run, run);
      out += run;
    }
  }
  return One(std::move(y));
}

absl::Status InferGather(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& indices = InputOf(*graph, node, 1);
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), x.shape.size(), &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", 0),
                      " lies outside an input of rank ", x.shape.size());
  }
  if (indices.is_constant()) {
    const int64_t size = x.shape[axis];
    for (int64_t index : ToInts(*indices.constant)) {
      if (index >= -size && index < size) continue;
      return RejectNode(Rejection::kInvalidModel, node, "index ", index,
                        " lies outside a dimension of size ", size);
    }
  }
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return SetOutput(graph, node, 0, x.type, shape);
}

Results EvaluateGather(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& indices = *inputs[1];
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), x.shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": axis");
  }
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  const int64_t outer = ElementCount(shape);
  const Shape inner(x.shape.begin() + axis + 1, x.shape.end());
  const size_t run =
      static_cast<size_t>(ElementCount(inner)) * ElementBytes(x.type);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), inner.begin(), inner.end());
  TensorData y = TensorData::Zeros(x.type, shape);
  const auto picks = ToInts(indices);
  const int64_t size = x.shape[axis];
  uint8_t* out = y.bytes.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t pick : picks) {
      Pace(1 + static_cast<int64_t>(run / 8));
      if (pick < -size || pick >= size) {
        return absl::OutOfRangeError(
            absl::StrCat(node.Describe(), ": index ", pick,
                         " lies outside a dimension of size ", size));
      }
      const int64_t row = pick < 0 ? pick + size : pick;
      if (run != 0) {
        std::memcpy(out, x.bytes.data() + (o * size + row) * run, run);
      }
      out += run;
    }
  }
  return One(std::move(y));
}

const MovingOperator kTranspose(1, 21, [](const MovedTypes& m) {
  OperatorRegistration(Define("Transpose", m.since, m.until)
                           .Inputs(1, 1, m.types)
                           .Attr("perm", AttributeKind::kInts)
                           .Run(InferTranspose, EvaluateTranspose));
});
const OperatorRegistration kConcat(Define("Concat", 4, kMaxOpset)
                                       .Inputs(1, 65536, kMovable)
                                       .Attr("axis", AttributeKind::kInt, true)
                                       .Run(InferConcat, EvaluateConcat));
const ExpandedOperator kGather(Define("Gather", 1, kMaxOpset)
                                   .Inputs(2, 2, kMovable, kIndices)
                                   .Attr("axis", AttributeKind::kInt),
                               ExpandInnerGather, IsInnerGather, InferGather,
                               EvaluateGather);

}  // namespace
}  // namespace heddle::compiler
