// SPDX-License-Identifier: Apache-2.0
// QLinearWhere: each side through its table T[c] = CRO(f32(f32(xs*f32(c-xz)) /
// zs), zz), then the choice.
// QLinearSoftmax: j = q + (qmax - max q) per row (int8: + 128), S = f32 sum of
// E[j] from left to right, y = sat(RNE(f32(f32(E[j] * N) / S)) + yz),
// N = floor(f32(1 / ys)).
#include <algorithm>
#include <cmath>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/ops/softmax_table.h"

namespace heddle::compiler {
namespace {

enum Where { kCondition, kX, kXScale, kXZero, kY, kYScale, kYZero, kZScale };

float Same(float v, float) { return model::Canonical(v); }

absl::Status InferWhere(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, kX);
  const Tensor& y = InputOf(*graph, node, kY);
  for (const absl::Status& s :
       {CheckScalarParameters(*graph, node, kXScale, x.type),
        CheckScalarParameters(*graph, node, kYScale, y.type),
        CheckScalarParameters(*graph, node, kZScale, x.type)}) {
    RETURN_IF_ERROR(s);
  }
  if (x.type != y.type) {
    return RejectNode(Rejection::kInvalidModel, node, "operands have types ",
                      DataTypeName(x.type), " and ", DataTypeName(y.type),
                      ", which must be equal");
  }
  const Shape& c = InputOf(*graph, node, kCondition).shape;
  Shape both, shape;
  if (!BroadcastShapes(x.shape, y.shape, &both) ||
      !BroadcastShapes(c, both, &shape)) {
    return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                      ShapeToString(c), ", ", ShapeToString(x.shape), " and ",
                      ShapeToString(y.shape),
                      " cannot be broadcast to one another");
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

Results EvaluateWhere(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& c = *inputs[kCondition];
  const TensorData& x = *inputs[kX];
  const TensorData& y = *inputs[kY];
  const float zs = ScalarF32(*inputs[kZScale]);
  const int32_t zz = ZeroPoint(At(inputs, kZScale + 1));
  const auto table = [&](size_t scale) {
    return CodeTable(Same, 0, ScalarF32(*inputs[scale]),
                     ZeroPoint(inputs[scale + 1]), zs, zz, x.type);
  };
  const auto from_x = table(kXScale), from_y = table(kYScale);
  Shape both, shape;
  BroadcastShapes(x.shape, y.shape, &both);
  BroadcastShapes(c.shape, both, &shape);
  TensorData z = TensorData::Zeros(x.type, shape);
  ForEachBroadcast(shape, BroadcastStrides(x.shape, shape),
                   BroadcastStrides(y.shape, shape),
                   [&](int64_t i, int64_t, int64_t iy) {
                     z.bytes[i] = from_y[y.bytes[iy]];
                   });
  ForEachBroadcast(shape, BroadcastStrides(x.shape, shape),
                   BroadcastStrides(c.shape, shape),
                   [&](int64_t i, int64_t ix, int64_t ic) {
                     if (c.bytes[ic] != 0) z.bytes[i] = from_x[x.bytes[ix]];
                   });
  return One(std::move(z));
}

absl::Status InferSoftmax(Graph* graph, const Node& node) {
  const DataType type = InputOf(*graph, node, 0).type;
  for (size_t i : {1, 3}) {
    RETURN_IF_ERROR(CheckScalarParameters(*graph, node, i, type));
  }
  size_t axis = 0;
  const size_t rank = InputOf(*graph, node, 0).shape.size();
  if (!NormalizeAxis(node.IntAttribute("axis", -1), rank, &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", -1),
                      " lies outside an input of rank ", rank);
  }
  return InferSame(graph, node);
}

Results EvaluateSoftmax(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const SoftmaxShape s = ResolveSoftmaxRows(
      x.shape, node.IntAttribute("axis", -1), node.IntAttribute("opset", 13));
  const auto table = SoftmaxTable(s.d, ScalarF32(*inputs[1]));
  const float n = std::floor(model::FDiv(1.0f, ScalarF32(*inputs[3])));
  const int32_t yz = ZeroPoint(At(inputs, 4));
  const int32_t top = QuantizedMax(x.type) - QuantizedMin(x.type);
  TensorData y = TensorData::Zeros(x.type, x.shape);
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    const int64_t base = row / s.inner * s.d * s.inner + row % s.inner;
    int32_t largest = QuantizedMin(x.type);
    for (int64_t i = 0; i < s.d; ++i) {
      PaceAt(i);
      largest = std::max(largest, LoadQuantized(x, base + i * s.inner));
    }
    const auto e = [&](int64_t i) {
      return table[LoadQuantized(x, base + i * s.inner) + top - largest];
    };
    float sum = 0;
    Pace(s.d);
    for (int64_t i = 0; i < s.d; ++i) sum = model::FAdd(sum, e(i));
    for (int64_t i = 0; i < s.d; ++i) {
      PaceAt(i);
      const int32_t code = model::WrapAdd(
          model::Rne(model::FDiv(model::FMul(e(i), n), sum)), yz);
      StoreQuantized(
          std::min(std::max(code, QuantizedMin(x.type)), QuantizedMax(x.type)),
          base + i * s.inner, &y);
    }
  }
  return One(std::move(y));
}

bool HasPositiveScale(const Graph& graph, const Node& node,
                      std::string* detail) {
  const Tensor& scale = InputOf(graph, node, 1);
  if (!scale.is_constant() || scale.constant->count() == 0) return true;
  const float value = scale.constant->as<float>()[0];
  *detail = absl::StrCat("it is ", value);
  return value > 0 && std::isfinite(value);
}

const OperatorRegistration kQLinearWhere(
    Define("QLinearWhere", 1, 1)
        .Domain("com.microsoft")
        .Inputs(8, 9, Types(DataType::kBool), kQuantizedValues, kFloats,
                kQuantizedValues, kQuantizedValues, kFloats, kQuantizedValues,
                kFloats, kQuantizedValues)
        .Optional(3, 6)
        .Run(InferWhere, EvaluateWhere));
const OperatorRegistration kQLinearSoftmax(
    Define("QLinearSoftmax", 1, 1)
        .Domain("com.microsoft")
        .Inputs(4, 5, kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kQuantizedValues)
        .Optional(2)
        .Attr("axis", AttributeKind::kInt)
        .Attr("opset", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute,
              "the input's scale is positive and finite", HasPositiveScale)
        .Run(InferSoftmax, EvaluateSoftmax));

}  // namespace
}  // namespace heddle::compiler
