// SPDX-License-Identifier: Apache-2.0
// Equal, Less, LessOrEqual, Greater, GreaterOrEqual with numpy's broadcasting:
// true as 1. No comparison with a NaN holds.
#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/half.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

template <typename T>
bool Holds(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessOrEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterOrEqual:
      return a >= b;
  }
  return false;
}

template <typename T>
TensorData Compared(Comparison comparison, const TensorData& a,
                    const TensorData& b, const Shape& shape) {
  TensorData y = TensorData::Zeros(DataType::kBool, shape);
  uint8_t* const out = y.bytes.data();
  const T *const u = a.as<T>(), *const v = b.as<T>();
  ForEachBroadcast(shape, BroadcastStrides(a.shape, shape),
                   BroadcastStrides(b.shape, shape),
                   [=](int64_t i, int64_t ia, int64_t ib) {
                     out[i] = Holds(comparison, u[ia], v[ib]);
                   });
  return y;
}

Results EvaluateComparison(Comparison comparison, const Node& node,
                           const Inputs& inputs) {
  const Widened wide(inputs);
  const TensorData& a = *wide[0];
  const TensorData& b = *wide[1];
  Shape shape;
  if (a.type != b.type || !BroadcastShapes(a.shape, b.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  switch (a.type) {
    case DataType::kDouble:
      return One(Compared<double>(comparison, a, b, shape));
    case DataType::kFloat:
      return One(Compared<float>(comparison, a, b, shape));
    case DataType::kBool:
    case DataType::kUint8:
      return One(Compared<uint8_t>(comparison, a, b, shape));
    case DataType::kInt8:
      return One(Compared<int8_t>(comparison, a, b, shape));
    case DataType::kUint16:
      return One(Compared<uint16_t>(comparison, a, b, shape));
    case DataType::kInt16:
      return One(Compared<int16_t>(comparison, a, b, shape));
    case DataType::kUint32:
      return One(Compared<uint32_t>(comparison, a, b, shape));
    case DataType::kInt32:
      return One(Compared<int32_t>(comparison, a, b, shape));
    case DataType::kUint64:
      return One(Compared<uint64_t>(comparison, a, b, shape));
    case DataType::kInt64:
      return One(Compared<int64_t>(comparison, a, b, shape));
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
}

template <Comparison comparison>
Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  return EvaluateComparison(comparison, node, inputs);
}

absl::Status Infer(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(InferBroadcastSameType(graph, node));
  const Shape shape = graph->tensors[node.outputs[0]].shape;
  return SetOutput(graph, node, 0, DataType::kBool, shape);
}

template <Comparison comparison>
OperatorInfo Comparing(const char* op, int since, int until, TypeSet types) {
  return Define(op, since, until)
      .Inputs(2, 2, types)
      .Run(Infer, Evaluate<comparison>);
}

constexpr TypeSet kOrdered = kNumbers | kDoubles;
constexpr TypeSet kBools = Types(DataType::kBool);

const OperatorRegistration kOperators[] = {
    OperatorRegistration(
        Comparing<Comparison::kEqual>("Equal", 7, 10, kIndices | kBools)),
    OperatorRegistration(Comparing<Comparison::kEqual>("Equal", 11, kMaxOpset,
                                                       kOrdered | kBools)),
    OperatorRegistration(
        Comparing<Comparison::kLess>("Less", 7, 8, kRealsAndDouble)),
    OperatorRegistration(
        Comparing<Comparison::kLess>("Less", 9, kMaxOpset, kOrdered)),
    OperatorRegistration(
        Comparing<Comparison::kGreater>("Greater", 7, 8, kRealsAndDouble)),
    OperatorRegistration(
        Comparing<Comparison::kGreater>("Greater", 9, kMaxOpset, kOrdered)),
    OperatorRegistration(Comparing<Comparison::kLessOrEqual>(
        "LessOrEqual", 12, kMaxOpset, kOrdered)),
    OperatorRegistration(Comparing<Comparison::kGreaterOrEqual>(
        "GreaterOrEqual", 12, kMaxOpset, kOrdered)),
};

}  // namespace
}  // namespace heddle::compiler
