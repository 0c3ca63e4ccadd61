// SPDX-License-Identifier: Apache-2.0
// Microprograms of the vector engine. Results are defined by the instruction
// set, so an operator that is a microprogram here has exactly these bits.
//
// Scales and bounds come through the command's arguments, so that one program
// serves all tensors of a network.
#ifndef HEDDLE_COMPILER_STREAM_MICROCODE_H_
#define HEDDLE_COMPILER_STREAM_MICROCODE_H_

#include <cstdint>

#include "compiler/ops/microprogram.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// out = a
Microprogram CopyProgram();
// out = op(a, b), or op(b, a) when `swap`.
Microprogram BinaryProgram(isa::MicroOp op, bool swap = false);
// The same in integers, wrapped to `type` (u8, s8, u16, s16 or s32).
Microprogram IntegerProgram(isa::MicroOp op, isa::ElementType type);
// out = fmax(a, +0)
Microprogram ReluProgram();
// out = fmin(fmax(a, arg0), arg1)
Microprogram ClampProgram();
// out = min(max(a, arg0), arg1) as int32
Microprogram IntegerClampProgram();
// out = max(rne(fmin(a / arg0, arg2)), arg1) + arg3: QuantizeLinear with scale
// arg0, bounds arg1 = qmin - z (int32) and arg2 = qmax - z (f32), zero point z
// (int32). A NaN gives qmin. `integers`: a is int32.
Microprogram QuantizeProgram(bool integers = false);
// The same with scale b and zero point c (int32), per axis: arg1 = qmin
// (int32), arg2 = f32 qmax, bounds computed from c.
Microprogram QuantizeAxisProgram(bool integers = false);
// out = f32(a - arg1) * arg0: DequantizeLinear of integers.
Microprogram DequantizeProgram();
// The same with scale b and zero point c (int32), per axis.
Microprogram DequantizeAxisProgram();
// QLinearAdd: out = rne(fma(f32(a), arg0, fma(f32(b), arg1, arg2))), to be
// stored with saturation. `swap`: b is the first operand.
Microprogram QLinearAddProgram(bool swap = false);
// Maximum over the reduction loop from -inf, which is also what padding holds:
// v = fmax(v, a) in window order.
Microprogram MaxProgram();
// out = f32(x + y), x = a or f32(a * arg0), y = b or f32(b * arg1).
Microprogram ScaleAddProgram(bool scale_a, bool scale_b);
// out = f32(a * arg0)
Microprogram ScaleProgram();
// out = a < 0 ? -1 : 0: the high word of an int32 as int64
Microprogram SignWordProgram();
// out = a < 0 ? a + arg0 : a
Microprogram WrapIndexProgram();
// out = the element of A that b chooses, b < 0 ? b + arg0 : b (with pick_a)
Microprogram PickProgram();
// out = fma(b, c, f32(a * f32(1 - c)))
Microprogram InterpolateProgram();
// Kinds of elements as the vector engine loads them.
enum class ElementKind { kReal, kInteger, kBool };
// Cast: reals to integers truncate (trunc of ISA.md), `bits` = width of an
// integer result (8, 16, 32), to which high bits are dropped; bool is a != 0.
Microprogram CastProgram(ElementKind from, ElementKind to, uint32_t bits,
                         bool is_signed);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_MICROCODE_H_
