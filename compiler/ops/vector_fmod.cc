// SPDX-License-Identifier: Apache-2.0
// The remainder of floats, by long division in digits of 22 bits. A digit is
// the quotient of what is left by the divisor times the power of two that makes
// it less than 2^23; one too large where the division rounded up, which the
// sign of the difference tells. What is left is a multiple of the divisor's
// last bit and less than the divisor, so that each difference is exact.
#include "compiler/ops/vector_math.h"
#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kSmallestNormal = 0x00800000;
constexpr int kDigit = 22;  // bits
// Of digits, from 2^128 down to the smallest divisor, 2^-149.
constexpr int kFirstDigits = 7, kRestDigits = 6;

Term Int(int value) {
  return ProgramBuilder::ImmBits(static_cast<uint32_t>(value));
}

// What is left of `x` >= 0 after `digits` digits.
Term Divide(ProgramBuilder* b, Term x, Term y, int digits) {
  const Term d = Abs(b, y);
  // A subnormal divisor is scaled by 2^32.
  const Term subnormal = b->ILess(d, ProgramBuilder::ImmBits(kSmallestNormal));
  const Term scale = b->And(subnormal, Int(32));
  const Term divisor =
      b->Select(subnormal, b->Mul(d, ProgramBuilder::Imm(0x1p32f)), d);
  // Less than this many more than the exponent of what is left: no scaling.
  const Term least = b->IAdd(b->ISub(b->Shr(divisor, 23), scale), Int(kDigit));
  Term left = x;
  for (int i = 0; i < digits; ++i) {
    const Term more =
        b->ISub(b->IMax(b->ISub(b->Shr(left, 23), least), Int(0)), scale);
    const Term most = b->IMin(more, Int(127));
    const Term scaled = b->Mul(b->Mul(divisor, PowerOfTwo(b, most)),
                               PowerOfTwo(b, b->ISub(more, most)));
    const Term digit = b->Truncate(b->Div(left, scaled));
    const Term rest = b->Fma(b->FromInt(b->ISub(Int(0), digit)), scaled, left);
    left = b->Select(b->Less(rest, ProgramBuilder::Imm(0)),
                     b->Add(rest, scaled), rest);
  }
  return left;
}

}  // namespace

Term FmodFirst(ProgramBuilder* b, Term x, Term y) {
  return Divide(b, Abs(b, x), y, kFirstDigits);
}

Term FmodRest(ProgramBuilder* b, Term left, Term x, Term y) {
  const Term infinity = ProgramBuilder::Imm(kInfinity);
  const Term divisor = Abs(b, y);
  const Term rest = b->Or(Divide(b, left, y, kRestDigits),
                          b->And(x, ProgramBuilder::ImmBits(kSignBit)));
  const Term defined = b->And(b->Less(Abs(b, x), infinity),
                              b->Less(ProgramBuilder::Imm(0), divisor));
  return b->Select(defined, b->Select(b->Equal(divisor, infinity), x, rest),
                   ProgramBuilder::ImmBits(kNan));
}

}  // namespace heddle::compiler
