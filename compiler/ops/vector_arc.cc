// SPDX-License-Identifier: Apache-2.0
// Arc functions: odd polynomials (minimax fits, coefficients rounded to f32) of
// arguments that are brought near 0.
#include "compiler/ops/vector_math.h"
#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {
namespace {

constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;
constexpr float kPi = 0x1.921fb6p+1f, kPiLow = -0x1.777a5cp-24f;

// asin(t) = t + tail for |t| <= 1/2. Where |x| is more, t = sqrt((1 - |x|) / 2)
// and asin(|x|) = pi/2 - 2 asin(t). Beyond 1 t is NaN.
struct ArcSine {
  Term large;  // whether |x| is more than 1/2
  Term t;      // with x's sign unless large
  Term tail;
};
ArcSine ReduceArcSine(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {0x1.55554cp-3f, 0x1.3338acp-4f, 0x1.6ca754p-5f,
                            0x1.04d2dap-5f, 0x1.d525f6p-7f, 0x1.34c29ep-5f};
  const Term a = Abs(b, x);
  const Term large = b->Less(b->Imm(0.5f), a);
  const Term half = b->Fma(a, b->Imm(-0.5f), b->Imm(0.5f));  // exact
  const Term z = b->Select(large, half, b->Mul(a, a));
  const Term t = b->Select(large, b->Sqrt(half), x);
  return {large, t, b->Mul(b->Mul(t, z), Polynomial(b, z, kOdd))};
}

}  // namespace

Term Asin(ProgramBuilder* b, Term x) {
  const ArcSine y = ReduceArcSine(b, x);
  // pi/2 - 2t with what rounding takes from it.
  const Term twice = b->Add(y.t, y.t);
  const Term head = b->Sub(b->Imm(kHalfPi), twice);
  const Term lost = b->Sub(b->Sub(b->Imm(kHalfPi), head), twice);
  const Term rest =
      b->Add(b->Fma(y.tail, b->Imm(-2.0f), b->Imm(kHalfPiLow)), lost);
  const Term large = WithSignOf(b, b->Add(head, rest), x);
  return b->Select(y.large, large, b->Add(y.t, y.tail));
}

Term Acos(ProgramBuilder* b, Term x) {
  const ArcSine y = ReduceArcSine(b, x);
  const Term twice = b->Add(y.t, y.t), tail = b->Add(y.tail, y.tail);
  // pi - 2 asin(t) below -1/2, 2 asin(t) above 1/2.
  const Term low = b->Less(x, b->Imm(0));
  const Term head = b->Select(low, b->Sub(b->Imm(kPi), twice), twice);
  const Term rest = b->Select(low, b->Sub(b->Imm(kPiLow), tail), tail);
  const Term near_head = b->Sub(b->Imm(kHalfPi), y.t);
  const Term near_rest = b->Sub(b->Imm(kHalfPiLow), y.tail);
  return b->Add(b->Select(y.large, head, near_head),
                b->Select(y.large, rest, near_rest));
}

Term Atan(ProgramBuilder* b, Term x) {
  constexpr float kOdd[] = {-0x1.55553ep-2f, 0x1.9991e4p-3f,  -0x1.2420aap-3f,
                            0x1.c090e4p-4f,  -0x1.582582p-4f, 0x1.dacec8p-5f,
                            -0x1.ff6082p-6f, 0x1.66d9cap-7f,  -0x1.d96c58p-10f};
  // Above 1: pi/2 + atan(-1 / |x|).
  const Term a = Abs(b, x);
  const Term large = b->Less(b->Imm(1.0f), a);
  const Term t = b->Select(large, b->Div(b->Imm(-1.0f), a), a);
  const Term z = b->Mul(t, t);
  const Term low = b->And(large, b->Imm(kHalfPiLow));
  const Term rest =
      b->Add(t, b->Fma(b->Mul(t, z), Polynomial(b, z, kOdd), low));
  return WithSignOf(b, b->Add(b->And(large, b->Imm(kHalfPi)), rest), x);
}

}  // namespace heddle::compiler
