// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/microcode.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

MicroInstruction Op(MicroOp op, Destination d, Operand a,
                    Operand b = Operand::kV0, Operand c = Operand::kV0,
                    uint32_t imm = 0) {
  MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  m.c = c;
  m.imm = imm;
  return m;
}

constexpr uint32_t kMinusInfinity = 0xff800000u;

}  // namespace

Microprogram CopyProgram() {
  Microprogram p;
  p.body = {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)};
  return p;
}

Microprogram BinaryProgram(MicroOp op, bool swap) {
  Microprogram p;
  p.body = {Op(op, Destination::kOut,
               swap ? Operand::kStreamB : Operand::kStreamA,
               swap ? Operand::kStreamA : Operand::kStreamB)};
  return p;
}

Microprogram IntegerProgram(MicroOp op, isa::ElementType type) {
  Microprogram p;
  p.body = {Op(op, Destination::kV0, Operand::kStreamA, Operand::kStreamB)};
  auto immediate = [&](MicroOp o, Destination d, uint32_t value) {
    p.body.push_back(
        Op(o, d, Operand::kV0, Operand::kImm, Operand::kV0, value));
  };
  if (type == isa::ElementType::kU8 || type == isa::ElementType::kU16) {
    immediate(MicroOp::kIand, Destination::kOut,
              type == isa::ElementType::kU8 ? 0xff : 0xffff);
  } else if (type == isa::ElementType::kS32) {
    p.body[0].d = Destination::kOut;
  } else {
    const uint32_t shift = type == isa::ElementType::kS8 ? 24 : 16;
    immediate(MicroOp::kIshl, Destination::kV0, shift);
    immediate(MicroOp::kIsar, Destination::kOut, shift);
  }
  return p;
}

Microprogram ReluProgram() {
  Microprogram p;
  p.body = {Op(MicroOp::kFmax, Destination::kOut, Operand::kStreamA,
               Operand::kImm, Operand::kV0, 0)};
  return p;
}

Microprogram ClampProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kFmax, Destination::kV0, Operand::kStreamA, Operand::kArg0),
      Op(MicroOp::kFmin, Destination::kOut, Operand::kV0, Operand::kArg1)};
  return p;
}

Microprogram IntegerClampProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kImax, Destination::kV0, Operand::kStreamA, Operand::kArg0),
      Op(MicroOp::kImin, Destination::kOut, Operand::kV0, Operand::kArg1)};
  return p;
}

Microprogram QuantizeProgram(bool integers) {
  Microprogram p;
  const Operand x = integers ? Operand::kV0 : Operand::kStreamA;
  if (integers) {
    p.body = {Op(MicroOp::kI2f, Destination::kV0, Operand::kStreamA)};
  }
  for (const MicroInstruction& m :
       {Op(MicroOp::kFdiv, Destination::kV0, x, Operand::kArg0),
        Op(MicroOp::kFmin, Destination::kV0, Operand::kV0, Operand::kArg2),
        // What is too small, and a NaN, gives -2^31.
        Op(MicroOp::kF2i, Destination::kV0, Operand::kV0),
        Op(MicroOp::kImax, Destination::kV0, Operand::kV0, Operand::kArg1),
        Op(MicroOp::kIadd, Destination::kOut, Operand::kV0, Operand::kArg3)}) {
    p.body.push_back(m);
  }
  return p;
}

Microprogram QuantizeAxisProgram(bool integers) {
  Microprogram p;
  const Operand x = integers ? Operand::kV0 : Operand::kStreamA;
  if (integers) {
    p.body = {Op(MicroOp::kI2f, Destination::kV0, Operand::kStreamA)};
  }
  for (const MicroInstruction& m :
       {Op(MicroOp::kI2f, Destination::kV1, Operand::kStreamC),
        Op(MicroOp::kIsub, Destination::kV2, Operand::kArg1, Operand::kStreamC),
        Op(MicroOp::kFsub, Destination::kV3, Operand::kArg2, Operand::kV1),
        Op(MicroOp::kFdiv, Destination::kV0, x, Operand::kStreamB),
        Op(MicroOp::kFmin, Destination::kV0, Operand::kV0, Operand::kV3),
        Op(MicroOp::kF2i, Destination::kV0, Operand::kV0),
        Op(MicroOp::kImax, Destination::kV0, Operand::kV0, Operand::kV2),
        Op(MicroOp::kIadd, Destination::kOut, Operand::kV0,
           Operand::kStreamC)}) {
    p.body.push_back(m);
  }
  return p;
}

Microprogram DequantizeProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kIsub, Destination::kV0, Operand::kStreamA, Operand::kArg1),
      Op(MicroOp::kI2f, Destination::kV0, Operand::kV0),
      Op(MicroOp::kFmul, Destination::kOut, Operand::kV0, Operand::kArg0)};
  return p;
}

Microprogram DequantizeAxisProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kIsub, Destination::kV0, Operand::kStreamA,
         Operand::kStreamC),
      Op(MicroOp::kI2f, Destination::kV0, Operand::kV0),
      Op(MicroOp::kFmul, Destination::kOut, Operand::kV0, Operand::kStreamB)};
  return p;
}

Microprogram QLinearAddProgram(bool swap) {
  const Operand first = swap ? Operand::kV1 : Operand::kV0;
  const Operand second = swap ? Operand::kV0 : Operand::kV1;
  Microprogram p;
  p.body = {
      Op(MicroOp::kI2f, Destination::kV0, Operand::kStreamA),
      Op(MicroOp::kI2f, Destination::kV1, Operand::kStreamB),
      Op(MicroOp::kFfma, Destination::kV2, second, Operand::kArg1,
         Operand::kArg2),
      Op(MicroOp::kFfma, Destination::kV2, first, Operand::kArg0, Operand::kV2),
      Op(MicroOp::kF2i, Destination::kOut, Operand::kV2)};
  return p;
}

Microprogram MaxProgram() {
  Microprogram p;
  p.prologue = {Op(MicroOp::kMov, Destination::kV0, Operand::kImm, Operand::kV0,
                   Operand::kV0, kMinusInfinity)};
  p.body = {
      Op(MicroOp::kFmax, Destination::kV0, Operand::kV0, Operand::kStreamA)};
  p.epilogue = {Op(MicroOp::kMov, Destination::kOut, Operand::kV0)};
  return p;
}

Microprogram ScaleAddProgram(bool scale_a, bool scale_b) {
  Microprogram p;
  Operand a = Operand::kStreamA, b = Operand::kStreamB;
  if (scale_a) {
    p.body.push_back(Op(MicroOp::kFmul, Destination::kV0, a, Operand::kArg0));
    a = Operand::kV0;
  }
  if (scale_b) {
    p.body.push_back(Op(MicroOp::kFmul, Destination::kV1, b, Operand::kArg1));
    b = Operand::kV1;
  }
  p.body.push_back(Op(MicroOp::kFadd, Destination::kOut, a, b));
  return p;
}

Microprogram ScaleProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kFmul, Destination::kOut, Operand::kStreamA, Operand::kArg0)};
  return p;
}

Microprogram SignWordProgram() {
  Microprogram p;
  p.body = {Op(MicroOp::kIsar, Destination::kOut, Operand::kStreamA,
               Operand::kImm, Operand::kV0, 31)};
  return p;
}

Microprogram WrapIndexProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kIsar, Destination::kV0, Operand::kStreamA, Operand::kImm,
         Operand::kV0, 31),
      Op(MicroOp::kIand, Destination::kV0, Operand::kV0, Operand::kArg0),
      Op(MicroOp::kIadd, Destination::kOut, Operand::kStreamA, Operand::kV0)};
  return p;
}

Microprogram PickProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kIsar, Destination::kV0, Operand::kStreamB, Operand::kImm,
         Operand::kV0, 31),
      Op(MicroOp::kIand, Destination::kV0, Operand::kV0, Operand::kArg0),
      Op(MicroOp::kIadd, Destination::kV0, Operand::kStreamB, Operand::kV0),
      Op(MicroOp::kPick, Destination::kOut, Operand::kV0)};
  return p;
}

Microprogram InterpolateProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kFsub, Destination::kV0, Operand::kImm, Operand::kStreamC,
         Operand::kV0, 0x3f800000u),
      Op(MicroOp::kFmul, Destination::kV0, Operand::kStreamA, Operand::kV0),
      Op(MicroOp::kFfma, Destination::kOut, Operand::kStreamB,
         Operand::kStreamC, Operand::kV0)};
  return p;
}

Microprogram CastProgram(ElementKind from, ElementKind to, uint32_t bits,
                         bool is_signed) {
  Microprogram p;
  Operand x = Operand::kStreamA;
  if (from == ElementKind::kBool || to == ElementKind::kBool) {
    const MicroOp equal =
        from == ElementKind::kReal ? MicroOp::kFeq : MicroOp::kIeq;
    p.body.push_back(
        Op(equal, Destination::kV0, x, Operand::kImm, Operand::kV0, 0));
    // v1 = 0, the value of every register at first.
    p.body.push_back(Op(MicroOp::kSel, Destination::kV0, Operand::kV0,
                        Operand::kV1, Operand::kImm, 1));
    x = Operand::kV0;
    if (to == ElementKind::kReal) {
      p.body.push_back(Op(MicroOp::kI2f, Destination::kV0, x));
    }
  } else if (from == ElementKind::kReal && to == ElementKind::kInteger) {
    p.body.push_back(Op(MicroOp::kF2iTrunc, Destination::kV0, x));
    x = Operand::kV0;
  } else if (from == ElementKind::kInteger && to == ElementKind::kReal) {
    p.body.push_back(Op(MicroOp::kI2f, Destination::kV0, x));
    x = Operand::kV0;
  }
  if (to == ElementKind::kInteger && bits < 32) {
    // The store would saturate.
    p.body.push_back(Op(MicroOp::kIshl, Destination::kV0, x, Operand::kImm,
                        Operand::kV0, 32 - bits));
    p.body.push_back(Op(is_signed ? MicroOp::kIsar : MicroOp::kIshr,
                        Destination::kV0, Operand::kV0, Operand::kImm,
                        Operand::kV0, 32 - bits));
    x = Operand::kV0;
  }
  // Never the program of a copy, which moves bits and converts nothing.
  if (x == Operand::kStreamA) {
    p.body.push_back(Op(MicroOp::kMov, Destination::kV0, x));
    x = Operand::kV0;
  }
  p.body.push_back(Op(MicroOp::kMov, Destination::kOut, x));
  return p;
}

}  // namespace heddle::compiler
