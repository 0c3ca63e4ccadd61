// SPDX-License-Identifier: Apache-2.0
// What functions of vector_math.h are made of; for their implementations only.
#ifndef HEDDLE_COMPILER_OPS_VECTOR_PARTS_H_
#define HEDDLE_COMPILER_OPS_VECTOR_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr uint32_t kSignBit = 0x80000000u;
inline constexpr uint32_t kOne = 0x3f800000u;
inline constexpr uint32_t kNan = 0x7fc00000u;
inline constexpr float kLn2High = 0x1.62e4p-1f;  // 16 bits: exact times k
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;

// Horner's rule; coefficients from the constant on.
template <size_t n>
Term Polynomial(ProgramBuilder* b, Term x, const float (&c)[n]) {
  Term y = b->Imm(c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) y = b->Fma(y, x, b->Imm(c[i]));
  return y;
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
