// SPDX-License-Identifier: Apache-2.0
// Functions of one or two floats as straight-line instructions of the vector
// engine, appended to a program. What they compute is these instructions, on
// the card and on the host; vector_math_test states the largest error of each.
//
// All propagate NaN, treat infinities, -0 and subnormal numbers as the function
// does, and read a Term several times: move a stream to a register first where
// its width matters (b.Op(kMov, b.A())).
#ifndef HEDDLE_COMPILER_OPS_VECTOR_MATH_H_
#define HEDDLE_COMPILER_OPS_VECTOR_MATH_H_

#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

Term Abs(ProgramBuilder* b, Term x);
Term Neg(ProgramBuilder* b, Term x);
// -1, 0 or 1.
Term Sign(ProgramBuilder* b, Term x);
// The greatest whole number that is not above x, and so on; -0 stays.
Term Floor(ProgramBuilder* b, Term x);
Term Ceil(ProgramBuilder* b, Term x);
// To nearest, ties to even.
Term RoundEven(ProgramBuilder* b, Term x);

// Of an integer without sign, to nearest even.
Term FromUnsigned(ProgramBuilder* b, Term x);
// The low 32 bits of the 64-bit integer next to x toward zero; 0 where there is
// none.
Term ToUnsigned(ProgramBuilder* b, Term x);

Term Exp(ProgramBuilder* b, Term x);
// exp(x) - 1 for x <= 0, +0 for -0; any number for other x.
Term Expm1NonPositive(ProgramBuilder* b, Term x);
Term Log(ProgramBuilder* b, Term x);
// log(1 + x) for 0 <= x <= 1, +0 for -0.
Term Log1pUnit(ProgramBuilder* b, Term x);
Term Tanh(ProgramBuilder* b, Term x);
Term Erf(ProgramBuilder* b, Term x);
// log(1 + exp(x))
Term Softplus(ProgramBuilder* b, Term x);
// The rational approximation of ONNX Runtime's kernel, with fma:
//   x = clamp(v, -18, 18), u = f32(x*x), p = (..(u*a9 + a7)*u ..+ a1) * x,
//   q = ..(u*b10 + b8)*u .. + b0, y = max(0, f32(f32(p/q) + 0.5)).
Term Sigmoid(ProgramBuilder* b, Term x);
// x to the power y with all cases of C's pow.
Term Pow(ProgramBuilder* b, Term x, Term y);

// x - y q, q = x / y toward zero: exact, as C's fmod. In two programs, of which
// the second one continues with what the first one `left`.
Term FmodFirst(ProgramBuilder* b, Term x, Term y);
Term FmodRest(ProgramBuilder* b, Term left, Term x, Term y);

// Errors of at most 2 ulp, of Tan 4, over all floats (vector_trig_test): the
// argument is reduced by pi/2 in three parts below 2^17, from there on by the
// bits of 2/pi that matter, so it may be any.
Term Sin(ProgramBuilder* b, Term x);
Term Cos(ProgramBuilder* b, Term x);
Term Tan(ProgramBuilder* b, Term x);
Term Asin(ProgramBuilder* b, Term x);
Term Acos(ProgramBuilder* b, Term x);
Term Atan(ProgramBuilder* b, Term x);
Term Sinh(ProgramBuilder* b, Term x);
Term Cosh(ProgramBuilder* b, Term x);
Term Asinh(ProgramBuilder* b, Term x);
Term Acosh(ProgramBuilder* b, Term x);
Term Atanh(ProgramBuilder* b, Term x);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_VECTOR_MATH_H_
