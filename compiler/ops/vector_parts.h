// SPDX-License-Identifier: Apache-2.0
// What functions of vector_math.h are made of; for their implementations only.
#ifndef HEDDLE_COMPILER_OPS_VECTOR_PARTS_H_
#define HEDDLE_COMPILER_OPS_VECTOR_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "compiler/lanes/terms.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

using terms::kInfinity;
using terms::kLn2High;
using terms::kLn2Low;
using terms::kNan;
using terms::kOne;
using terms::kSignBit;

// Horner's rule; coefficients from the constant on.
template <size_t n>
Term Polynomial(ProgramBuilder* b, Term x, const float (&c)[n]) {
  return terms::Polynomial(b, x, c);
}

// x * 1 or x * -1 with the sign of `sign`; a NaN becomes the one NaN.
Term WithSignOf(ProgramBuilder* b, Term x, Term sign);

// 2^n, n within -126 .. 127.
Term PowerOfTwo(ProgramBuilder* b, Term n);

// x = n ln2 + r with |r| <= ln2 / 2, and exp(r) - 1 with its error relative to
// itself. |x| may be 2^15 at most.
struct Reduced {
  Term n;
  Term expm1;
};
Reduced ReduceExp(ProgramBuilder* b, Term x);

// log(1 + f) - f for |f| <= 1/3, plus `rest`.
Term LogTail(ProgramBuilder* b, Term f, Term rest);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_VECTOR_PARTS_H_
