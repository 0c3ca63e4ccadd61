// SPDX-License-Identifier: Apache-2.0
// heddle.Filter (resize_filter.h).
#include <cmath>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"
#include "compiler/ops/reduce.h"
#include "compiler/ops/resize_filter.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr char kRows[] = "rows", kColumns[] = "columns";

// [before, from, after] to [before, to, after].
std::vector<float> Filtered(const std::vector<float>& x,
                            const FilteredAxis& axis, int64_t before,
                            int64_t from, int64_t after) {
  const auto to = static_cast<int64_t>(axis.start.size());
  std::vector<float> y(static_cast<size_t>(before * to * after));
  for (int64_t b = 0; b < before; ++b) {
    for (int64_t i = 0; i < to; ++i) {
      Pace(after * axis.taps);
      for (int64_t k = 0; k < after; ++k) {
        float acc = 0;
        for (int64_t t = 0; t < axis.taps; ++t) {
          const int64_t at = axis.start[static_cast<size_t>(i)] + t;
          acc = model::Canonical(std::fma(
              x[static_cast<size_t>((b * from + at) * after + k)],
              axis.weight[static_cast<size_t>(i * axis.taps + t)], acc));
        }
        y[static_cast<size_t>((b * to + i) * after + k)] = acc;
      }
    }
  }
  return y;
}

absl::Status Infer(Graph* graph, const Node& node) {
  Shape shape = InputOf(*graph, node, 0).shape;
  const FilterPlan plan = FilterPlanOf(*graph, node);
  const size_t rank = shape.size();
  for (const auto& [axis, i] :
       {std::pair{&plan.rows, rank - 2}, std::pair{&plan.columns, rank - 1}}) {
    if (axis->start.empty()) continue;
    for (const int64_t start : axis->start) {
      if (start < 0 || axis->taps < 1 || start + axis->taps > shape[i]) {
        return RejectNode(Rejection::kInvalidModel, node, "elements ", start,
                          " to ", start + axis->taps, " of ", shape[i]);
      }
    }
    shape[i] = static_cast<int64_t>(axis->start.size());
  }
  return SetOutput(graph, node, 0, DataType::kFloat, shape);
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const FilterPlan plan = FilterPlanOf(graph, node);
  const TensorData& x = *inputs[0];
  Shape shape = x.shape;
  const size_t rank = shape.size();
  std::vector<float> values(x.as<float>(), x.as<float>() + x.count());
  const int64_t planes = ElementCount(Shape(shape.begin(), shape.end() - 2));
  if (!plan.columns.start.empty()) {
    values = Filtered(values, plan.columns, planes * shape[rank - 2],
                      shape[rank - 1], 1);
    shape[rank - 1] = static_cast<int64_t>(plan.columns.start.size());
  }
  if (!plan.rows.start.empty()) {
    values =
        Filtered(values, plan.rows, planes, shape[rank - 2], shape[rank - 1]);
    shape[rank - 2] = static_cast<int64_t>(plan.rows.start.size());
  }
  return One(FromFloats(DataType::kFloat, shape, values));
}

bool HasPlanes(const Graph& graph, const Node& node, std::string* detail) {
  const size_t rank = InputOf(graph, node, 0).shape.size();
  const size_t axes =
      node.attributes.count(kRows) + node.attributes.count(kColumns);
  *detail = absl::StrCat("rank ", rank, ", ", axes, " axes");
  if (rank < 2 || node.inputs.size() != axes + 1) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor& weights = InputOf(graph, node, i);
    if (!weights.is_constant() || weights.shape.size() != 2) return false;
    const char* const axis =
        i == 1 && node.attributes.count(kRows) != 0 ? kRows : kColumns;
    const auto to = node.IntsAttribute(axis, {}).size();
    if (to == 0 || weights.shape[0] != static_cast<int64_t>(to)) return false;
  }
  return axes != 0;
}

const OperatorRegistration kFilter(Define("Filter", 1, kMaxOpset)
                                       .Domain(kInternalDomain)
                                       .Inputs(2, 3, Types(DataType::kFloat),
                                               Types(DataType::kFloat),
                                               Types(DataType::kFloat))
                                       .Attr(kRows, AttributeKind::kInts)
                                       .Attr(kColumns, AttributeKind::kInts)
                                       .Rule(Rejection::kInvalidModel,
                                             "each axis has constant weights",
                                             HasPlanes)
                                       .Run(Infer, Evaluate));

}  // namespace

FilterPlan FilterPlanOf(const Graph& graph, const Node& node) {
  FilterPlan plan;
  size_t input = 1;
  for (const auto& [name, axis] :
       {std::pair{kRows, &plan.rows}, std::pair{kColumns, &plan.columns}}) {
    if (node.attributes.count(name) == 0) continue;
    axis->start = node.IntsAttribute(name, {});
    const TensorData& weights = *InputOf(graph, node, input++).constant;
    axis->taps = weights.shape[1];
    axis->weight.assign(weights.as<float>(),
                        weights.as<float>() + weights.count());
  }
  return plan;
}

}  // namespace heddle::compiler
