// SPDX-License-Identifier: Apache-2.0
// Logic and bits, as microprograms: And, Or, Xor and Not of truth values (bytes
// 0 and 1), BitwiseAnd, BitwiseOr, BitwiseXor and BitwiseNot of integers,
// BitShift of integers without sign (by their width and more: 0), IsNaN and
// IsInf. Integers of 64 bits are the host's.
#include <cmath>
#include <string>

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

using isa::MicroOp;
using Steps = absl::StatusOr<std::vector<ElementwiseStep>>;

constexpr TypeSet kBools = Types(DataType::kBool);
constexpr TypeSet kUnsigned = Types(DataType::kUint8, DataType::kUint16,
                                    DataType::kUint32, DataType::kUint64);

// out = a op b
template <MicroOp op>
Steps Binary(const Graph&, const Node&) {
  ProgramBuilder b;
  b.Out(b.Op(op, b.A(), b.B()));
  return OneStep(b, {0, 1});
}

Steps NotSteps(const Graph&, const Node&) {
  ProgramBuilder b;
  b.Out(b.And(b.IEqual(b.A(), b.ImmBits(0)), b.ImmBits(1)));
  return OneStep(b, {0});
}

// The bits of a type in a lane. Negative numbers are extended by their sign, so
// that all bits of the lane may change.
uint32_t BitsOf(DataType type) {
  return type == DataType::kUint8    ? 0xff
         : type == DataType::kUint16 ? 0xffff
                                     : ~0u;
}

Steps BitwiseNotSteps(const Graph& graph, const Node& node) {
  ProgramBuilder b;
  b.Out(b.Xor(b.A(), b.ImmBits(BitsOf(InputOf(graph, node, 0).type))));
  return OneStep(b, {0});
}

bool ShiftsLeft(const Node& node) {
  return node.StringAttribute("direction", "") == "LEFT";
}

Steps BitShiftSteps(const Graph& graph, const Node& node) {
  const uint32_t bits = BitsOf(InputOf(graph, node, 0).type);
  ProgramBuilder b;
  const bool left = ShiftsLeft(node);
  Term y = b.Op(left ? MicroOp::kIshl : MicroOp::kIshr, b.A(), b.B());
  // The engine shifts by the count modulo 32.
  y = b.And(y, b.ULess(b.B(), b.ImmBits(32)));
  if (left && bits != ~0u) y = b.And(y, b.ImmBits(bits));
  b.Out(y);
  return OneStep(b, {0, 1});
}

// Of the 64 bits of both elements.
template <typename Function>
Results Wide(const Node& node, const Inputs& inputs, Function function) {
  const TensorData& x = *inputs[0];
  const TensorData& y = *inputs.back();
  Shape shape;
  if (ElementBytes(x.type) != 8 || x.type != y.type ||
      !BroadcastShapes(x.shape, y.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  TensorData z = TensorData::Zeros(x.type, shape);
  ForEachBroadcast(shape, BroadcastStrides(x.shape, shape),
                   BroadcastStrides(y.shape, shape),
                   [&](int64_t i, int64_t a, int64_t b) {
                     z.as<uint64_t>()[i] =
                         function(x.as<uint64_t>()[a], y.as<uint64_t>()[b]);
                   });
  return One(std::move(z));
}

Results WideAnd(const Graph&, const Node& node, const Inputs& inputs) {
  return Wide(node, inputs, [](uint64_t a, uint64_t b) { return a & b; });
}
Results WideOr(const Graph&, const Node& node, const Inputs& inputs) {
  return Wide(node, inputs, [](uint64_t a, uint64_t b) { return a | b; });
}
Results WideXor(const Graph&, const Node& node, const Inputs& inputs) {
  return Wide(node, inputs, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Results WideNot(const Graph&, const Node& node, const Inputs& inputs) {
  return Wide(node, inputs, [](uint64_t a, uint64_t) { return ~a; });
}
Results WideShift(const Graph&, const Node& node, const Inputs& inputs) {
  const bool left = ShiftsLeft(node);
  return Wide(node, inputs, [left](uint64_t a, uint64_t b) -> uint64_t {
    return b >= 64 ? 0 : left ? a << b : a >> b;
  });
}

// x is no NaN: x = x is all ones, that is -1.
Steps IsNanSteps(const Graph&, const Node&) {
  ProgramBuilder b;
  b.Out(b.IAdd(b.Equal(b.A(), b.A()), b.ImmBits(1)));
  return OneStep(b, {0});
}

Steps IsInfSteps(const Graph&, const Node& node) {
  constexpr uint32_t kInfinity = 0x7f800000u, kSignBit = 0x80000000u;
  const bool positive = node.IntAttribute("detect_positive", 1) != 0;
  const bool negative = node.IntAttribute("detect_negative", 1) != 0;
  ProgramBuilder b;
  // Of either sign, of one, or of none: then no bits are those.
  const Term x =
      positive && negative ? b.And(b.A(), b.ImmBits(~kSignBit)) : b.A();
  const uint32_t wanted = positive   ? kInfinity
                          : negative ? kInfinity | kSignBit
                                     : 0;
  Term found = b.IEqual(x, b.ImmBits(wanted));
  found = b.And(found, b.ImmBits(positive || negative ? 1 : 0));
  b.Out(found);
  return OneStep(b, {0});
}

absl::Status InferTruth(Graph* graph, const Node& node) {
  return SetOutput(graph, node, 0, DataType::kBool,
                   InputOf(*graph, node, 0).shape);
}

bool HasDirection(const Graph&, const Node& node, std::string* detail) {
  const std::string direction = node.StringAttribute("direction", "");
  *detail = absl::StrCat("direction = '", direction, "'");
  return direction == "LEFT" || direction == "RIGHT";
}

const ProgramOperator kAnd(Define("And", 7, kMaxOpset).Inputs(2, 2, kBools),
                           InferBroadcastSameType, Binary<MicroOp::kIand>);
const ProgramOperator kOr(Define("Or", 7, kMaxOpset).Inputs(2, 2, kBools),
                          InferBroadcastSameType, Binary<MicroOp::kIor>);
const ProgramOperator kXor(Define("Xor", 7, kMaxOpset).Inputs(2, 2, kBools),
                           InferBroadcastSameType, Binary<MicroOp::kIxor>);
const ProgramOperator kNot(Define("Not", 1, kMaxOpset).Inputs(1, 1, kBools),
                           InferSame, NotSteps);
const ProgramOperator kBitwiseAnd(
    Define("BitwiseAnd", 18, kMaxOpset).Inputs(2, 2, kIntegers),
    InferBroadcastSameType, Binary<MicroOp::kIand>, kAllTypes, WideAnd);
const ProgramOperator kBitwiseOr(
    Define("BitwiseOr", 18, kMaxOpset).Inputs(2, 2, kIntegers),
    InferBroadcastSameType, Binary<MicroOp::kIor>, kAllTypes, WideOr);
const ProgramOperator kBitwiseXor(
    Define("BitwiseXor", 18, kMaxOpset).Inputs(2, 2, kIntegers),
    InferBroadcastSameType, Binary<MicroOp::kIxor>, kAllTypes, WideXor);
const ProgramOperator kBitwiseNot(
    Define("BitwiseNot", 18, kMaxOpset).Inputs(1, 1, kIntegers), InferSame,
    BitwiseNotSteps, kAllTypes, WideNot);
const ProgramOperator kBitShift(
    Define("BitShift", 11, kMaxOpset)
        .Inputs(2, 2, kUnsigned)
        .Attr("direction", AttributeKind::kString, true)
        .Rule(Rejection::kInvalidModel, "direction is LEFT or RIGHT",
              HasDirection),
    InferBroadcastSameType, BitShiftSteps, kAllTypes, WideShift);
const ProgramOperator kIsNan(
    Define("IsNaN", 9, kMaxOpset).Inputs(1, 1, kRealsAndDouble), InferTruth,
    IsNanSteps,
    [](const Node&, const double* x) -> double { return std::isnan(x[0]); });

double DoubleIsInf(const Node& node, const double* x) {
  const char* sign = x[0] > 0 ? "detect_positive" : "detect_negative";
  return std::isinf(x[0]) && node.IntAttribute(sign, 1) != 0;
}

Define IsInf(int since, int until, TypeSet types) {
  Define define("IsInf", since, until);
  define.Inputs(1, 1, types)
      .Attr("detect_positive", AttributeKind::kInt)
      .Attr("detect_negative", AttributeKind::kInt);
  return define;
}
const ProgramOperator kIsInf10(IsInf(10, 19, kFloats | kDoubles), InferTruth,
                               IsInfSteps, DoubleIsInf);
const ProgramOperator kIsInf20(IsInf(20, kMaxOpset, kRealsAndDouble),
                               InferTruth, IsInfSteps, DoubleIsInf);

}  // namespace
}  // namespace heddle::compiler
