// SPDX-License-Identifier: Apache-2.0
// QLinearAdd: ra = f32(as/cs), rb = f32(bs/cs),
//   k = f32(cz - fma(ra, az, f32(rb*bz))), y = RSO(fma(a, ra, fma(b, rb, k)))
// on raw codes. The operands change places when a is the repeated one in the
// innermost dimension that is not 1 in both.
// QLinearMul: r = f32(f32(as*bs)/cs), P = (a-az)*(b-bz),
//   y = RSO(f32(f32(P*r) + f32(cz))).
#include <algorithm>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kCScale, kCZero };

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, kA);
  const Tensor& b = InputOf(*graph, node, kB);
  for (const absl::Status& s :
       {CheckScalarParameters(*graph, node, kAScale, a.type),
        CheckScalarParameters(*graph, node, kBScale, b.type),
        CheckScalarParameters(*graph, node, kCScale, a.type)}) {
    RETURN_IF_ERROR(s);
  }
  if (a.type != b.type) {
    return RejectNode(Rejection::kInvalidModel, node, "operands have types ",
                      DataTypeName(a.type), " and ", DataTypeName(b.type),
                      ", which must be equal");
  }
  Shape shape;
  if (!BroadcastShapes(a.shape, b.shape, &shape)) {
    return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                      ShapeToString(a.shape), " and ", ShapeToString(b.shape),
                      " cannot be broadcast to one another");
  }
  return SetOutput(graph, node, 0, a.type, shape);
}

// True if, from the innermost dimension outward, the first one that is not 1
// in both operands is 1 in a.
bool Swaps(const Shape& a, const Shape& b) {
  for (size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
    const int64_t da = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t db = i <= b.size() ? b[b.size() - i] : 1;
    if (da != 1 || db != 1) return da == 1;
  }
  return false;
}

struct Operand {
  const TensorData* codes;
  float scale;
  int32_t zero;
};

Results EvaluateAdd(const Graph&, const Node&, const Inputs& inputs) {
  Operand a{inputs[kA], ScalarF32(*inputs[kAScale]), ZeroPoint(inputs[kAZero])};
  Operand b{inputs[kB], ScalarF32(*inputs[kBScale]), ZeroPoint(inputs[kBZero])};
  const float cs = ScalarF32(*inputs[kCScale]);
  const int32_t cz = ZeroPoint(At(inputs, kCZero));
  if (Swaps(a.codes->shape, b.codes->shape)) std::swap(a, b);
  Shape shape;
  BroadcastShapes(a.codes->shape, b.codes->shape, &shape);
  const float ra = model::FDiv(a.scale, cs);
  const float rb = model::FDiv(b.scale, cs);
  const float k =
      model::FSub(model::I32ToF32(cz),
                  model::Fma(ra, model::I32ToF32(a.zero),
                             model::FMul(rb, model::I32ToF32(b.zero))));
  TensorData y = TensorData::Zeros(a.codes->type, shape);
  const bool is_signed = y.type == DataType::kInt8;
  ForEachBroadcast(shape, BroadcastStrides(a.codes->shape, shape),
                   BroadcastStrides(b.codes->shape, shape),
                   [&](int64_t i, int64_t ia, int64_t ib) {
                     const float t = model::Fma(
                         model::I32ToF32(LoadQuantized(*b.codes, ib)), rb, k);
                     const float u = model::Fma(
                         model::I32ToF32(LoadQuantized(*a.codes, ia)), ra, t);
                     StoreQuantized(model::Rso(u, is_signed), i, &y);
                   });
  return One(std::move(y));
}

Results EvaluateMul(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& a = *inputs[kA];
  const TensorData& b = *inputs[kB];
  const int32_t az = ZeroPoint(inputs[kAZero]), bz = ZeroPoint(inputs[kBZero]);
  const float cz = model::I32ToF32(ZeroPoint(At(inputs, kCZero)));
  const float r = model::FDiv(
      model::FMul(ScalarF32(*inputs[kAScale]), ScalarF32(*inputs[kBScale])),
      ScalarF32(*inputs[kCScale]));
  Shape shape;
  BroadcastShapes(a.shape, b.shape, &shape);
  TensorData y = TensorData::Zeros(a.type, shape);
  const bool is_signed = y.type == DataType::kInt8;
  ForEachBroadcast(
      shape, BroadcastStrides(a.shape, shape), BroadcastStrides(b.shape, shape),
      [&](int64_t i, int64_t ia, int64_t ib) {
        const int32_t product =
            (LoadQuantized(a, ia) - az) * (LoadQuantized(b, ib) - bz);
        const float v =
            model::FAdd(model::FMul(model::I32ToF32(product), r), cz);
        StoreQuantized(model::Rso(v, is_signed), i, &y);
      });
  return One(std::move(y));
}

OperatorInfo Binary(const char* op, decltype(OperatorInfo::evaluate) evaluate) {
  return Define(op, 1, 1)
      .Domain("com.microsoft")
      .Inputs(7, 8, kQuantizedValues, kFloats, kQuantizedValues,
              kQuantizedValues, kFloats, kQuantizedValues, kFloats,
              kQuantizedValues)
      .Optional(kAZero, kBZero)
      .Run(Infer, evaluate);
}

const OperatorRegistration kQLinearAdd(Binary("QLinearAdd", EvaluateAdd));
const OperatorRegistration kQLinearMul(Binary("QLinearMul", EvaluateMul));

}  // namespace
}  // namespace heddle::compiler
