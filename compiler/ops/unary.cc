// SPDX-License-Identifier: Apache-2.0
// QLinearSigmoid, QLinearLeakyRelu: 256-entry tables of Sigmoid (its formula is
// in vector_math.h) and of v >= 0 ? v : f32(alpha * v).
// QLinearConcat: each input through its table; equal parameters copy.
#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

float Sigmoid(float v, float) {
  constexpr float kP[] = {4.37031012579801e-11f, 1.15627324459942e-07f,
                          6.08574864600143e-05f, 8.51377133304701e-03f,
                          2.48287947061529e-01f};
  constexpr float kQ[] = {6.10247389755681e-13f, 5.76102136993427e-09f,
                          6.29106785017040e-06f, 1.70198817374094e-03f,
                          1.16817656904453e-01f, 9.93151921023180e-01f};
  const float x = model::FMin(model::FMax(v, -18.0f), 18.0f);
  const float u = model::FMul(x, x);
  float p = kP[0];
  for (int i = 1; i < 5; ++i) p = model::Fma(p, u, kP[i]);
  p = model::FMul(p, x);
  float q = kQ[0];
  for (int i = 1; i < 6; ++i) q = model::Fma(q, u, kQ[i]);
  return model::FMax(model::FAdd(model::FDiv(p, q), 0.5f), 0.0f);
}

float LeakyRelu(float v, float alpha) {
  return v >= 0 ? v : model::FMul(alpha, v);
}

float Same(float v, float) { return model::Canonical(v); }

float Alpha(const Node& node) { return node.FloatAttribute("alpha", 0.01f); }

absl::Status InferCodes(Graph* graph, const Node& node) {
  const DataType type = InputOf(*graph, node, 0).type;
  for (size_t scale : {size_t{1}, size_t{3}}) {
    RETURN_IF_ERROR(CheckScalarParameters(*graph, node, scale, type));
  }
  return InferSame(graph, node);
}

void Lookup(const std::vector<uint8_t>& table, const uint8_t* from,
            size_t count, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) {
    PaceAt(i);
    to[i] = table[from[i]];
  }
}

template <float (*function)(float, float)>
Results EvaluateCodes(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const auto table = CodeTable(function, Alpha(node), ScalarF32(*inputs[1]),
                               ZeroPoint(inputs[2]), ScalarF32(*inputs[3]),
                               ZeroPoint(At(inputs, 4)), x.type);
  TensorData y = TensorData::Zeros(x.type, x.shape);
  Lookup(table, x.bytes.data(), x.bytes.size(), y.bytes.data());
  return One(std::move(y));
}

// Inputs: y_scale, y_zero_point, then codes, scale, zero point of each part.
absl::Status InferConcat(Graph* graph, const Node& node) {
  const size_t count = node.inputs.size();
  if (count % 3 != 2) {
    return RejectNode(Rejection::kInvalidModel, node, "has ", count,
                      " inputs, must have 2 and 3 for each part");
  }
  const DataType type = InputOf(*graph, node, 1).type;
  RETURN_IF_ERROR(CheckScalarParameters(*graph, node, 0, type));
  Shape shape;
  size_t axis = 0;
  for (size_t i = 2; i < count; i += 3) {
    for (size_t k = i; k < i + 3; ++k) {
      if (!HasInput(node, k)) {
        return RejectNode(Rejection::kInvalidModel, node, "input ", k,
                          " is missing");
      }
    }
    const Tensor& part = InputOf(*graph, node, i);
    if (part.type != type) {
      return RejectNode(Rejection::kInvalidModel, node, "part '", part.name,
                        "' has type ", DataTypeName(part.type), ", the output ",
                        DataTypeName(type));
    }
    RETURN_IF_ERROR(CheckScalarParameters(*graph, node, i + 1, type));
    if (i == 2) {
      shape = part.shape;
      if (!NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
        return RejectNode(Rejection::kInvalidModel, node, "axis ",
                          node.IntAttribute("axis", 0),
                          " lies outside parts of rank ", shape.size());
      }
      continue;
    }
    Shape same = part.shape;
    if (same.size() == shape.size()) same[axis] = shape[axis];
    if (same != shape ||
        __builtin_add_overflow(shape[axis], part.shape[axis], &shape[axis])) {
      return RejectNode(Rejection::kMismatchingShape, node, "part '", part.name,
                        "' of shape ", ShapeToString(part.shape),
                        " cannot be joined along axis ", axis);
    }
  }
  return SetOutput(graph, node, 0, type, shape);
}

Results EvaluateConcat(const Graph&, const Node& node, const Inputs& inputs) {
  size_t axis = 0;
  Shape shape = inputs[2]->shape;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": axis");
  }
  const float ys = ScalarF32(*inputs[0]);
  const int32_t yz = ZeroPoint(inputs[1]);
  shape[axis] = 0;
  std::vector<std::vector<uint8_t>> tables;
  for (size_t i = 2; i + 2 < inputs.size(); i += 3) {
    shape[axis] += inputs[i]->shape[axis];
    const float xs = ScalarF32(*inputs[i + 1]);
    const int32_t xz = ZeroPoint(inputs[i + 2]);
    tables.emplace_back(256);
    if (xs == ys && xz == yz) {
      for (int c = 0; c < 256; ++c) tables.back()[c] = c;
    } else {
      tables.back() = CodeTable(Same, 0, xs, xz, ys, yz, inputs[1]->type);
    }
  }
  TensorData y = TensorData::Zeros(inputs[1]->type, shape);
  const int64_t outer =
      ElementCount(Shape(shape.begin(), shape.begin() + axis));
  uint8_t* out = y.bytes.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t part = 0; part < tables.size(); ++part) {
      const TensorData& x = *inputs[2 + 3 * part];
      const size_t run = x.bytes.size() / outer;
      Lookup(tables[part], x.bytes.data() + o * run, run, out);
      out += run;
    }
  }
  return One(std::move(y));
}

Define Table(const char* op) {
  Define define(op, 1, 1);
  define.Domain("com.microsoft")
      .Inputs(4, 5, kQuantizedValues, kFloats, kQuantizedValues, kFloats,
              kQuantizedValues);
  return define;
}

const OperatorRegistration kQLinearSigmoid(
    Table("QLinearSigmoid").Run(InferCodes, EvaluateCodes<Sigmoid>));
const OperatorRegistration kQLinearLeakyRelu(
    Table("QLinearLeakyRelu")
        .Attr("alpha", AttributeKind::kFloat)
        .Run(InferCodes, EvaluateCodes<LeakyRelu>));
const OperatorRegistration kQLinearConcat(
    Define("QLinearConcat", 1, 1)
        .Domain("com.microsoft")
        .Inputs(5, 65537, kFloats, kQuantizedValues, kQuantizedValues | kFloats)
        .Attr("axis", AttributeKind::kInt, true)
        .Run(InferConcat, EvaluateConcat));

}  // namespace
}  // namespace heddle::compiler
