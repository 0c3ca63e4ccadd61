// SPDX-License-Identifier: Apache-2.0
// ReduceLogSum and ReduceLogSumExp, made of other operators:
//   ReduceLogSum      y = log(sum)
//   ReduceLogSumExp   y = log(sum of exp(x - m)) + m, m the largest element, or
//                     0 where that is an infinity
// float16 is computed in fp32 and rounded once at the end.
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {
namespace {

// The node's axes, and the list of them; empty for a node that does nothing.
struct Axes {
  std::vector<int64_t> list;
  Shape shape;  // of the result
  bool noop = false;
};
absl::StatusOr<Axes> AxesOf(const Expansion& e) {
  ASSIGN_OR_RETURN(auto axes, ResolveReduce(e.graph(), e.node()));
  Axes result;
  result.shape = axes.shape;
  result.noop = axes.noop();
  for (size_t i = 0; i < e.T(e.In(0)).shape.size(); ++i) {
    if (!axes.noop() && axes.reduced[i]) {
      result.list.push_back(static_cast<int64_t>(i));
    }
  }
  return result;
}

TensorId Sum(Expansion* e, TensorId x, const Axes& axes) {
  if (axes.list.empty()) return x;  // of a scalar
  return e->Add("ReduceSum", {x, e->Ints(axes.list)});
}

absl::Status ExpandLogSum(Expansion* e) {
  ASSIGN_OR_RETURN(auto axes, AxesOf(*e));
  const DataType type = e->T(e->In(0)).type;
  TensorId y = e->In(0);
  if (!axes.noop) {
    y = e->Add("Log", {Sum(e, e->Wide(y), axes)});
    y = e->Reshape(y, axes.shape);
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

absl::Status ExpandLogSumExp(Expansion* e) {
  ASSIGN_OR_RETURN(auto axes, AxesOf(*e));
  const DataType type = e->T(e->In(0)).type;
  if (axes.noop) {
    e->Return(0, e->In(0), type);
    return absl::OkStatus();
  }
  const TensorId x = e->Wide(e->In(0));
  const TensorId largest =
      axes.list.empty() ? x : e->Add("ReduceMax", {x}, {{"axes", axes.list}});
  // No infinity is subtracted from itself.
  const TensorId m = e->Add("Where", {e->Add("IsInf", {largest}),
                                      e->Scalar(DataType::kFloat, 0), largest});
  const TensorId sum = Sum(e, e->Add("Exp", {e->Add("Sub", {x, m})}), axes);
  const TensorId y = e->Add("Add", {e->Add("Log", {sum}), m});
  e->Return(0, e->Reshape(y, axes.shape), type);
  return absl::OkStatus();
}

Define WithAttribute(const char* op) {
  Define define(op, 1, 17);
  define.Inputs(1, 1, kReals)
      .Attr("axes", AttributeKind::kInts)
      .Attr("keepdims", AttributeKind::kInt);
  return define;
}
// Since opset 18 axes are an input.
Define WithInput(const char* op) {
  Define define(op, 18, kMaxOpset);
  define.Inputs(1, 2, kReals, kInt64s)
      .Attr("keepdims", AttributeKind::kInt)
      .Attr("noop_with_empty_axes", AttributeKind::kInt);
  return define;
}

const ExpandedOperator kLogSum(WithAttribute("ReduceLogSum"), ExpandLogSum);
const ExpandedOperator kLogSum18(WithInput("ReduceLogSum"), ExpandLogSum);
const ExpandedOperator kLogSumExp(WithAttribute("ReduceLogSumExp"),
                                  ExpandLogSumExp);
const ExpandedOperator kLogSumExp18(WithInput("ReduceLogSumExp"),
                                    ExpandLogSumExp);

}  // namespace
}  // namespace heddle::compiler
