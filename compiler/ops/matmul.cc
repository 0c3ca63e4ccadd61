// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm: one chain of fused multiply-adds over increasing k. The
// accumulator starts at +0; in Gemm with alpha = 1 it starts at f32(beta*C).
// With another alpha, Gemm multiplies the finished sum by alpha and adds
// f32(beta*C), each with its own rounding. A factor of 1 is not multiplied by.
// float16 is computed in fp32 and rounded once, at the end. The host multiplies
// doubles in binary64 and, in MatMul, integers modulo 2^32 or 2^64.
#include "compiler/ops/matmul.h"

#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/half.h"
#include "compiler/ops/strided.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

absl::StatusOr<MatMulShape> ResolveMatMul(const Node& node, const Shape& a,
                                          const Shape& b) {
  if (a.empty() || b.empty()) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "operands are scalars: ", ShapeToString(a), " and ",
                      ShapeToString(b));
  }
  Shape a2 = a, b2 = b;
  if (a.size() == 1) a2.insert(a2.begin(), 1);
  if (b.size() == 1) b2.push_back(1);
  MatMulShape shape;
  shape.m = a2[a2.size() - 2];
  shape.k = a2.back();
  shape.n = b2.back();
  const Shape a_stack(a2.begin(), a2.end() - 2);
  const Shape b_stack(b2.begin(), b2.end() - 2);
  Shape stack;
  if (b2[b2.size() - 2] != shape.k ||
      !BroadcastShapes(a_stack, b_stack, &stack)) {
    return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                      ShapeToString(a), " and ", ShapeToString(b),
                      " cannot be multiplied");
  }
  shape.batches = ElementCount(stack);
  shape.output = stack;
  if (a.size() > 1) shape.output.push_back(shape.m);
  if (b.size() > 1) shape.output.push_back(shape.n);
  if (shape.batches > (int64_t{1} << 24)) {
    return RejectNode(
        Rejection::kUnsupportedShape, node,
        "at most 16777216 matrices are multiplied, but there are ",
        shape.batches);
  }
  ForEachBroadcast(stack, BroadcastStrides(a_stack, stack),
                   BroadcastStrides(b_stack, stack),
                   [&shape](int64_t, int64_t ia, int64_t ib) {
                     shape.a_matrix.push_back(ia);
                     shape.b_matrix.push_back(ib);
                   });
  return shape;
}

absl::StatusOr<GemmShape> ResolveGemm(const Node& node, const Shape& a,
                                      const Shape& b) {
  if (a.size() != 2 || b.size() != 2) {
    return RejectNode(Rejection::kMismatchingShape, node,
                      "operands must be matrices, their shapes are ",
                      ShapeToString(a), " and ", ShapeToString(b));
  }
  GemmShape shape;
  shape.trans_a = node.IntAttribute("transA", 0) != 0;
  shape.trans_b = node.IntAttribute("transB", 0) != 0;
  shape.m = shape.trans_a ? a[1] : a[0];
  shape.k = shape.trans_a ? a[0] : a[1];
  shape.n = shape.trans_b ? b[0] : b[1];
  const int64_t b_k = shape.trans_b ? b[1] : b[0];
  if (b_k != shape.k) {
    return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                      ShapeToString(a), " and ", ShapeToString(b),
                      " cannot be multiplied");
  }
  return shape;
}

absl::Status CheckGemmBias(const Node& node, const GemmShape& shape,
                           const Shape& c) {
  const Shape output = {shape.m, shape.n};
  Shape common;
  if (BroadcastShapes(c, output, &common) && common == output) {
    return absl::OkStatus();
  }
  return RejectNode(Rejection::kMismatchingShape, node, "C of shape ",
                    ShapeToString(c), " does not broadcast to ",
                    ShapeToString(output));
}

namespace {

absl::Status InferMatMul(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(
      auto shape, ResolveMatMul(node, a.shape, InputOf(*graph, node, 1).shape));
  return SetOutput(graph, node, 0, a.type, shape.output);
}

// The product of every pair of matrices.
template <typename T>
void MultiplyAll(const MatMulShape& shape, const TensorData& a,
                 const TensorData& b,
                 void (*multiply)(int64_t m, int64_t k, int64_t n, const T* a,
                                  const T* b, T* y),
                 TensorData* y) {
  for (int64_t i = 0; i < shape.batches; ++i) {
    multiply(shape.m, shape.k, shape.n,
             a.as<T>() + shape.a_matrix[i] * shape.m * shape.k,
             b.as<T>() + shape.b_matrix[i] * shape.k * shape.n,
             y->as<T>() + i * shape.m * shape.n);
  }
}

Results EvaluateMatMul(const Graph&, const Node& node, const Inputs& inputs) {
  const Widened wide(inputs);
  ASSIGN_OR_RETURN(auto shape,
                   ResolveMatMul(node, wide[0]->shape, wide[1]->shape));
  const TensorData &a = *wide[0], &b = *wide[1];
  TensorData y = TensorData::Zeros(a.type, shape.output);
  switch (a.type) {
    case DataType::kDouble:
      MultiplyAll<double>(shape, a, b, MultiplyF64, &y);
      return One(std::move(y));
    case DataType::kInt32:
    case DataType::kUint32:
      MultiplyAll<int32_t>(shape, a, b, MultiplyI32, &y);
      return One(std::move(y));
    case DataType::kInt64:
    case DataType::kUint64:
      MultiplyAll<uint64_t>(shape, a, b, MultiplyI64, &y);
      return One(std::move(y));
    default:
      MultiplyAll<float>(shape, a, b, MultiplyF32, &y);
  }
  float* values = y.as<float>();
  for (int64_t i = 0; i < y.count(); ++i) {
    PaceAt(i);
    values[i] = model::Canonical(values[i]);
  }
  return One(Narrowed(std::move(y), inputs[0]->type));
}

absl::Status InferGemm(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto shape,
                   ResolveGemm(node, a.shape, InputOf(*graph, node, 1).shape));
  if (HasInput(node, 2)) {
    RETURN_IF_ERROR(CheckGemmBias(node, shape, InputOf(*graph, node, 2).shape));
  }
  return SetOutput(graph, node, 0, a.type, {shape.m, shape.n});
}

TensorData GemmOfDoubles(const Node& node, const GemmShape& shape,
                         const Inputs& inputs) {
  const auto a =
      Transposed(inputs[0]->as<double>(), shape.m, shape.k, shape.trans_a);
  const auto b =
      Transposed(inputs[1]->as<double>(), shape.k, shape.n, shape.trans_b);
  const double alpha = node.FloatAttribute("alpha", 1.0f);
  const double beta = node.FloatAttribute("beta", 1.0f);
  TensorData y = TensorData::Zeros(DataType::kDouble, {shape.m, shape.n});
  double* values = y.as<double>();
  MultiplyF64(shape.m, shape.k, shape.n, a.data(), b.data(), values);
  for (int64_t i = 0; i < y.count(); ++i) values[i] *= alpha;
  if (const TensorData* c = At(inputs, 2)) {
    const auto strides = BroadcastStrides(c->shape, y.shape);
    ForEachBroadcast(y.shape, strides, strides,
                     [&](int64_t i, int64_t ic, int64_t) {
                       values[i] += beta * c->as<double>()[ic];
                     });
  }
  return y;
}

// The [rows, columns] of an operand: its own, or a copy in `*copy`.
const float* Straight(const TensorData& data, int64_t rows, int64_t columns,
                      bool transposed, std::vector<float>* copy) {
  if (!transposed) return data.as<float>();
  copy->resize(static_cast<size_t>(rows * columns));
  CopyStrided({rows, columns}, {1, rows}, sizeof(float), data.bytes.data(),
              reinterpret_cast<uint8_t*>(copy->data()));
  return copy->data();
}

Results EvaluateGemm(const Graph&, const Node& node, const Inputs& inputs) {
  const Widened wide(inputs);
  ASSIGN_OR_RETURN(auto shape,
                   ResolveGemm(node, wide[0]->shape, wide[1]->shape));
  if (inputs[0]->type == DataType::kDouble) {
    return One(GemmOfDoubles(node, shape, inputs));
  }
  std::vector<float> copies[2];
  const float* const a =
      Straight(*wide[0], shape.m, shape.k, shape.trans_a, &copies[0]);
  const float* const b =
      Straight(*wide[1], shape.k, shape.n, shape.trans_b, &copies[1]);
  const float alpha = node.FloatAttribute("alpha", 1.0f);
  const float beta = node.FloatAttribute("beta", 1.0f);
  TensorData y = TensorData::Zeros(DataType::kFloat, {shape.m, shape.n});
  TensorData term = y;
  if (const TensorData* c = wide[2]) {
    const auto strides = BroadcastStrides(c->shape, y.shape);
    ForEachBroadcast(
        y.shape, strides, strides, [&](int64_t i, int64_t ic, int64_t) {
          const float v = c->as<float>()[ic];
          term.as<float>()[i] = beta != 1.0f ? model::FMul(v, beta) : v;
        });
    if (alpha == 1.0f) std::swap(y, term);
  }
  float* values = y.as<float>();
  MultiplyF32(shape.m, shape.k, shape.n, a, b, values);
  for (int64_t i = 0; i < y.count(); ++i) {
    PaceAt(i);
    values[i] = model::Canonical(values[i]);
    if (alpha == 1.0f) continue;
    values[i] = model::FMul(values[i], alpha);
    if (wide[2] != nullptr) {
      values[i] = model::FAdd(values[i], term.as<float>()[i]);
    }
  }
  return One(Narrowed(std::move(y), inputs[0]->type));
}

// Since opset 9.
constexpr TypeSet kWhole = Types(DataType::kInt32, DataType::kInt64,
                                 DataType::kUint32, DataType::kUint64);

OperatorInfo MatMul(int since, int until, TypeSet types) {
  return Define("MatMul", since, until)
      .Inputs(2, 2, types)
      .Run(InferMatMul, EvaluateMatMul);
}

const OperatorRegistration kMatMul1(MatMul(1, 8, kRealsAndDouble));
const OperatorRegistration kMatMul9(MatMul(9, kMaxOpset,
                                           kRealsAndDouble | kWhole));

// Before opset 11 there is always a C.
Define Gemm(int since, int until, int min_inputs) {
  Define define("Gemm", since, until);
  define.Inputs(min_inputs, 3, kRealsAndDouble)
      .Attr("alpha", AttributeKind::kFloat)
      .Attr("beta", AttributeKind::kFloat)
      .Attr("transA", AttributeKind::kInt)
      .Attr("transB", AttributeKind::kInt);
  return define;
}

const OperatorRegistration kGemm7(Gemm(7, 10, 3).Run(InferGemm, EvaluateGemm));
const OperatorRegistration kGemm11(
    Gemm(11, kMaxOpset, 2).Run(InferGemm, EvaluateGemm));

}  // namespace
}  // namespace heddle::compiler
