// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div with numpy's broadcasting. fp32 has one rounding; float16
// is computed in fp32 and rounded once more; integers wrap. Where ONNX leaves
// an integer division open it is ISA.md's: by zero it gives all ones, and the
// lowest value by -1 itself.
#include <limits>
#include <type_traits>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

enum class Arithmetic { kAdd, kSub, kMul, kDiv };

float Compute(Arithmetic op, float a, float b) {
  switch (op) {
    case Arithmetic::kAdd:
      return model::FAdd(a, b);
    case Arithmetic::kSub:
      return model::FSub(a, b);
    case Arithmetic::kMul:
      return model::FMul(a, b);
    case Arithmetic::kDiv:
      return model::FDiv(a, b);
  }
  return 0;
}

template <typename T>
T ComputeInteger(Arithmetic op, T a, T b) {
  // 64 bits unsigned: wraps without overflow, then truncates to T.
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case Arithmetic::kAdd:
      return static_cast<T>(ua + ub);
    case Arithmetic::kSub:
      return static_cast<T>(ua - ub);
    case Arithmetic::kMul:
      return static_cast<T>(ua * ub);
    case Arithmetic::kDiv:
      if (b == 0) return static_cast<T>(~uint64_t{0});
      if (std::is_signed<T>::value && b == static_cast<T>(-1)) {
        return static_cast<T>(0 - ua);  // the lowest value wraps to itself
      }
      return static_cast<T>(a / b);
  }
  return 0;
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, 0);
  const Tensor& b = InputOf(*graph, node, 1);
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

// The operands of one node with the strides that broadcast them.
struct Operands {
  const TensorData& a;
  const TensorData& b;
  Shape shape;
  std::vector<int64_t> a_strides, b_strides;
};

// Calls body with the operation as a constant of its type.
template <typename Body>
void ForArithmetic(Arithmetic op, Body body) {
  switch (op) {
    case Arithmetic::kAdd:
      return body(std::integral_constant<Arithmetic, Arithmetic::kAdd>());
    case Arithmetic::kSub:
      return body(std::integral_constant<Arithmetic, Arithmetic::kSub>());
    case Arithmetic::kMul:
      return body(std::integral_constant<Arithmetic, Arithmetic::kMul>());
    case Arithmetic::kDiv:
      return body(std::integral_constant<Arithmetic, Arithmetic::kDiv>());
  }
}

template <typename T>
void ComputeIntegers(Arithmetic op, const Operands& in, TensorData* y) {
  const T* const a = in.a.as<T>();
  const T* const b = in.b.as<T>();
  T* const out = y->as<T>();
  ForArithmetic(op, [&](auto constant) {
    ForEachBroadcast(in.shape, in.a_strides, in.b_strides,
                     [=](int64_t i, int64_t ia, int64_t ib) {
                       out[i] = ComputeInteger<T>(constant(), a[ia], b[ib]);
                     });
  });
}

template <Arithmetic op>
double ComputeDouble(const Node&, const double* x) {
  switch (op) {
    case Arithmetic::kAdd:
      return x[0] + x[1];
    case Arithmetic::kSub:
      return x[0] - x[1];
    case Arithmetic::kMul:
      return x[0] * x[1];
    case Arithmetic::kDiv:
      return x[0] / x[1];
  }
  return 0;
}

void ComputeReals(Arithmetic op, const Operands& in, TensorData* y) {
  if (y->type == DataType::kFloat16) {
    const auto *const a = in.a.as<uint16_t>(), *const b = in.b.as<uint16_t>();
    uint16_t* const out = y->as<uint16_t>();
    ForEachBroadcast(in.shape, in.a_strides, in.b_strides,
                     [=](int64_t i, int64_t ia, int64_t ib) {
                       out[i] = model::F32ToF16(Compute(
                           op, model::F16ToF32(a[ia]), model::F16ToF32(b[ib])));
                     });
    return;
  }
  const float *const a = in.a.as<float>(), *const b = in.b.as<float>();
  float* const out = y->as<float>();
  ForArithmetic(op, [&](auto constant) {
    ForEachBroadcast(in.shape, in.a_strides, in.b_strides,
                     [=](int64_t i, int64_t ia, int64_t ib) {
                       out[i] = Compute(constant(), a[ia], b[ib]);
                     });
  });
}

Results EvaluateArithmetic(Arithmetic op, const Node& node,
                           const Inputs& inputs) {
  const TensorData& a = *inputs[0];
  const TensorData& b = *inputs[1];
  Operands in{a, b, {}, {}, {}};
  if (a.type != b.type || !BroadcastShapes(a.shape, b.shape, &in.shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  in.a_strides = BroadcastStrides(a.shape, in.shape);
  in.b_strides = BroadcastStrides(b.shape, in.shape);
  TensorData y = TensorData::Zeros(a.type, in.shape);
  switch (a.type) {
    case DataType::kFloat:
    case DataType::kFloat16:
      ComputeReals(op, in, &y);
      break;
    case DataType::kUint8:
      ComputeIntegers<uint8_t>(op, in, &y);
      break;
    case DataType::kInt8:
      ComputeIntegers<int8_t>(op, in, &y);
      break;
    case DataType::kUint16:
      ComputeIntegers<uint16_t>(op, in, &y);
      break;
    case DataType::kInt16:
      ComputeIntegers<int16_t>(op, in, &y);
      break;
    case DataType::kUint32:
      ComputeIntegers<uint32_t>(op, in, &y);
      break;
    case DataType::kInt32:
      ComputeIntegers<int32_t>(op, in, &y);
      break;
    case DataType::kUint64:
      ComputeIntegers<uint64_t>(op, in, &y);
      break;
    case DataType::kInt64:
      ComputeIntegers<int64_t>(op, in, &y);
      break;
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
  return One(std::move(y));
}

template <Arithmetic op>
Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  if (inputs[0]->type == DataType::kDouble) {
    return MapDoubles(graph, node, inputs, ComputeDouble<op>);
  }
  return EvaluateArithmetic(op, node, inputs);
}

OperatorInfo Binary(const char* op, decltype(OperatorInfo::evaluate) evaluate) {
  return Define(op, 7, kMaxOpset)
      .Inputs(2, 2, kNumbers | kDoubles)
      .Run(Infer, evaluate);
}

const OperatorRegistration kAdd(Binary("Add", Evaluate<Arithmetic::kAdd>));
const OperatorRegistration kSub(Binary("Sub", Evaluate<Arithmetic::kSub>));
const OperatorRegistration kMul(Binary("Mul", Evaluate<Arithmetic::kMul>));
const OperatorRegistration kDiv(Binary("Div", Evaluate<Arithmetic::kDiv>));

}  // namespace
}  // namespace heddle::compiler
