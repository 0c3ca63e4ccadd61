// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions and their inverses: odd polynomials near 0 (minimax
// fits, coefficients rounded to f32), exponentials and logarithms elsewhere.
#include "compiler/ops/vector_math.h"
#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {
namespace {

// exp(a) / 2 and exp(-a) / 2 for a >= 0. NaN stays.
struct Halves {
  Term growing, falling;
};
Halves HalfExp(ProgramBuilder* b, Term a) {
  // The first is infinite by itself beyond this bound.
  const Reduced e = ReduceExp(b, b->Min(b->Imm(91.0f), a));
  const Term y = b->Add(e.expm1, b->Imm(1.0f));
  const Term n = b->ISub(e.n, b->ImmBits(1));
  const Term half = b->Sar(n, 1);
  const Term growing =
      b->Mul(b->Mul(y, PowerOfTwo(b, half)), PowerOfTwo(b, b->ISub(n, half)));
  return {growing, b->Div(b->Imm(0.25f), growing)};
}

// log(w) + rest + more ln2 of a normal number w.
Term LogPlus(ProgramBuilder* b, Term w, Term rest, Term more) {
  const Term offset = b->ISub(w, b->ImmBits(0x3f2aaaab));
  const Term k = b->Add(b->FromInt(b->Sar(offset, 23)), more);
  const Term m = b->ISub(w, b->And(offset, b->ImmBits(0xff800000u)));
  const Term f = b->Sub(m, b->Imm(1.0f));
  const Term low = b->Fma(k, b->Imm(kLn2Low), rest);
  return b->Fma(k, b->Imm(kLn2High), b->Add(f, LogTail(b, f, low)));
}

// log(high + low), high + low = a + s, and of 2a where a is so large that s is
// a; infinity and NaN stay.
Term LogOfSum(ProgramBuilder* b, Term a, Term high, Term low) {
  const Term huge = b->Less(b->Imm(4096.0f), a);
  const Term w = b->Select(huge, a, high);
  const Term rest = b->Select(huge, b->Imm(0), b->Div(low, high));
  const Term y = LogPlus(b, w, rest, b->And(huge, b->Imm(1.0f)));
  return b->Select(b->Less(a, b->Imm(kInfinity)), y, a);
}

}  // namespace

Term Sinh(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {0x1.555556p-3f, 0x1.1110e0p-7f, 0x1.a022bcp-13f,
                            0x1.756c1ep-19f};
  const Term a = Abs(b, x);
  const Term z = b->Mul(a, a);
  const Term small = b->Fma(b->Mul(a, z), Polynomial(b, z, kOdd), a);
  const Halves e = HalfExp(b, a);
  const Term large = b->Sub(e.growing, e.falling);
  return WithSignOf(b, b->Select(b->Less(a, b->Imm(1.0f)), small, large), x);
}

Term Cosh(ProgramBuilder* b, Term x) {
  const Halves e = HalfExp(b, Abs(b, x));
  return b->Add(e.growing, e.falling);
}

Term Asinh(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {-0x1.555524p-3f, 0x1.3325bcp-4f,  -0x1.6c71d8p-5f,
                            0x1.e29ca2p-6f,  -0x1.3a4776p-6f, 0x1.55cc66p-7f,
                            -0x1.f71d18p-9f, 0x1.615d46p-11f};
  const Term a = Abs(b, x);
  const Term z = b->Mul(a, a);
  const Term small = b->Fma(b->Mul(a, z), Polynomial(b, z, kOdd), a);
  // log(a + s), s = sqrt(a^2 + 1)
  const Term s = b->Sqrt(b->Fma(a, a, b->Imm(1.0f)));
  const Term high = b->Add(s, a);
  const Term low = b->Sub(a, b->Sub(high, s));
  const Term large = LogOfSum(b, a, high, low);
  return WithSignOf(b, b->Select(b->Less(a, b->Imm(1.0f)), small, large), x);
}

Term Acosh(ProgramBuilder* b, Term x) {
  // acosh(1 + t) = sqrt(2t) (1 + t P(t)) below 2; NaN below 1.
  constexpr float kSmall[] = {
      -0x1.55554ep-4f,  0x1.33302cp-6f,  -0x1.6d49a2p-8f, 0x1.ea5a86p-10f,
      -0x1.4ad87ep-11f, 0x1.6edf78p-13f, -0x1.c03c6ep-16f};
  const Term t = b->Sub(x, b->Imm(1.0f));
  const Term root = b->Sqrt(b->Add(t, t));
  const Term small = b->Fma(b->Mul(root, t), Polynomial(b, t, kSmall), root);
  // log(x + s), s = sqrt(x^2 - 1)
  const Term s = b->Sqrt(b->Fma(x, x, b->Imm(-1.0f)));
  const Term high = b->Add(x, s);
  const Term low = b->Sub(s, b->Sub(high, x));
  const Term large = LogOfSum(b, x, high, low);
  return b->Select(b->Less(x, b->Imm(2.0f)), small, large);
}

Term Atanh(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {0x1.555540p-2f, 0x1.99a678p-3f, 0x1.234d60p-3f,
                            0x1.e4045ep-4f, 0x1.a6975ep-5f, 0x1.6947dep-3f};
  const Term a = Abs(b, x);
  const Term z = b->Mul(a, a);
  const Term small = b->Fma(b->Mul(a, z), Polynomial(b, z, kOdd), a);
  // log((1 + a) / (1 - a)) / 2; 1 - a is exact. The error of the quotient,
  // relative to it, takes 1 / (1 + a), for which a line suffices.
  const Term above = b->Add(a, b->Imm(1.0f));
  const Term above_low = b->Sub(a, b->Sub(above, b->Imm(1.0f)));
  const Term below = b->Sub(b->Imm(1.0f), a);
  const Term q = b->Div(above, below);
  const Term residue = b->Add(b->Fma(Neg(b, q), below, above), above_low);
  const Term inverse = b->Fma(above, b->Imm(-1.0f / 3), b->Imm(7.0f / 6));
  const Term log = LogPlus(b, q, b->Mul(residue, inverse), b->Imm(0));
  const Term large = b->Mul(log, b->Imm(0.5f));
  Term y = b->Select(b->Less(a, b->Imm(0.5f)), small, large);
  // Infinity at 1, NaN beyond.
  const Term end =
      b->Select(b->Equal(a, b->Imm(1.0f)), b->Imm(kInfinity), b->ImmBits(kNan));
  y = b->Select(b->Less(a, b->Imm(1.0f)), y, end);
  return WithSignOf(b, y, x);
}

}  // namespace heddle::compiler
