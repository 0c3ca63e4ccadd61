// SPDX-License-Identifier: Apache-2.0
// Normalisations that are made of other operators, in fp32, or double where an
// input is, rounded once at the end:
//   LpNormalization            y = x / norm along the axis; norm 1 where it is
//                              0, p is 1 or 2
//   MeanVarianceNormalization  d = x - mean, y = d / (sqrt(mean of d^2) + 1e-9)
//   RMSNormalization           y = x / sqrt(mean of x^2 + epsilon) * scale
//   SimplifiedLayerNormalization  the same; ONNX Runtime has it in ONNX's
//                              domain. Result 1 is what x is multiplied by
//   GroupNormalization         InstanceNormalization of the groups, times scale
//                              and plus bias: of each group at opset 18, of
//                              each channel from 21 on
#include <algorithm>
#include <numeric>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/rank_rule.h"

namespace heddle::compiler {
namespace {

TensorId MeanOfSquares(Expansion* e, TensorId x,
                       const std::vector<int64_t>& axes) {
  if (axes.empty()) return e->Add("Mul", {x, x});
  int64_t count = 1;
  for (int64_t axis : axes) count *= e->T(x).shape[axis];
  const TensorId sum = e->Add("ReduceSumSquare", {x}, {{"axes", axes}});
  return e->Add("Div", {sum, e->Number(static_cast<double>(count))});
}

absl::Status ExpandLp(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  const TensorId x = e->Wide(e->In(0));
  const bool first = e->node().IntAttribute("p", 2) == 1;
  const std::vector<int64_t> axes = {e->node().IntAttribute("axis", -1)};
  const TensorId norm =
      e->Add(first ? "ReduceL1" : "ReduceL2", {x}, {{"axes", axes}});
  const TensorId zero = e->Add("Equal", {norm, e->Number(0)});
  const TensorId by = e->Add("Where", {zero, e->Number(1), norm});
  e->Return(0, e->Add("Div", {x, by}), type);
  return absl::OkStatus();
}

bool AxisFits(const Graph& graph, const Node& node, std::string* detail) {
  const int64_t axis = node.IntAttribute("axis", -1);
  const size_t rank = InputOf(graph, node, 0).shape.size();
  *detail = absl::StrCat("axis = ", axis, " of rank ", rank);
  size_t normal;
  return NormalizeAxis(axis, rank, &normal);
}

absl::Status ExpandMeanVariance(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  const size_t rank = e->T(e->In(0)).shape.size();
  std::vector<int64_t> axes;
  for (int64_t axis : e->node().IntsAttribute("axes", {0, 2, 3})) {
    size_t normal;
    if (!NormalizeAxis(axis, rank, &normal)) {
      return RejectNode(Rejection::kInvalidModel, e->node(), "axis ", axis,
                        " is not an axis of a tensor of rank ", rank);
    }
    axes.push_back(static_cast<int64_t>(normal));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) {
      return RejectNode(Rejection::kInvalidModel, e->node(), "axis ", axis,
                        " occurs twice");
    }
  }
  const TensorId x = e->Wide(e->In(0));
  const TensorId mean =
      axes.empty() ? x : e->Add("ReduceMean", {x}, {{"axes", axes}});
  const TensorId d = e->Add("Sub", {x, mean});
  RETURN_IF_ERROR(e->status());
  const TensorId deviation = e->Add("Sqrt", {MeanOfSquares(e, d, axes)});
  const TensorId by = e->Add("Add", {deviation, e->Number(1e-9f)});
  e->Return(0, e->Add("Div", {d, by}), type);
  return absl::OkStatus();
}

absl::Status ExpandRms(Expansion* e) {
  const DataType type = e->T(e->In(1)).type;
  const TensorId x = e->Wide(e->In(0));
  const size_t rank = e->T(x).shape.size();
  size_t first;
  if (!NormalizeAxis(e->node().IntAttribute("axis", -1), rank, &first)) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "axis is not one ",
                      "of a tensor of rank ", rank);
  }
  std::vector<int64_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(first));
  const TensorId mean = MeanOfSquares(e, x, axes);
  const TensorId epsilon =
      e->Number(e->node().FloatAttribute("epsilon", 1e-5f));
  const TensorId root = e->Add("Sqrt", {e->Add("Add", {mean, epsilon})});
  const TensorId factor = e->Add("Reciprocal", {root});
  const TensorId y =
      e->Add("Mul", {e->Add("Mul", {x, factor}), e->Wide(e->In(1))});
  if (e->status().ok() && e->T(y).shape != e->T(x).shape) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "scale of ",
                      ShapeToString(e->T(e->In(1)).shape),
                      " cannot be broadcast to ", ShapeToString(e->T(x).shape));
  }
  e->Return(0, y, type);
  e->Return(1, factor, DataType::kFloat);
  return absl::OkStatus();
}

// [n, c, ...]: its groups, or the rejection.
absl::StatusOr<int64_t> GroupsOf(const Expansion& e, bool per_group) {
  const Shape& x = e.T(e.In(0)).shape;
  const int64_t groups = e.node().IntAttribute("num_groups", 0);
  if (groups < 1 || x[1] % groups != 0) {
    return RejectNode(Rejection::kInvalidModel, e.node(),
                      "num_groups = ", groups, " does not divide the ", x[1],
                      " channels");
  }
  for (size_t i : {1, 2}) {
    const Tensor& t = e.T(e.In(i));
    if (t.shape != Shape{per_group ? groups : x[1]}) {
      return RejectNode(Rejection::kMismatchingShape, e.node(), "input ", i,
                        " '", t.name, "' of shape ", ShapeToString(t.shape),
                        " must hold one value for each of the ",
                        per_group ? groups : x[1],
                        per_group ? " groups" : " channels");
    }
  }
  return groups;
}

template <bool per_group>
absl::Status ExpandGroup(Expansion* e) {
  ASSIGN_OR_RETURN(auto groups, GroupsOf(*e, per_group));
  const DataType type = e->T(e->In(0)).type;
  const TensorId x = e->Wide(e->In(0));
  const Shape shape = e->T(x).shape;
  const int64_t count = ElementCount(shape);
  const int64_t length =
      count == 0 ? 0 : count / std::max<int64_t>(1, shape[0] * groups);
  const std::vector<double> ones(static_cast<size_t>(groups), 1);
  const TensorId normal = e->Add(
      "InstanceNormalization",
      {e->Reshape(x, {shape[0], groups, length}), e->Numbers({groups}, ones),
       e->Constant(TensorData::Zeros(e->Real(), {groups}))},
      {{"epsilon", e->node().FloatAttribute("epsilon", 1e-5f)}});
  // Scale and bias broadcast in the shape that has their axis.
  const Shape wide = per_group ? Shape{shape[0], groups, length} : shape;
  Shape factors(wide.size(), 1);
  factors[1] = wide[1];
  TensorId y = e->Reshape(normal, wide);
  y = e->Add("Mul", {y, e->Reshape(e->Wide(e->In(1)), factors)});
  y = e->Add("Add", {y, e->Reshape(e->Wide(e->In(2)), factors)});
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

Define Group(int since, int until) {
  Define define("GroupNormalization", since, until);
  define.Inputs(3, 3, kRealsAndDouble)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("num_groups", AttributeKind::kInt, true)
      .Rule(Rejection::kUnsupportedShape, "input has rank 2 or more",
            RankIs<2>);
  return define;
}

const ExpandedOperator kLpNormalization(
    Define("LpNormalization", 1, kMaxOpset)
        .Inputs(1, 1, kRealsAndDouble)
        .Attr("axis", AttributeKind::kInt)
        .Attr("p", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel, "axis is one of the input's", AxisFits)
        .Rule(Rejection::kInvalidModel, "p is 1 or 2",
              [](const Graph&, const Node& node, std::string* detail) {
                const int64_t p = node.IntAttribute("p", 2);
                *detail = absl::StrCat("p = ", p);
                return p == 1 || p == 2;
              }),
    ExpandLp);
const ExpandedOperator kMeanVarianceNormalization(
    Define("MeanVarianceNormalization", 9, kMaxOpset)
        .Inputs(1, 1, kRealsAndDouble)
        .Attr("axes", AttributeKind::kInts),
    ExpandMeanVariance);
Define Rms(const char* op, int since) {
  Define define(op, since, kMaxOpset);
  define.Inputs(2, 2, kRealsAndDouble)
      .Attr("axis", AttributeKind::kInt)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("stash_type", AttributeKind::kInt);
  return define;
}
const ExpandedOperator kRmsNormalization(Rms("RMSNormalization", 23),
                                         ExpandRms);
const ExpandedOperator kSimplified(
    Rms("SimplifiedLayerNormalization", 1).Outputs(2), ExpandRms);
const ExpandedOperator kGroup18(Group(18, 20), ExpandGroup<true>);
const ExpandedOperator kGroup21(
    Group(21, kMaxOpset).Attr("stash_type", AttributeKind::kInt),
    ExpandGroup<false>);

}  // namespace
}  // namespace heddle::compiler
