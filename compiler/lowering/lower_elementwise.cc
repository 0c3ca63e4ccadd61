// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div, Relu, Clip, QuantizeLinear, DequantizeLinear.
#include <array>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/ordered.h"
#include "compiler/schedule/loops.h"
#include "compiler/stream/quantize_reciprocal.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::MicroOp;

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

int64_t QuantizedMin(DataType type) {
  return type == DataType::kInt8 ? -128 : 0;
}
int64_t QuantizedMax(DataType type) {
  return type == DataType::kInt8 ? 127 : 255;
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

// `signed_op` and `unsigned_op` are the operation on integers.
template <MicroOp op, MicroOp signed_op, MicroOp unsigned_op>
absl::Status LowerBinary(Lowering* l, const Node& node) {
  const DataType type = l->tensor(node.outputs[0]).type;
  const Microprogram program =
      IsFloat(type)
          ? BinaryProgram(op)
          : IntegerProgram(
                OrderOf(type) == Order::kSigned ? signed_op : unsigned_op,
                VectorType(type == DataType::kInt64 ? DataType::kInt32 : type));
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  const std::vector<Operand> operands = {DenseOperand(l, node, 0, rank),
                                         DenseOperand(l, node, 1, rank)};
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, program, {}, operands, result);
  return absl::OkStatus();
}

absl::Status LowerUnary(Lowering* l, const Node& node,
                        const Microprogram& program,
                        const std::array<uint32_t, 4>& arguments) {
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  const std::vector<Operand> operands = {DenseOperand(l, node, 0, rank)};
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, arguments, operands, result),
         node);
  return absl::OkStatus();
}

absl::Status LowerRelu(Lowering* l, const Node& node) {
  if (!IsFloat(l->tensor(node.inputs[0]).type)) {
    return LowerUnary(l, node, IntegerClampProgram(), {0, INT32_MAX, 0, 0});
  }
  return LowerUnary(l, node, ReluProgram(), {});
}

// The element of a scalar constant as the vector engine loads it: bits of a
// float, or an integer.
uint32_t Loaded(const TensorData& data) {
  switch (data.type) {
    case DataType::kFloat:
    case DataType::kInt32:
    case DataType::kUint32:
      return *data.as<uint32_t>();
    case DataType::kUint16:
      return *data.as<uint16_t>();
    case DataType::kFloat16:
      return Bits(model::F16ToF32(*data.as<uint16_t>()));
    case DataType::kInt16:
      return static_cast<uint32_t>(*data.as<int16_t>());
    default:
      return static_cast<uint32_t>(CodeZero(&data));
  }
}

// Constant bounds are arguments of the command, computed ones streams of one
// element.
absl::Status LowerClip(Lowering* l, const Node& node) {
  const DataType type = l->tensor(node.inputs[0]).type;
  if (type == DataType::kUint32) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card clips integers that have a sign, or fewer than "
                      "32 bits; input 0 is ",
                      DataTypeName(type));
  }
  const float limit =
      type == DataType::kFloat16 ? 65504.0f : std::numeric_limits<float>::max();
  std::array<uint32_t, 4> arguments = {static_cast<uint32_t>(INT32_MIN),
                                       INT32_MAX, 0, 0};
  if (IsFloat(type)) {
    arguments[0] = Bits(node.FloatAttribute("min", -limit));
    arguments[1] = Bits(node.FloatAttribute("max", limit));
  }
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  std::vector<Operand> operands = {DenseOperand(l, node, 0, rank)};
  Term bounds[2] = {ProgramBuilder::Arg(0), ProgramBuilder::Arg(1)};
  for (int i : {0, 1}) {
    if (!HasInput(node, i + 1)) continue;
    const TensorData* bound = l->ConstantInput(node, i + 1);
    if (bound != nullptr) {
      arguments[i] = Loaded(*bound);
      continue;
    }
    bounds[i] = ProgramBuilder::Stream(static_cast<int>(operands.size()));
    const int value = l->ValueIn(node.inputs[i + 1], Layout::kDense, node);
    operands.push_back(Operand::Of(l->Reshaped(value, Shape(rank, 1))));
  }
  ProgramBuilder b;
  const bool real = IsFloat(type);
  const Term low = b.Op(real ? MicroOp::kFmax : MicroOp::kImax,
                        ProgramBuilder::A(), bounds[0]);
  b.Out(b.Op(real ? MicroOp::kFmin : MicroOp::kImin, low, bounds[1]));
  ASSIGN_OR_RETURN(auto program, b.Finish());
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, arguments, operands, result),
         node);
  return absl::OkStatus();
}

size_t AxisOf(const Node& node, size_t rank) {
  size_t axis = 0;
  NormalizeAxis(node.IntAttribute("axis", 1), rank, &axis);
  return axis;
}

// A scale or zero point, one or one per index of `axis`, constant or computed;
// an absent zero point is zeros of `type`.
Operand ParameterOperand(Lowering* l, const Node& node, size_t i, DataType type,
                         size_t rank, size_t axis) {
  Shape shape(rank, 1);
  if (!HasInput(node, i)) {
    return Operand::Constant(
        std::make_shared<TensorData>(TensorData::Zeros(type, shape)));
  }
  const int64_t count = ElementCount(l->tensor(node.inputs[i]).shape);
  if (count > 1) shape[axis] = count;
  if (const TensorData* data = l->ConstantInput(node, i)) {
    auto shaped = std::make_shared<TensorData>(*data);
    shaped->shape = shape;
    return Operand::Constant(std::move(shaped));
  }
  return Operand::Of(
      l->Reshaped(l->ValueIn(node.inputs[i], Layout::kDense, node), shape));
}

// With a scale or zero point that is computed: `program` reads both as streams.
absl::Status LowerWithParameters(Lowering* l, const Node& node, DataType codes,
                                 const Microprogram& program,
                                 const std::array<uint32_t, 4>& arguments) {
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  const size_t axis = AxisOf(node, rank);
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const std::vector<Operand> operands = {
      Operand::Of(from), ParameterOperand(l, node, 1, codes, rank, axis),
      ParameterOperand(l, node, 2, codes, rank, axis)};
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, program, arguments, operands, to);
  return absl::OkStatus();
}

absl::Status LowerQuantize(Lowering* l, const Node& node) {
  const TensorId out = node.outputs[0];
  const DataType type = l->tensor(out).type;
  const TensorData* scale = l->ConstantInput(node, 1);
  const TensorData* zero = l->ConstantInput(node, 2);
  const bool integers = l->tensor(node.inputs[0]).type == DataType::kInt32;
  if (scale == nullptr || (HasInput(node, 2) && zero == nullptr)) {
    return LowerWithParameters(l, node, type, QuantizeAxisProgram(integers),
                               {0, static_cast<uint32_t>(QuantizedMin(type)),
                                Bits(QuantizedMax(type)), 0});
  }
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const size_t rank = l->tensor(out).shape.size();
  const size_t axis = AxisOf(node, rank);
  const bool dense = scale->count() > 1 && !Operand::IsChannel(axis, rank);
  const int to = l->NewValue(out, dense ? Layout::kDense : l->LayoutFor(out));
  DeviceGraph* graph = &l->device();
  if (scale->count() == 1) {
    const int64_t z = CodeZero(zero);
    const float s = *scale->as<float>();
    const int64_t low = QuantizedMin(type) - z, high = QuantizedMax(type) - z;
    const auto fast = MakeQuantizeByReciprocal(
        s, static_cast<int32_t>(low), static_cast<int32_t>(high),
        static_cast<int32_t>(z), integers);
    l->Add(fast ? MakeElementwise(graph, fast->program, fast->arguments,
                                  {Operand::Of(from)}, to)
                : MakeElementwise(graph, QuantizeProgram(integers),
                                  {Bits(s), static_cast<uint32_t>(low),
                                   Bits(high), static_cast<uint32_t>(z)},
                                  {Operand::Of(from)}, to),
           node);
    return absl::OkStatus();
  }
  TensorData zeros = TensorData::Zeros(type, scale->shape);
  l->Add(MakeElementwise(
             graph, QuantizeAxisProgram(integers),
             {0, static_cast<uint32_t>(QuantizedMin(type)),
              Bits(QuantizedMax(type)), 0},
             {Operand::Of(from), Operand::PerChannel(*scale, rank, axis),
              Operand::PerChannel(zero ? *zero : zeros, rank, axis)},
             to),
         node);
  return absl::OkStatus();
}

absl::Status LowerDequantize(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const TensorData* scale = l->ConstantInput(node, 1);
  const TensorData* zero = l->ConstantInput(node, 2);
  if (scale == nullptr || (HasInput(node, 2) && zero == nullptr)) {
    return LowerWithParameters(l, node, l->tensor(in).type,
                               DequantizeAxisProgram(), {});
  }
  const size_t rank = l->tensor(out).shape.size();
  const size_t axis = AxisOf(node, rank);
  const bool dense = scale->count() > 1 && !Operand::IsChannel(axis, rank);
  const int from =
      dense ? l->ValueIn(in, Layout::kDense, node) : l->ValueOf(in, node);
  const int to = l->NewValue(out, Layout::kDense);
  DeviceGraph* graph = &l->device();
  if (scale->count() == 1) {
    l->Add(MakeElementwise(graph, DequantizeProgram(),
                           {Bits(*scale->as<float>()),
                            static_cast<uint32_t>(CodeZero(zero)), 0, 0},
                           {Operand::Of(from)}, to),
           node);
    return absl::OkStatus();
  }
  TensorData zeros = TensorData::Zeros(l->tensor(in).type, scale->shape);
  l->Add(MakeElementwise(
             graph, DequantizeAxisProgram(), {},
             {Operand::Of(from), Operand::PerChannel(*scale, rank, axis),
              Operand::PerChannel(zero ? *zero : zeros, rank, axis)},
             to),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kAdd(
    "", "Add", LowerBinary<MicroOp::kFadd, MicroOp::kIadd, MicroOp::kIadd>,
    true);
const LoweringRegistration kSub(
    "", "Sub", LowerBinary<MicroOp::kFsub, MicroOp::kIsub, MicroOp::kIsub>,
    true);
const LoweringRegistration kMul(
    "", "Mul", LowerBinary<MicroOp::kFmul, MicroOp::kImul, MicroOp::kImul>,
    true);
const LoweringRegistration kDiv(
    "", "Div", LowerBinary<MicroOp::kFdiv, MicroOp::kIdiv, MicroOp::kIdivu>,
    true);
const LoweringRegistration kRelu("", "Relu", LowerRelu);
const LoweringRegistration kClip("", "Clip", LowerClip);
const LoweringRegistration kQuantize("", "QuantizeLinear", LowerQuantize);
const LoweringRegistration kDequantize("", "DequantizeLinear", LowerDequantize);

}  // namespace
}  // namespace heddle::compiler
