// SPDX-License-Identifier: Apache-2.0
// ReduceLogSum and ReduceLogSumExp, made of other operators:
//   ReduceLogSum      y = log(sum)
//   ReduceLogSumExp   y = log(sum of exp(x - m)) + m, m the largest element, or
//                     0 where that is an infinity
// float16 is computed in fp32 and rounded once at the end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
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

// Of double there is no expansion: the host computes.
bool IsExpandedReduction(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).type != DataType::kDouble;
}

absl::Status InferReduction(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(const auto axes, ResolveReduce(*graph, node));
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, axes.shape);
}

template <bool exponential>
Results EvaluateDouble(const Graph& graph, const Node& node,
                       const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(const auto axes, ResolveReduce(graph, node, At(inputs, 1)));
  if (axes.noop()) return One(x);
  Shape kept = x.shape;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (axes.reduced[i]) kept[i] = 1;
  }
  TensorData y = TensorData::Zeros(x.type, axes.shape);
  std::vector<double> largest(static_cast<size_t>(y.count()));
  const auto each = [&](auto body) {
    ForEachBroadcast(x.shape, BroadcastStrides(x.shape, x.shape),
                     BroadcastStrides(kept, x.shape),
                     [&](int64_t, int64_t from, int64_t to) {
                       body(x.as<double>()[from], static_cast<size_t>(to));
                     });
  };
  if (exponential) {
    std::fill(largest.begin(), largest.end(),
              -std::numeric_limits<double>::infinity());
    each([&](double v, size_t to) { largest[to] = std::max(largest[to], v); });
    // No infinity is subtracted from itself.
    for (double& m : largest) m = std::isinf(m) ? 0 : m;
  }
  each([&](double v, size_t to) {
    y.as<double>()[to] += exponential ? std::exp(v - largest[to]) : v;
  });
  for (int64_t i = 0; i < y.count(); ++i) {
    double& v = y.as<double>()[i];
    v = std::log(v) + largest[static_cast<size_t>(i)];
  }
  return One(std::move(y));
}

constexpr TypeSet kReduced = kReals | Types(DataType::kDouble);

Define WithAttribute(const char* op) {
  Define define(op, 1, 17);
  define.Inputs(1, 1, kReduced)
      .Attr("axes", AttributeKind::kInts)
      .Attr("keepdims", AttributeKind::kInt);
  return define;
}
// Since opset 18 axes are an input.
Define WithInput(const char* op) {
  Define define(op, 18, kMaxOpset);
  define.Inputs(1, 2, kReduced, kInt64s)
      .Attr("keepdims", AttributeKind::kInt)
      .Attr("noop_with_empty_axes", AttributeKind::kInt);
  return define;
}

const ExpandedOperator kLogSum(WithAttribute("ReduceLogSum"), ExpandLogSum,
                               IsExpandedReduction, InferReduction,
                               EvaluateDouble<false>);
const ExpandedOperator kLogSum18(WithInput("ReduceLogSum"), ExpandLogSum,
                                 IsExpandedReduction, InferReduction,
                                 EvaluateDouble<false>);
const ExpandedOperator kLogSumExp(WithAttribute("ReduceLogSumExp"),
                                  ExpandLogSumExp, IsExpandedReduction,
                                  InferReduction, EvaluateDouble<true>);
const ExpandedOperator kLogSumExp18(WithInput("ReduceLogSumExp"),
                                    ExpandLogSumExp, IsExpandedReduction,
                                    InferReduction, EvaluateDouble<true>);

}  // namespace
}  // namespace heddle::compiler
