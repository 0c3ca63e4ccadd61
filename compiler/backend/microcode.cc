// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/microcode.h"

#include <cstring>

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

std::vector<uint8_t> Microprogram::Bytes() const {
  std::vector<uint8_t> bytes;
  for (const auto* section : {&prologue, &body, &epilogue}) {
    for (const MicroInstruction& m : *section) {
      const uint64_t word = m.Encode();
      for (int i = 0; i < 8; ++i) bytes.push_back(word >> (8 * i));
    }
  }
  return bytes;
}

Microprogram CopyProgram() {
  Microprogram p;
  p.body = {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)};
  return p;
}

Microprogram BinaryProgram(MicroOp op, bool swap) {
  Microprogram p;
  p.body = {Op(op, Destination::kOut, swap ? Operand::kStreamB : Operand::kStreamA,
               swap ? Operand::kStreamA : Operand::kStreamB)};
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

Microprogram QuantizeProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kFdiv, Destination::kV0, Operand::kStreamA, Operand::kArg0),
      Op(MicroOp::kFmax, Destination::kV0, Operand::kV0, Operand::kArg1),
      Op(MicroOp::kFmin, Destination::kV0, Operand::kV0, Operand::kArg2),
      Op(MicroOp::kF2i, Destination::kV0, Operand::kV0),
      Op(MicroOp::kIadd, Destination::kOut, Operand::kV0, Operand::kArg3)};
  return p;
}

Microprogram QuantizeAxisProgram() {
  Microprogram p;
  p.body = {
      Op(MicroOp::kI2f, Destination::kV1, Operand::kStreamC),
      Op(MicroOp::kFsub, Destination::kV2, Operand::kArg1, Operand::kV1),
      Op(MicroOp::kFsub, Destination::kV3, Operand::kArg2, Operand::kV1),
      Op(MicroOp::kFdiv, Destination::kV0, Operand::kStreamA, Operand::kStreamB),
      Op(MicroOp::kFmax, Destination::kV0, Operand::kV0, Operand::kV2),
      Op(MicroOp::kFmin, Destination::kV0, Operand::kV0, Operand::kV3),
      Op(MicroOp::kF2i, Destination::kV0, Operand::kV0),
      Op(MicroOp::kIadd, Destination::kOut, Operand::kV0, Operand::kStreamC)};
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
      Op(MicroOp::kIsub, Destination::kV0, Operand::kStreamA, Operand::kStreamC),
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
      Op(MicroOp::kFfma, Destination::kV2, second, Operand::kArg1, Operand::kArg2),
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

}  // namespace heddle::compiler
