// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/ordered.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

MicroInstruction Do(MicroOp op, Destination d, Operand a, Operand b,
                    Operand c = Operand::kV0, uint32_t imm = 0) {
  MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  m.c = c;
  m.imm = imm;
  return m;
}

MicroOp EqualOp(Order order) {
  return order == Order::kReal ? MicroOp::kFeq : MicroOp::kIeq;
}
MicroOp LessOp(Order order) {
  return order == Order::kReal     ? MicroOp::kFlt
         : order == Order::kSigned ? MicroOp::kIlt
                                   : MicroOp::kIltu;
}

}  // namespace

Order OrderOf(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return Order::kReal;
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
      return Order::kUnsigned;
    default:
      return Order::kSigned;
  }
}

Microprogram CompareProgram(Comparison comparison, Order order) {
  const bool swap = comparison == Comparison::kGreater ||
                    comparison == Comparison::kGreaterOrEqual;
  const bool or_equal = comparison == Comparison::kLessOrEqual ||
                        comparison == Comparison::kGreaterOrEqual;
  // Of integers a <= b is not b < a; of floats, where neither need hold, it is
  // an operation.
  const bool invert = or_equal && order != Order::kReal;
  const MicroOp op = comparison == Comparison::kEqual ? EqualOp(order)
                     : or_equal && !invert            ? MicroOp::kFle
                                                      : LessOp(order);
  const bool exchange = swap != invert;
  Microprogram p;
  p.body = {
      Do(op, Destination::kV0, exchange ? Operand::kStreamB : Operand::kStreamA,
         exchange ? Operand::kStreamA : Operand::kStreamB),
      // What holds is all ones, that is -1.
      Do(invert ? MicroOp::kIadd : MicroOp::kIand, Destination::kOut,
         Operand::kV0, Operand::kImm, Operand::kV0, 1)};
  return p;
}

Microprogram RemainderProgram(Order order, bool truncates) {
  const bool has_sign = order == Order::kSigned;
  const bool corrects = has_sign && !truncates;
  Microprogram p;
  p.body = {
      Do(has_sign ? MicroOp::kIdiv : MicroOp::kIdivu, Destination::kV0,
         Operand::kStreamA, Operand::kStreamB),
      Do(MicroOp::kImul, Destination::kV0, Operand::kV0, Operand::kStreamB),
      Do(MicroOp::kIsub, corrects ? Destination::kV0 : Destination::kOut,
         Operand::kStreamA, Operand::kV0)};
  if (!corrects) return p;
  // b more where there is a remainder and its sign is not the divisor's.
  for (const MicroInstruction& m :
       {Do(MicroOp::kIxor, Destination::kV1, Operand::kV0, Operand::kStreamB),
        Do(MicroOp::kIsar, Destination::kV1, Operand::kV1, Operand::kImm,
           Operand::kV0, 31),
        Do(MicroOp::kIand, Destination::kV1, Operand::kV1, Operand::kStreamB),
        Do(MicroOp::kSel, Destination::kV1, Operand::kV0, Operand::kV1,
           Operand::kImm, 0),
        Do(MicroOp::kIadd, Destination::kOut, Operand::kV0, Operand::kV1)}) {
    p.body.push_back(m);
  }
  return p;
}

}  // namespace heddle::compiler
