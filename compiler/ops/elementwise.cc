// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div with numpy's broadcasting. fp32 has one rounding; float16
// is computed in fp32 and rounded once more; integers wrap, and an integer
// division by zero is an error.
#include <limits>
#include <type_traits>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
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
    return RefuseNode(Refusal::kInvalidModel, node, "operands have types ",
                      DataTypeName(a.type), " and ", DataTypeName(b.type),
                      ", which must be equal");
  }
  Shape shape;
  if (!BroadcastShapes(a.shape, b.shape, &shape)) {
    return RefuseNode(Refusal::kMismatchingShape, node, "shapes ",
                      ShapeToString(a.shape), " and ", ShapeToString(b.shape),
                      " cannot be broadcast to one another");
  }
  return SetOutput(graph, node, 0, a.type, shape);
}

template <Arithmetic op>
Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& a = *inputs[0];
  const TensorData& b = *inputs[1];
  Shape shape;
  if (a.type != b.type || !BroadcastShapes(a.shape, b.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  TensorData y = TensorData::Zeros(a.type, shape);
  const auto a_strides = BroadcastStrides(a.shape, shape);
  const auto b_strides = BroadcastStrides(b.shape, shape);
  bool division_by_zero = false;
  const auto integers = [&](auto zero) {
    using T = decltype(zero);
    T* out = y.as<T>();
    ForEachBroadcast(shape, a_strides, b_strides,
                     [&](int64_t i, int64_t ia, int64_t ib) {
                       const T divisor = b.as<T>()[ib];
                       if (op == Arithmetic::kDiv && divisor == 0) {
                         division_by_zero = true;
                         return;
                       }
                       out[i] = ComputeInteger<T>(op, a.as<T>()[ia], divisor);
                     });
  };
  switch (a.type) {
    case DataType::kFloat:
      ForEachBroadcast(shape, a_strides, b_strides,
                       [&](int64_t i, int64_t ia, int64_t ib) {
                         y.as<float>()[i] =
                             Compute(op, a.as<float>()[ia], b.as<float>()[ib]);
                       });
      break;
    case DataType::kFloat16:
      ForEachBroadcast(shape, a_strides, b_strides,
                       [&](int64_t i, int64_t ia, int64_t ib) {
                         y.as<uint16_t>()[i] = model::F32ToF16(
                             Compute(op, model::F16ToF32(a.as<uint16_t>()[ia]),
                                     model::F16ToF32(b.as<uint16_t>()[ib])));
                       });
      break;
    case DataType::kUint8:
      integers(uint8_t{});
      break;
    case DataType::kInt8:
      integers(int8_t{});
      break;
    case DataType::kUint16:
      integers(uint16_t{});
      break;
    case DataType::kInt16:
      integers(int16_t{});
      break;
    case DataType::kUint32:
      integers(uint32_t{});
      break;
    case DataType::kInt32:
      integers(int32_t{});
      break;
    case DataType::kUint64:
      integers(uint64_t{});
      break;
    case DataType::kInt64:
      integers(int64_t{});
      break;
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
  if (division_by_zero) {
    return absl::InvalidArgumentError(node.Describe() +
                                      ": integer division by zero");
  }
  return One(std::move(y));
}

OperatorInfo Binary(const char* op, decltype(OperatorInfo::evaluate) evaluate) {
  return Define(op, 7, kMaxOpset).Inputs(2, 2, kNumbers).Run(Infer, evaluate);
}

const OperatorRegistration kAdd(Binary("Add", Evaluate<Arithmetic::kAdd>));
const OperatorRegistration kSub(Binary("Sub", Evaluate<Arithmetic::kSub>));
const OperatorRegistration kMul(Binary("Mul", Evaluate<Arithmetic::kMul>));
const OperatorRegistration kDiv(Binary("Div", Evaluate<Arithmetic::kDiv>));

}  // namespace
}  // namespace heddle::compiler
