// SPDX-License-Identifier: Apache-2.0
// Functions of floats as straight-line steps over a builder B: a program of the
// vector engine (compiler/ops/microprogram.h), or vectors of the CPU that
// compute at once (vector_builder.h). One definition, so both give equal bits;
// compiler/ops/vector_math.h says what the functions are.
//
// B::TermType is a value of 32 bits, B's members are those of ProgramBuilder.
// Polynomials are minimax fits (Remez), coefficients rounded to f32.
//
// Units with special instructions include this: it includes nothing that
// another unit could get a copy of.
#ifndef HEDDLE_COMPILER_LANES_TERMS_H_
#define HEDDLE_COMPILER_LANES_TERMS_H_

#include <cstddef>
#include <cstdint>

// In line even where a function is long, so that a vector never leaves its
// register.
#define HEDDLE_TERMS __attribute__((always_inline)) inline

namespace heddle::compiler {

template <typename B>
using TermOf = typename B::TermType;

namespace terms {

inline constexpr float kInfinity = __builtin_inff();
inline constexpr uint32_t kSignBit = 0x80000000u;
inline constexpr uint32_t kOne = 0x3f800000u;
inline constexpr uint32_t kNan = 0x7fc00000u;
inline constexpr float kLn2High = 0x1.62e4p-1f;  // 16 bits: exact times k
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;

// Horner's rule; coefficients from the constant on.
template <typename B, size_t n>
HEDDLE_TERMS TermOf<B> Polynomial(B* b, TermOf<B> x, const float (&c)[n]) {
  auto y = b->Imm(c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) y = b->Fma(y, x, b->Imm(c[i]));
  return y;
}

// x * 1 or x * -1 with the sign of `sign`; a NaN becomes the one NaN.
template <typename B>
HEDDLE_TERMS TermOf<B> WithSignOf(B* b, TermOf<B> x, TermOf<B> sign) {
  const auto one = b->Or(b->And(sign, b->ImmBits(kSignBit)), b->ImmBits(kOne));
  return b->Mul(x, one);
}

// 2^n, n within -126 .. 127.
template <typename B>
HEDDLE_TERMS TermOf<B> PowerOfTwo(B* b, TermOf<B> n) {
  return b->Shl(b->IAdd(n, b->ImmBits(127)), 23);
}

// x = n ln2 + r with |r| <= ln2 / 2, and exp(r) - 1 with its error relative to
// itself. |x| may be 2^15 at most.
template <typename B>
struct Reduced {
  TermOf<B> n;
  TermOf<B> expm1;
};
template <typename B>
HEDDLE_TERMS Reduced<B> ReduceExp(B* b, TermOf<B> x) {
  constexpr float kTail[] = {0.5f, 0x1.555490p-3f, 0x1.55545ep-5f,
                             0x1.123b4ep-7f, 0x1.6db3dap-10f};
  const auto n = b->Round(b->Mul(x, b->Imm(0x1.715476p+0f)));
  const auto k = b->FromInt(n);
  auto r = b->Fma(k, b->Imm(-0x1.62e4p-1f), x);
  r = b->Fma(k, b->Imm(-0x1.7f7d1cp-20f), r);
  const auto tail = b->Mul(Polynomial(b, r, kTail), r);
  return {n, b->Fma(tail, r, r)};
}

// log(1 + f) - f for |f| <= 1/3, plus `rest`.
template <typename B>
HEDDLE_TERMS TermOf<B> LogTail(B* b, TermOf<B> f, TermOf<B> rest) {
  constexpr float kTail[] = {-0.5f,           0x1.555558p-2f,  -0x1.ffff14p-3f,
                             0x1.999612p-3f,  -0x1.559838p-3f, 0x1.251e0ep-3f,
                             -0x1.f39f54p-4f, 0x1.b4dd38p-4f,  -0x1.06e49ep-3f,
                             0x1.f99dcep-4f};
  return b->Fma(b->Mul(f, f), Polynomial(b, f, kTail), rest);
}

template <typename B>
HEDDLE_TERMS TermOf<B> Abs(B* b, TermOf<B> x) {
  return b->And(x, b->ImmBits(~kSignBit));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Neg(B* b, TermOf<B> x) {
  return b->Xor(x, b->ImmBits(kSignBit));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Sign(B* b, TermOf<B> x) {
  const auto one = b->Or(b->And(x, b->ImmBits(kSignBit)), b->ImmBits(kOne));
  // Zeros and NaN are their own sign.
  const auto other = b->Less(b->Imm(0), Abs(b, x));
  return b->Select(other, one, x);
}

// Whole numbers with x's sign; x itself where it has no fraction (or is NaN).
template <typename B>
HEDDLE_TERMS TermOf<B> Whole(B* b, TermOf<B> x, TermOf<B> rounded) {
  const auto sign = b->And(x, b->ImmBits(kSignBit));
  const auto small = b->Less(Abs(b, x), b->Imm(0x1p23f));
  return b->Select(small, b->Or(rounded, sign), x);
}

template <typename B>
HEDDLE_TERMS TermOf<B> Floor(B* b, TermOf<B> x) {
  const auto t = b->FromInt(b->Truncate(x));
  const auto one = b->And(b->Less(x, t), b->ImmBits(kOne));
  return Whole(b, x, b->Sub(t, one));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Ceil(B* b, TermOf<B> x) {
  const auto t = b->FromInt(b->Truncate(x));
  const auto one = b->And(b->Less(t, x), b->ImmBits(kOne));
  return Whole(b, x, b->Add(t, one));
}

template <typename B>
HEDDLE_TERMS TermOf<B> RoundEven(B* b, TermOf<B> x) {
  return Whole(b, x, b->FromInt(b->Round(x)));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Exp(B* b, TermOf<B> x) {
  // Beyond these bounds the result is 0 or infinity by itself.
  x = b->Min(b->Imm(89.0f), b->Max(b->Imm(-104.0f), x));
  const auto e = ReduceExp(b, x);
  const auto y = b->Add(e.expm1, b->Imm(1.0f));
  // 2^n in two factors: the second multiplication alone can round (to a
  // subnormal number) or overflow.
  const auto half = b->Sar(e.n, 1);
  const auto rest = b->ISub(e.n, half);
  return b->Mul(b->Mul(y, PowerOfTwo(b, half)), PowerOfTwo(b, rest));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Expm1NonPositive(B* b, TermOf<B> x) {
  x = b->Min(b->Imm(1.0f), b->Max(b->Imm(-30.0f), x));
  const auto e = ReduceExp(b, x);
  const auto scale = PowerOfTwo(b, e.n);
  return b->Fma(e.expm1, scale, b->Sub(scale, b->Imm(1.0f)));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Log(B* b, TermOf<B> x) {
  // Subnormal numbers times 2^25.
  const auto tiny = b->Less(x, b->Imm(0x1p-126f));
  const auto scaled = b->Select(tiny, b->Mul(x, b->Imm(0x1p25f)), x);
  const auto shift = b->And(tiny, b->ImmBits(static_cast<uint32_t>(-25)));
  // x = 2^k m, 2/3 <= m < 4/3.
  const auto offset = b->ISub(scaled, b->ImmBits(0x3f2aaaab));
  const auto k = b->FromInt(b->IAdd(b->Sar(offset, 23), shift));
  const auto m = b->ISub(scaled, b->And(offset, b->ImmBits(0xff800000u)));
  const auto f = b->Sub(m, b->Imm(1.0f));
  const auto low = b->Mul(k, b->Imm(kLn2Low));
  const auto y = b->Fma(k, b->Imm(kLn2High), b->Add(f, LogTail(b, f, low)));
  // +inf stays, 0 gives -inf, NaN and everything below 0 NaN.
  auto result = b->Select(b->Equal(x, b->Imm(kInfinity)), x, y);
  result = b->Select(b->Less(b->Imm(0), x), result, b->ImmBits(kNan));
  return b->Select(b->Equal(x, b->Imm(0)), b->Imm(-kInfinity), result);
}

template <typename B>
HEDDLE_TERMS TermOf<B> Log1pUnit(B* b, TermOf<B> x) {
  // 1 + x = m or 2m, with f = m - 1 within -1/3 .. 1/3.
  const auto large = b->Less(b->Imm(1.0f / 3), x);
  const auto half = b->Mul(b->Sub(x, b->Imm(1.0f)), b->Imm(0.5f));
  const auto f = b->Select(large, half, x);
  const auto high = b->And(large, b->Imm(kLn2High));
  const auto low = b->And(large, b->Imm(kLn2Low));
  return b->Add(high, b->Add(f, LogTail(b, f, low)));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Tanh(B* b, TermOf<B> x) {
  constexpr float kOdd[] = {-0x1.555554p-2f, 0x1.11106ep-3f,  -0x1.b9f006p-5f,
                            0x1.6399dap-6f,  -0x1.0c3714p-7f, 0x1.19c342p-9f};
  const auto a = b->Min(b->Imm(10.0f), Abs(b, x));
  const auto z = b->Mul(a, a);
  const auto small = b->Fma(b->Mul(z, Polynomial(b, z, kOdd)), a, a);
  // 1 - 2 / (exp(2a) + 1)
  const auto e = ReduceExp(b, b->Add(a, a));
  const auto scale = PowerOfTwo(b, e.n);
  const auto denominator = b->Fma(e.expm1, scale, b->Add(scale, b->Imm(1.0f)));
  const auto large = b->Sub(b->Imm(1.0f), b->Div(b->Imm(2.0f), denominator));
  const auto y = b->Select(b->Less(a, b->Imm(0.625f)), small, large);
  return WithSignOf(b, y, x);
}

template <typename B>
HEDDLE_TERMS TermOf<B> Erf(B* b, TermOf<B> x) {
  // erf(a) = a + a P(a^2) below 0.925, 1 - exp(-a Q(a)) above.
  constexpr float kSmall[] = {
      0x1.06eba8p-3f, -0x1.812744p-2f,  0x1.ce2e1cp-4f, -0x1.b80ff2p-6f,
      0x1.54d42cp-8f, -0x1.aaa2dep-11f, 0x1.5e063ep-14f};
  constexpr float kLarge[] = {-0x1.20ef5ap+0f, -0x1.453088p-1f, -0x1.b340fep-4f,
                              0x1.85b300p-6f,  -0x1.dee814p-9f, 0x1.5578f6p-12f,
                              -0x1.82a08cp-17f};
  const auto a = b->Min(b->Imm(4.0f), Abs(b, x));
  const auto small = b->Fma(Polynomial(b, b->Mul(a, a), kSmall), a, a);
  const auto e = ReduceExp(b, b->Mul(a, Polynomial(b, a, kLarge)));
  const auto scale = PowerOfTwo(b, e.n);
  const auto large =
      b->Sub(b->Sub(b->Imm(1.0f), scale), b->Mul(e.expm1, scale));
  const auto y = b->Select(b->Less(a, b->Imm(0.925f)), small, large);
  return WithSignOf(b, y, x);
}

template <typename B>
HEDDLE_TERMS TermOf<B> Softplus(B* b, TermOf<B> x) {
  const auto e = Exp(b, b->Or(x, b->ImmBits(kSignBit)));
  return b->Add(b->Max(b->Imm(0), x), Log1pUnit(b, e));
}

template <typename B>
HEDDLE_TERMS TermOf<B> Sigmoid(B* b, TermOf<B> v) {
  constexpr float kP[] = {2.48287947061529e-01f, 8.51377133304701e-03f,
                          6.08574864600143e-05f, 1.15627324459942e-07f,
                          4.37031012579801e-11f};
  constexpr float kQ[] = {9.93151921023180e-01f, 1.16817656904453e-01f,
                          1.70198817374094e-03f, 6.29106785017040e-06f,
                          5.76102136993427e-09f, 6.10247389755681e-13f};
  const auto x = b->Min(b->Max(v, b->Imm(-18.0f)), b->Imm(18.0f));
  const auto u = b->Mul(x, x);
  const auto p = b->Mul(Polynomial(b, u, kP), x);
  const auto q = Polynomial(b, u, kQ);
  return b->Max(b->Add(b->Div(p, q), b->Imm(0.5f)), b->Imm(0));
}

// The Gelu family, see compiler/ops/gelu.cc.
template <typename B>
HEDDLE_TERMS TermOf<B> GeluExact(B* b, TermOf<B> x) {
  const auto half = b->Mul(x, b->Imm(0.5f));
  const auto erf = Erf(b, b->Mul(x, b->Imm(0x1.6a09e6p-1f)));
  return b->Mul(half, b->Add(erf, b->Imm(1.0f)));
}

template <typename B>
HEDDLE_TERMS TermOf<B> GeluTanh(B* b, TermOf<B> x) {
  const auto half = b->Mul(x, b->Imm(0.5f));
  const auto slope = b->Fma(b->Mul(x, x), b->Imm(0.0356774081363001f),
                            b->Imm(0.7978845608028654f));
  return b->Mul(half, b->Add(Tanh(b, b->Mul(x, slope)), b->Imm(1.0f)));
}

template <typename B>
HEDDLE_TERMS TermOf<B> GeluSigmoid(B* b, TermOf<B> x, TermOf<B> alpha) {
  return b->Mul(x, Sigmoid(b, b->Mul(alpha, x)));
}

}  // namespace terms
}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LANES_TERMS_H_
