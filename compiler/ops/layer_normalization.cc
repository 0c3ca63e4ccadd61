// SPDX-License-Identifier: Apache-2.0
// LayerNormalization; see layer_normalization.h.
#include "compiler/ops/layer_normalization.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/microprogram.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

bool HasAxis(const Graph& graph, const Node& node, std::string* why) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  size_t axis = 0;
  *why = absl::StrCat("axis = ", node.IntAttribute("axis", -1), ", the shape ",
                      ShapeToString(shape));
  return NormalizeAxis(node.IntAttribute("axis", -1), shape.size(), &axis);
}

// (The rule before has looked at the axis.)
bool FactorsFit(const Graph& graph, const Node& node, std::string* why) {
  const int64_t count =
      RowsToNormalize(node, InputOf(graph, node, 0).shape).count;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i)) continue;
    const int64_t own = ElementCount(InputOf(graph, node, i).shape);
    if (own == count || own == 1) continue;
    *why = absl::StrCat("input ", i, " has ", own, " elements, a row ", count);
    return false;
  }
  return true;
}

bool StashesFloats(const Graph&, const Node& node, std::string* why) {
  const int64_t type = node.IntAttribute("stash_type", 1);
  *why = absl::StrCat("stash_type = ", type);
  return type == 1;
}

// Of mean and r, which have one element for each row.
Shape ShapeOfRows(const Node& node, const Shape& shape) {
  Shape rows = shape;
  size_t axis = 0;
  NormalizeAxis(node.IntAttribute("axis", -1), shape.size(), &axis);
  std::fill(rows.begin() + axis, rows.end(), 1);
  return rows;
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Shape& shape = InputOf(*graph, node, 0).shape;
  std::string why;
  if (!HasAxis(*graph, node, &why)) {
    return RejectNode(Rejection::kInvalidModel, node, why);
  }
  const Shape rows = ShapeOfRows(node, shape);
  for (size_t i : {1, 2}) {
    RETURN_IF_ERROR(SetOutput(graph, node, i, DataType::kFloat, rows));
  }
  return InferSame(graph, node);
}

// The same in binary64; the second and third result are floats all the same.
Results EvaluateDoubles(const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const ReduceStage rows = RowsToNormalize(node, x.shape);
  std::vector<double> d = ToDoubles(x);
  const std::vector<double> means =
      Reduce(d, {rows}, {Fold::kSum, Premap::kNone, Finish::kMean});
  for (size_t i = 0; i < d.size(); ++i) d[i] -= means[i / rows.count];
  std::vector<double> factors =
      Reduce(d, {rows}, {Fold::kSum, Premap::kSquare, Finish::kMean});
  for (double& r : factors) {
    r = 1 / std::sqrt(r + double{node.FloatAttribute("epsilon", 1e-5f)});
  }
  const std::vector<double> scale = ToDoubles(*inputs[1]),
                            bias = At(inputs, 2) != nullptr
                                       ? ToDoubles(*inputs[2])
                                       : std::vector<double>{0};
  for (size_t i = 0; i < d.size(); ++i) {
    PaceAt(i);
    const size_t column = i % rows.count;
    d[i] = d[i] * factors[i / rows.count] * scale[column % scale.size()] +
           bias[column % bias.size()];
  }
  std::vector<TensorData> results = One(FromDoubles(x.shape, d));
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const std::vector<double>& given = i == 1 ? means : factors;
    results.push_back(FromFloats(DataType::kFloat, ShapeOfRows(node, x.shape),
                                 {given.begin(), given.end()}));
  }
  return results;
}

LaneStream StreamOf(const float* data, bool single = false) {
  return {reinterpret_cast<const uint32_t*>(data), single};
}

// Scale or bias of a row; null: `absent` for all.
LaneStream StreamOf(const TensorData* data, const float* absent) {
  return data == nullptr ? StreamOf(absent, true)
                         : StreamOf(data->as<float>(), data->count() == 1);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  if (x.type == DataType::kDouble) return EvaluateDoubles(node, inputs);
  const ReduceStage rows = RowsToNormalize(node, x.shape);
  const float epsilon = node.FloatAttribute("epsilon", 1e-5f);
  const auto total = static_cast<float>(rows.count);
  const auto count = static_cast<size_t>(rows.count);
  std::vector<float> means(static_cast<size_t>(rows.outer)),
      factors(means.size());
  TensorData y = TensorData::Zeros(DataType::kFloat, x.shape);
  const float *const from = x.as<float>(), zero = 0;
  float* const to = y.as<float>();
  LaneOperands operands;
  operands.streams[1] = StreamOf(inputs[1], &zero);
  operands.streams[2] = StreamOf(At(inputs, 2), &zero);
  const LaneKernels& lanes = BestLanes();
  const auto normalize = [&](int64_t first, int64_t n) {
    const float* const some = from + first * rows.count;
    float *const mean = means.data() + first, *const r = factors.data() + first;
    const auto all = static_cast<size_t>(n);
    Pace(2 * n * rows.count);
    lanes.fold_rows(LaneFold::kSum, some, nullptr, all, count, mean);
    for (int64_t i = 0; i < n; ++i) mean[i] = model::FDiv(mean[i], total);
    lanes.fold_rows(LaneFold::kSumOfSquares, some, mean, all, count, r);
    for (int64_t i = 0; i < n; ++i) {
      const float variance = model::FDiv(r[i], total);
      r[i] = model::FDiv(1, model::FSqrt(model::FAdd(variance, epsilon)));
      LaneOperands row = operands;
      row.streams[0] = StreamOf(some + i * rows.count);
      row.arguments[0] = model::Bits(mean[i]);
      row.arguments[1] = model::Bits(r[i]);
      Compute(LaneFunction::kNormalize, row, rows.count,
              reinterpret_cast<uint32_t*>(to + (first + i) * rows.count));
    }
  };
  constexpr double kCost = 0.5;  // of an element
  Spread(rows.outer, kCost * static_cast<double>(rows.count),
         [&](int64_t begin, int64_t end) {
           constexpr int64_t kRows = 4;
           for (int64_t r = begin; r < end; r += kRows) {
             normalize(r, std::min(kRows, end - r));
           }
         });
  std::vector<TensorData> results = One(std::move(y));
  const Shape per_row = ShapeOfRows(node, x.shape);
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    results.push_back(
        FromFloats(DataType::kFloat, per_row, i == 1 ? means : factors));
  }
  return results;
}

// float16 is computed in fp32, rounded once at the end.
bool IsHalf(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).type == DataType::kFloat16;
}

absl::Status ExpandHalf(Expansion* e) {
  std::vector<TensorId> in = {e->Wide(e->In(0)), e->Wide(e->In(1))};
  if (e->HasIn(2)) in.push_back(e->Wide(e->In(2)));
  const std::vector<TensorId> out =
      e->AddAll(e->node().outputs.size(), "LayerNormalization", in,
                e->node().attributes, 17);
  for (size_t i = 0; i < out.size(); ++i) {
    e->Return(i, out[i], i == 0 ? DataType::kFloat16 : DataType::kFloat);
  }
  return absl::OkStatus();
}

Define Normalization(int since, int until) {
  Define define("LayerNormalization", since, until);
  define.Inputs(2, 3, kRealsAndDouble)
      .Outputs(3)
      .Attr("axis", AttributeKind::kInt)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("stash_type", AttributeKind::kInt)
      .Rule(Rejection::kInvalidModel, "axis lies within the input's rank",
            HasAxis)
      .Rule(Rejection::kUnsupportedShape,
            "Scale and B have one element, or one for each that is "
            "normalised",
            FactorsFit)
      .Rule(Rejection::kUnsupportedAttribute, "stash_type is 1", StashesFloats);
  return define;
}

// What ONNX Runtime's optimizers write into models of older opsets.
const ExpandedOperator kOld(Normalization(1, 16), ExpandHalf, IsHalf, Infer,
                            Evaluate);
const ExpandedOperator kLayerNormalization(Normalization(17, kMaxOpset),
                                           ExpandHalf, IsHalf, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
