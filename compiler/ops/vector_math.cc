// SPDX-License-Identifier: Apache-2.0
// Functions as programs; their steps are those of compiler/lanes/terms.h.
#include "compiler/ops/vector_math.h"

#include "compiler/lanes/terms.h"
#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {

Term WithSignOf(ProgramBuilder* b, Term x, Term sign) {
  return terms::WithSignOf(b, x, sign);
}

Term PowerOfTwo(ProgramBuilder* b, Term n) { return terms::PowerOfTwo(b, n); }

Term LogTail(ProgramBuilder* b, Term f, Term rest) {
  return terms::LogTail(b, f, rest);
}

Term Abs(ProgramBuilder* b, Term x) { return terms::Abs(b, x); }

Term Neg(ProgramBuilder* b, Term x) { return terms::Neg(b, x); }

Term Sign(ProgramBuilder* b, Term x) { return terms::Sign(b, x); }

Term Floor(ProgramBuilder* b, Term x) { return terms::Floor(b, x); }

Term Ceil(ProgramBuilder* b, Term x) { return terms::Ceil(b, x); }

Term RoundEven(ProgramBuilder* b, Term x) { return terms::RoundEven(b, x); }

Term Exp(ProgramBuilder* b, Term x) { return terms::Exp(b, x); }

Term Expm1NonPositive(ProgramBuilder* b, Term x) {
  return terms::Expm1NonPositive(b, x);
}

Term Log(ProgramBuilder* b, Term x) { return terms::Log(b, x); }

Term Log1pUnit(ProgramBuilder* b, Term x) { return terms::Log1pUnit(b, x); }

Term Tanh(ProgramBuilder* b, Term x) { return terms::Tanh(b, x); }

Term Erf(ProgramBuilder* b, Term x) { return terms::Erf(b, x); }

Term Softplus(ProgramBuilder* b, Term x) { return terms::Softplus(b, x); }

Term Sigmoid(ProgramBuilder* b, Term v) { return terms::Sigmoid(b, v); }

Reduced ReduceExp(ProgramBuilder* b, Term x) {
  const auto reduced = terms::ReduceExp(b, x);
  return {reduced.n, reduced.expm1};
}

Term FromUnsigned(ProgramBuilder* b, Term x) {
  // Half of it fits int32; the bit that is lost counts in rounding.
  const Term half = b->Or(b->Shr(x, 1), b->And(x, b->ImmBits(1)));
  const Term f = b->FromInt(half);
  const Term high = b->ILess(x, b->ImmBits(0));
  return b->Select(high, b->Add(f, f), b->FromInt(x));
}

Term ToUnsigned(ProgramBuilder* b, Term x) {
  // From 2^31 on the mantissa is shifted to the left, by 8 or more.
  constexpr uint32_t kUnit = 127 + 23;
  const Term exponent = b->And(b->Shr(x, 23), b->ImmBits(0xff));
  const Term shift = b->ISub(exponent, b->ImmBits(kUnit));
  const Term mantissa =
      b->Or(b->And(x, b->ImmBits(0x7fffff)), b->ImmBits(0x800000));
  const Term shifted = b->Op(isa::MicroOp::kIshl, mantissa, shift);
  const Term low = b->And(b->ILess(shift, b->ImmBits(32)), shifted);
  const Term sign = b->Sar(x, 31);
  const Term large = b->ISub(b->Xor(low, sign), sign);
  const Term small = b->Less(Abs(b, x), b->Imm(0x1p31f));
  return b->Select(small, b->Truncate(x), large);
}

}  // namespace heddle::compiler
