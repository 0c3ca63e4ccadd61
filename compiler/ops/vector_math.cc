// SPDX-License-Identifier: Apache-2.0
// Polynomials are minimax fits (Remez), coefficients rounded to f32.
#include "compiler/ops/vector_math.h"

#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {
Term WithSignOf(ProgramBuilder* b, Term x, Term sign) {
  const Term one = b->Or(b->And(sign, b->ImmBits(kSignBit)), b->ImmBits(kOne));
  return b->Mul(x, one);
}

Term PowerOfTwo(ProgramBuilder* b, Term n) {
  return b->Shl(b->IAdd(n, b->ImmBits(127)), 23);
}

Reduced ReduceExp(ProgramBuilder* b, Term x) {
  constexpr float kTail[] = {0.5f, 0x1.555490p-3f, 0x1.55545ep-5f,
                             0x1.123b4ep-7f, 0x1.6db3dap-10f};
  const Term n = b->Round(b->Mul(x, b->Imm(0x1.715476p+0f)));
  const Term k = b->FromInt(n);
  Term r = b->Fma(k, b->Imm(-0x1.62e4p-1f), x);
  r = b->Fma(k, b->Imm(-0x1.7f7d1cp-20f), r);
  const Term tail = b->Mul(Polynomial(b, r, kTail), r);
  return {n, b->Fma(tail, r, r)};
}

Term LogTail(ProgramBuilder* b, Term f, Term rest) {
  constexpr float kTail[] = {-0.5f,           0x1.555558p-2f,  -0x1.ffff14p-3f,
                             0x1.999612p-3f,  -0x1.559838p-3f, 0x1.251e0ep-3f,
                             -0x1.f39f54p-4f, 0x1.b4dd38p-4f,  -0x1.06e49ep-3f,
                             0x1.f99dcep-4f};
  return b->Fma(b->Mul(f, f), Polynomial(b, f, kTail), rest);
}

Term Abs(ProgramBuilder* b, Term x) { return b->And(x, b->ImmBits(~kSignBit)); }

Term Neg(ProgramBuilder* b, Term x) { return b->Xor(x, b->ImmBits(kSignBit)); }

Term Sign(ProgramBuilder* b, Term x) {
  const Term one = b->Or(b->And(x, b->ImmBits(kSignBit)), b->ImmBits(kOne));
  // Zeros and NaN are their own sign.
  const Term other = b->Less(b->Imm(0), Abs(b, x));
  return b->Select(other, one, x);
}

namespace {

// Whole numbers with x's sign; x itself where it has no fraction (or is NaN).
Term Whole(ProgramBuilder* b, Term x, Term rounded) {
  const Term sign = b->And(x, b->ImmBits(kSignBit));
  const Term small = b->Less(Abs(b, x), b->Imm(0x1p23f));
  return b->Select(small, b->Or(rounded, sign), x);
}

}  // namespace

Term Floor(ProgramBuilder* b, Term x) {
  const Term t = b->FromInt(b->Truncate(x));
  const Term one = b->And(b->Less(x, t), b->ImmBits(kOne));
  return Whole(b, x, b->Sub(t, one));
}

Term Ceil(ProgramBuilder* b, Term x) {
  const Term t = b->FromInt(b->Truncate(x));
  const Term one = b->And(b->Less(t, x), b->ImmBits(kOne));
  return Whole(b, x, b->Add(t, one));
}

Term RoundEven(ProgramBuilder* b, Term x) {
  return Whole(b, x, b->FromInt(b->Round(x)));
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

Term Exp(ProgramBuilder* b, Term x) {
  // Beyond these bounds the result is 0 or infinity by itself.
  x = b->Min(b->Imm(89.0f), b->Max(b->Imm(-104.0f), x));
  const Reduced e = ReduceExp(b, x);
  const Term y = b->Add(e.expm1, b->Imm(1.0f));
  // 2^n in two factors: the second multiplication alone can round (to a
  // subnormal number) or overflow.
  const Term half = b->Sar(e.n, 1);
  const Term rest = b->ISub(e.n, half);
  return b->Mul(b->Mul(y, PowerOfTwo(b, half)), PowerOfTwo(b, rest));
}

Term Expm1NonPositive(ProgramBuilder* b, Term x) {
  x = b->Min(b->Imm(1.0f), b->Max(b->Imm(-30.0f), x));
  const Reduced e = ReduceExp(b, x);
  const Term scale = PowerOfTwo(b, e.n);
  return b->Fma(e.expm1, scale, b->Sub(scale, b->Imm(1.0f)));
}

Term Log(ProgramBuilder* b, Term x) {
  // Subnormal numbers times 2^25.
  const Term tiny = b->Less(x, b->Imm(0x1p-126f));
  const Term scaled = b->Select(tiny, b->Mul(x, b->Imm(0x1p25f)), x);
  const Term shift = b->And(tiny, b->ImmBits(static_cast<uint32_t>(-25)));
  // x = 2^k m, 2/3 <= m < 4/3.
  const Term offset = b->ISub(scaled, b->ImmBits(0x3f2aaaab));
  const Term k = b->FromInt(b->IAdd(b->Sar(offset, 23), shift));
  const Term m = b->ISub(scaled, b->And(offset, b->ImmBits(0xff800000u)));
  const Term f = b->Sub(m, b->Imm(1.0f));
  const Term low = b->Mul(k, b->Imm(kLn2Low));
  const Term y = b->Fma(k, b->Imm(kLn2High), b->Add(f, LogTail(b, f, low)));
  // +inf stays, 0 gives -inf, NaN and everything below 0 NaN.
  Term result = b->Select(b->Equal(x, b->Imm(kInfinity)), x, y);
  result = b->Select(b->Less(b->Imm(0), x), result, b->ImmBits(kNan));
  return b->Select(b->Equal(x, b->Imm(0)), b->Imm(-kInfinity), result);
}

Term Log1pUnit(ProgramBuilder* b, Term x) {
  // 1 + x = m or 2m, with f = m - 1 within -1/3 .. 1/3.
  const Term large = b->Less(b->Imm(1.0f / 3), x);
  const Term half = b->Mul(b->Sub(x, b->Imm(1.0f)), b->Imm(0.5f));
  const Term f = b->Select(large, half, x);
  const Term high = b->And(large, b->Imm(kLn2High));
  const Term low = b->And(large, b->Imm(kLn2Low));
  return b->Add(high, b->Add(f, LogTail(b, f, low)));
}

Term Tanh(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {-0x1.555554p-2f, 0x1.11106ep-3f,  -0x1.b9f006p-5f,
                            0x1.6399dap-6f,  -0x1.0c3714p-7f, 0x1.19c342p-9f};
  const Term a = b->Min(b->Imm(10.0f), Abs(b, x));
  const Term z = b->Mul(a, a);
  const Term small = b->Fma(b->Mul(z, Polynomial(b, z, kOdd)), a, a);
  // 1 - 2 / (exp(2a) + 1)
  const Reduced e = ReduceExp(b, b->Add(a, a));
  const Term scale = PowerOfTwo(b, e.n);
  const Term denominator = b->Fma(e.expm1, scale, b->Add(scale, b->Imm(1.0f)));
  const Term large = b->Sub(b->Imm(1.0f), b->Div(b->Imm(2.0f), denominator));
  const Term y = b->Select(b->Less(a, b->Imm(0.625f)), small, large);
  return WithSignOf(b, y, x);
}

Term Erf(ProgramBuilder* b, Term x) {
  // erf(a) = a + a P(a^2) below 0.925, 1 - exp(-a Q(a)) above.
  constexpr float kSmall[] = {
      0x1.06eba8p-3f, -0x1.812744p-2f,  0x1.ce2e1cp-4f, -0x1.b80ff2p-6f,
      0x1.54d42cp-8f, -0x1.aaa2dep-11f, 0x1.5e063ep-14f};
  constexpr float kLarge[] = {-0x1.20ef5ap+0f, -0x1.453088p-1f, -0x1.b340fep-4f,
                              0x1.85b300p-6f,  -0x1.dee814p-9f, 0x1.5578f6p-12f,
                              -0x1.82a08cp-17f};
  const Term a = b->Min(b->Imm(4.0f), Abs(b, x));
  const Term small = b->Fma(Polynomial(b, b->Mul(a, a), kSmall), a, a);
  const Reduced e = ReduceExp(b, b->Mul(a, Polynomial(b, a, kLarge)));
  const Term scale = PowerOfTwo(b, e.n);
  const Term large =
      b->Sub(b->Sub(b->Imm(1.0f), scale), b->Mul(e.expm1, scale));
  const Term y = b->Select(b->Less(a, b->Imm(0.925f)), small, large);
  return WithSignOf(b, y, x);
}

Term Softplus(ProgramBuilder* b, Term x) {
  const Term e = Exp(b, b->Or(x, b->ImmBits(kSignBit)));
  return b->Add(b->Max(b->Imm(0), x), Log1pUnit(b, e));
}

Term Sigmoid(ProgramBuilder* b, Term v) {
  constexpr float kP[] = {2.48287947061529e-01f, 8.51377133304701e-03f,
                          6.08574864600143e-05f, 1.15627324459942e-07f,
                          4.37031012579801e-11f};
  constexpr float kQ[] = {9.93151921023180e-01f, 1.16817656904453e-01f,
                          1.70198817374094e-03f, 6.29106785017040e-06f,
                          5.76102136993427e-09f, 6.10247389755681e-13f};
  const Term x = b->Min(b->Max(v, b->Imm(-18.0f)), b->Imm(18.0f));
  const Term u = b->Mul(x, x);
  const Term p = b->Mul(Polynomial(b, u, kP), x);
  const Term q = Polynomial(b, u, kQ);
  return b->Max(b->Add(b->Div(p, q), b->Imm(0.5f)), b->Imm(0));
}

}  // namespace heddle::compiler
