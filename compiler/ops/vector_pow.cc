// SPDX-License-Identifier: Apache-2.0
// Pow: log2|x| to about 2^-34 of itself as an unevaluated sum of two floats,
// times y, then exp2, so that even results near the ends of the range are
// right to about one ulp. fma gives the rounding error of a product, and
// subtraction that of a sum whose first term is the larger.
#include <limits>

#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kSignBit = 0x80000000u;
constexpr uint32_t kOne = 0x3f800000u;
constexpr uint32_t kNan = 0x7fc00000u;

// high + low, low at most half an ulp of high or so.
struct Pair {
  Term high, low;
};

// a + x, |a.high| not below |x|.
Pair AddTo(ProgramBuilder* b, Pair a, Term x) {
  const Term sum = b->Add(a.high, x);
  const Term error = b->Add(b->Sub(a.high, sum), x);
  return {sum, b->Add(error, a.low)};
}

Pair Product(ProgramBuilder* b, Pair x, Pair y) {
  const Term high = b->Mul(x.high, y.high);
  const Term error = b->Sub(b->Imm(0), high);
  Term low = b->Fma(x.high, y.high, error);
  low = b->Fma(x.high, y.low, low);
  low = b->Fma(x.low, y.high, low);
  return {high, low};
}

Pair Constant(ProgramBuilder* b, float high, float low) {
  return {b->Imm(high), b->Imm(low)};
}

// log2(a) of a positive finite number.
Pair Log2(ProgramBuilder* b, Term a) {
  const Term tiny = b->Less(a, b->Imm(0x1p-126f));
  a = b->Select(tiny, b->Mul(a, b->Imm(0x1p25f)), a);
  const Term shift = b->And(tiny, b->ImmBits(static_cast<uint32_t>(-25)));
  // a = 2^k m, 2/3 <= m < 4/3.
  const Term offset = b->ISub(a, b->ImmBits(0x3f2aaaab));
  const Term k = b->FromInt(b->IAdd(b->Sar(offset, 23), shift));
  const Term m = b->ISub(a, b->And(offset, b->ImmBits(0xff800000u)));

  // s = (m - 1) / (m + 1); log m = 2 atanh s = 2s (1 + s^2/3 + s^4/5 + ...).
  const Term f = b->Sub(m, b->Imm(1.0f));
  const Term sum = b->Add(m, b->Imm(1.0f));
  const Term sum_low = b->Sub(m, b->Sub(sum, b->Imm(1.0f)));
  const Term inverse = b->Div(b->Imm(1.0f), sum);
  const Term s_high = b->Mul(f, inverse);
  const Term minus_s = b->Sub(b->Imm(0), s_high);
  const Term residue = b->Fma(minus_s, sum_low, b->Fma(minus_s, sum, f));
  const Pair s = {s_high, b->Mul(residue, inverse)};
  const Pair z = Product(b, s, s);
  constexpr float kTail[] = {0x1.999996p-3f, 0x1.249568p-3f, 0x1.c5a274p-4f,
                             0x1.993e56p-4f};
  Term tail = b->Imm(kTail[3]);
  for (int i = 3; i-- > 0;) tail = b->Fma(tail, z.high, b->Imm(kTail[i]));
  const Pair third = AddTo(b, Constant(b, 0x1.555556p-2f, -0x1.555556p-27f),
                           b->Mul(tail, z.high));
  const Pair first =
      Product(b, s, Constant(b, 0x1.715476p+1f, 0x1.4ae0c0p-25f));
  const Pair second = Product(b, first, Product(b, z, third));
  Pair y = AddTo(b, {k, first.low}, first.high);
  y = AddTo(b, {y.high, b->Add(y.low, second.low)}, second.high);
  // Normalized, so that `high` times an exponent decides alone.
  const Term high = b->Add(y.high, y.low);
  return {high, b->Add(b->Sub(y.high, high), y.low)};
}

// 2^(x.high + x.low)
Term Exp2(ProgramBuilder* b, Pair x) {
  constexpr float kTail[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6b08ep-5f,
                             0x1.3b29f0p-7f, 0x1.5d8722p-10f, 0x1.445fb0p-13f,
                             0x1.00f242p-16f};
  // Beyond these bounds the result is 0 or infinity by itself.
  const Term high = b->Min(b->Imm(140.0f), b->Max(b->Imm(-160.0f), x.high));
  const Term n = b->Round(high);
  const Term r = b->Add(b->Sub(high, b->FromInt(n)), x.low);
  Term y = b->Imm(kTail[6]);
  for (int i = 6; i-- > 0;) y = b->Fma(y, r, b->Imm(kTail[i]));
  y = b->Fma(y, r, b->Imm(1.0f));
  const Term half = b->Sar(n, 1);
  const Term rest = b->ISub(n, half);
  auto power = [b](Term e) { return b->Shl(b->IAdd(e, b->ImmBits(127)), 23); };
  return b->Mul(b->Mul(y, power(half)), power(rest));
}

}  // namespace

Term Pow(ProgramBuilder* b, Term x, Term y) {
  const Term ax = Abs(b, x);
  Pair log = Log2(b, ax);
  // log2 of infinity and NaN is the same again, that of 0 -infinity. (`low` is
  // dropped below, since no product is small then.)
  log.high = b->Select(b->Less(ax, b->Imm(kInfinity)), log.high, ax);
  log.high = b->Select(b->Equal(ax, b->Imm(0)), b->Imm(-kInfinity), log.high);

  Pair e;
  e.high = b->Mul(y, log.high);
  const Term error = b->Sub(b->Imm(0), e.high);
  e.low = b->Fma(y, log.low, b->Fma(y, log.high, error));
  const Term small = b->LessEqual(Abs(b, e.high), b->Imm(300.0f));
  e.low = b->Select(small, e.low, b->Imm(0));
  // 1 to the power infinity.
  e.high = b->Select(b->Equal(ax, b->Imm(1.0f)), b->Imm(0), e.high);
  const Term magnitude = Exp2(b, e);

  const Term integer = b->Truncate(y);
  const Term whole = b->Or(b->Equal(b->FromInt(integer), y),
                           b->LessEqual(b->Imm(0x1p23f), Abs(b, y)));
  // The sign bit where x is negative and y an odd number.
  const Term odd = b->And(b->And(b->Shl(integer, 31), whole), x);
  const Term sign = b->Or(b->And(odd, b->ImmBits(kSignBit)), b->ImmBits(kOne));
  Term result = b->Mul(magnitude, sign);
  // A fraction as exponent of a negative number.
  const Term negative =
      b->And(b->Less(x, b->Imm(0)), b->Less(b->Imm(-kInfinity), x));
  const Term undefined = b->And(negative, b->Xor(whole, b->ImmBits(~0u)));
  result = b->Select(undefined, b->ImmBits(kNan), result);
  const Term unit = b->Or(b->Equal(x, b->Imm(1.0f)), b->Equal(y, b->Imm(0)));
  return b->Select(unit, b->Imm(1.0f), result);
}

}  // namespace heddle::compiler
