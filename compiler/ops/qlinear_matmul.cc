// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul, QGemm: acc = C + sum over k of (a - az) * (b - bz[n]) in
// int32, wrapping; y = CRO(f32(f32(acc) * M[n]), yz).
//   QLinearMatMul  M[n] = f32(f32(as * bs[n]) / ys)
//   QGemm          M[n] = f32(f32(f32(alpha * as) * bs[n]) / ys)
// QGemm without y_scale gives float: f32(f32(acc) * f32(f32(alpha*as)*bs[n])).
// MatMulIntegerToFloat: f32(f32(acc) * f32(as * bs[n])), then f32(. + bias[n]).
#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/matmul.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

namespace mm {
enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };
}  // namespace mm
namespace qg {
enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kC, kYScale, kYZero };
}  // namespace qg
namespace itf {
enum Input { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };
}  // namespace itf

// acc[batches, m, n].
std::vector<int32_t> Accumulate(const MatMulShape& shape, const TensorData& a,
                                const TensorData* a_zero, const TensorData& b,
                                const TensorData* b_zero) {
  const auto ac = Centered(a, a_zero, 1, 0);
  const auto bc = Centered(b, b_zero, shape.n, 1);
  std::vector<int32_t> acc(
      static_cast<size_t>(shape.batches * shape.m * shape.n));
  for (int64_t i = 0; i < shape.batches; ++i) {
    MultiplyI32(shape.m, shape.k, shape.n,
                ac.data() + shape.a_matrix[i] * shape.m * shape.k,
                bc.data() + shape.b_matrix[i] * shape.k * shape.n,
                acc.data() + i * shape.m * shape.n);
  }
  return acc;
}

absl::Status RequireEqualTypes(const Node& node, DataType in, DataType out) {
  if (in == out) return absl::OkStatus();
  return RejectNode(Rejection::kUnsupportedDatatype, node, "the input is ",
                    DataTypeName(in), " and the output ", DataTypeName(out),
                    ", they must be equal");
}

absl::Status InferMatMul(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, mm::kA);
  const Tensor& b = InputOf(*graph, node, mm::kB);
  ASSIGN_OR_RETURN(auto shape, ResolveMatMul(node, a.shape, b.shape));
  const DataType y_type = InputOf(*graph, node, mm::kYZero).type;
  for (const absl::Status& s :
       {CheckScalarParameters(*graph, node, mm::kAScale, a.type),
        CheckChannelParameters(*graph, node, mm::kBScale, b.type, shape.n),
        CheckScalarParameters(*graph, node, mm::kYScale, y_type),
        RequireEqualTypes(node, a.type, y_type)}) {
    RETURN_IF_ERROR(s);
  }
  return SetOutput(graph, node, 0, y_type, shape.output);
}

Results EvaluateMatMul(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto shape, ResolveMatMul(node, inputs[mm::kA]->shape,
                                             inputs[mm::kB]->shape));
  const auto acc = Accumulate(shape, *inputs[mm::kA], inputs[mm::kAZero],
                              *inputs[mm::kB], inputs[mm::kBZero]);
  const int32_t yz = ZeroPoint(inputs[mm::kYZero]);
  TensorData y = TensorData::Zeros(inputs[mm::kYZero]->type, shape.output);
  const auto multiplier = [&](int64_t n) {
    return model::FDiv(model::FMul(ScalarF32(*inputs[mm::kAScale]),
                                   ScaleAt(*inputs[mm::kBScale], n)),
                       ScalarF32(*inputs[mm::kYScale]));
  };
  const auto count = static_cast<int64_t>(acc.size());
  if (inputs[mm::kBScale]->count() == 1) {
    Requantize(acc.data(), count, multiplier(0), yz, y.type, y.bytes.data());
    return One(std::move(y));
  }
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    StoreQuantized(Requantize(acc[i], multiplier(i % shape.n), yz, y.type), i,
                   &y);
  }
  return One(std::move(y));
}

absl::Status InferGemm(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, qg::kA);
  const Tensor& b = InputOf(*graph, node, qg::kB);
  ASSIGN_OR_RETURN(auto shape, ResolveGemm(node, a.shape, b.shape));
  for (const absl::Status& s :
       {CheckScalarParameters(*graph, node, qg::kAScale, a.type),
        CheckChannelParameters(*graph, node, qg::kBScale, b.type, shape.n)}) {
    RETURN_IF_ERROR(s);
  }
  if (HasInput(node, qg::kC)) {
    const Tensor& c = InputOf(*graph, node, qg::kC);
    RETURN_IF_ERROR(CheckGemmBias(node, shape, c.shape));
  }
  DataType y_type = DataType::kFloat;
  if (HasInput(node, qg::kYScale) != HasInput(node, qg::kYZero)) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "y_scale and y_zero_point must be given together");
  }
  if (HasInput(node, qg::kYZero)) {
    y_type = InputOf(*graph, node, qg::kYZero).type;
    for (const absl::Status& s :
         {CheckScalarParameters(*graph, node, qg::kYScale, y_type),
          RequireEqualTypes(node, a.type, y_type)}) {
      RETURN_IF_ERROR(s);
    }
  }
  return SetOutput(graph, node, 0, y_type, {shape.m, shape.n});
}

Results EvaluateGemm(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& a = *inputs[qg::kA];
  const TensorData& b = *inputs[qg::kB];
  ASSIGN_OR_RETURN(auto shape, ResolveGemm(node, a.shape, b.shape));
  // Zero points of B are per column of B after transposition.
  const auto ac = Transposed(Centered(a, inputs[qg::kAZero], 1, 0).data(),
                             shape.m, shape.k, shape.trans_a);
  const int64_t b_block = shape.trans_b ? shape.k : 1;
  const auto bc =
      Transposed(Centered(b, inputs[qg::kBZero], shape.n, b_block).data(),
                 shape.k, shape.n, shape.trans_b);
  std::vector<int32_t> acc(static_cast<size_t>(shape.m * shape.n));
  const Shape output = {shape.m, shape.n};
  if (const TensorData* c = At(inputs, qg::kC)) {
    const auto strides = BroadcastStrides(c->shape, output);
    ForEachBroadcast(
        output, strides, strides,
        [&](int64_t i, int64_t ic, int64_t) { acc[i] = c->as<int32_t>()[ic]; });
  }
  MultiplyI32(shape.m, shape.k, shape.n, ac.data(), bc.data(), acc.data());
  const TensorData* y_zero = At(inputs, qg::kYZero);
  const float alpha = node.FloatAttribute("alpha", 1.0f);
  TensorData y =
      TensorData::Zeros(y_zero ? y_zero->type : DataType::kFloat, output);
  for (size_t i = 0; i < acc.size(); ++i) {
    PaceAt(i);
    const auto at = static_cast<int64_t>(i);
    float multiplier =
        model::FMul(model::FMul(alpha, ScalarF32(*inputs[qg::kAScale])),
                    ScaleAt(*inputs[qg::kBScale], at % shape.n));
    if (y_zero == nullptr) {
      y.as<float>()[at] = model::FMul(model::I32ToF32(acc[i]), multiplier);
      continue;
    }
    multiplier = model::FDiv(multiplier, ScalarF32(*inputs[qg::kYScale]));
    StoreQuantized(Requantize(acc[i], multiplier, ZeroPoint(y_zero), y.type),
                   at, &y);
  }
  return One(std::move(y));
}

absl::Status InferToFloat(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, itf::kA);
  const Tensor& b = InputOf(*graph, node, itf::kB);
  ASSIGN_OR_RETURN(auto shape, ResolveMatMul(node, a.shape, b.shape));
  const auto check = [&](size_t i, DataType type, int64_t channels) {
    if (!HasInput(node, i)) return absl::OkStatus();
    const Tensor& t = InputOf(*graph, node, i);
    const int64_t count = ElementCount(t.shape);
    if (t.type == type &&
        (count == 1 || (t.shape.size() == 1 && count == channels))) {
      return absl::OkStatus();
    }
    return RejectNode(t.type != type ? Rejection::kMismatchingDatatype
                                     : Rejection::kMismatchingShape,
                      node, "input '", t.name, "' is ", DataTypeName(t.type),
                      ShapeToString(t.shape), ", must be ", DataTypeName(type),
                      " with 1 or ", channels, " elements");
  };
  for (const absl::Status& s :
       {check(itf::kAScale, DataType::kFloat, 1),
        check(itf::kBScale, DataType::kFloat, shape.n),
        check(itf::kAZero, a.type, 1), check(itf::kBZero, b.type, shape.n),
        check(itf::kBias, DataType::kFloat, shape.n)}) {
    RETURN_IF_ERROR(s);
  }
  return SetOutput(graph, node, 0, DataType::kFloat, shape.output);
}

Results EvaluateToFloat(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto shape, ResolveMatMul(node, inputs[itf::kA]->shape,
                                             inputs[itf::kB]->shape));
  const auto acc = Accumulate(shape, *inputs[itf::kA], At(inputs, itf::kAZero),
                              *inputs[itf::kB], At(inputs, itf::kBZero));
  const TensorData* bias = At(inputs, itf::kBias);
  TensorData y = TensorData::Zeros(DataType::kFloat, shape.output);
  for (size_t i = 0; i < acc.size(); ++i) {
    PaceAt(i);
    const auto n = static_cast<int64_t>(i) % shape.n;
    const float scale = model::FMul(ScalarF32(*inputs[itf::kAScale]),
                                    ScaleAt(*inputs[itf::kBScale], n));
    float value = model::FMul(model::I32ToF32(acc[i]), scale);
    if (bias != nullptr) value = model::FAdd(value, ScaleAt(*bias, n));
    y.as<float>()[i] = value;
  }
  return One(std::move(y));
}

absl::Status ExpandMatMul(Expansion* e) {
  RETURN_IF_ERROR(e->Check(InferMatMul));
  return ExpandComputedMatMul(e);
}

const ExpandedOperator kQLinearMatMul(
    Define("QLinearMatMul", 10, kMaxOpset)
        .Inputs(8, 8, kQuantizedValues, kFloats, kQuantizedValues,
                kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kQuantizedValues),
    ExpandMatMul, HasComputedParameters, InferMatMul, EvaluateMatMul);
const OperatorRegistration kQGemm(Define("QGemm", 1, 1)
                                      .Domain("com.microsoft")
                                      .Inputs(6, 9, kQuantizedValues, kFloats,
                                              kQuantizedValues,
                                              kQuantizedValues, kFloats,
                                              kQuantizedValues, kInt32s,
                                              kFloats, kQuantizedValues)
                                      .Attr("alpha", AttributeKind::kFloat)
                                      .Attr("transA", AttributeKind::kInt)
                                      .Attr("transB", AttributeKind::kInt)
                                      .Run(InferGemm, EvaluateGemm));
const OperatorRegistration kMatMulIntegerToFloat(
    Define("MatMulIntegerToFloat", 1, 1)
        .Domain("com.microsoft")
        .Inputs(4, 7, kQuantizedValues, kQuantizedValues, kFloats, kFloats,
                kQuantizedValues, kQuantizedValues, kFloats)
        .Run(InferToFloat, EvaluateToFloat));

}  // namespace
}  // namespace heddle::compiler
