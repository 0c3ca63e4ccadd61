// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and tangent: the argument modulo pi/2, then polynomials (minimax
// fits, coefficients rounded to f32).
//
// Below 2^17 the multiple of pi/2 is taken off in three parts. From there on
// x = m 2^s, m of 24 bits, is multiplied with those 96 bits of 2/pi that make
// quarters of a turn: m times the bits above is a multiple of four of them, and
// m times the bits below less than 2^-53. The least remainder of a float is
// 2^-29.
#include <array>

#include "compiler/ops/vector_math.h"
#include "compiler/ops/vector_parts.h"

namespace heddle::compiler {
namespace {

constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiMiddle = -0x1.777a5cp-25f,
                kHalfPiLow = -0x1.ee59dap-50f;

// |x| = quadrant * pi/2 + rest, |rest| <= 0.81. Of the quadrant the lowest two
// bits count.
struct Angle {
  Term quadrant, rest;
};

// |x| < 2^17. The first product is taken off exactly.
Angle ReduceSmall(ProgramBuilder* b, Term a) {
  const Term n = b->Round(b->Mul(a, b->Imm(0x1.45f306p-1f)));
  const Term k = b->FromInt(n);
  const Term first = b->Fma(k, b->Imm(-kHalfPi), a);
  // The second is a sum of two floats, and so is what it leaves.
  const Term middle = b->Mul(k, b->Imm(kHalfPiMiddle));
  const Term middle_low = b->Fma(k, b->Imm(kHalfPiMiddle), Neg(b, middle));
  const Term second = b->Sub(first, middle);
  Term low = b->Sub(b->Sub(first, second), middle);
  low = b->Sub(low, middle_low);
  low = b->Fma(k, b->Imm(-kHalfPiLow), low);
  return {n, b->Add(second, low)};
}

// 2^17 <= |x|, finite.
Angle ReduceLarge(ProgramBuilder* b, Term a) {
  // 2/pi after eight zeros: the bits that are needed begin with that of index
  // exponent - 144, of weight 2^1.
  constexpr std::array<uint32_t, 7> kWords = {
      0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd,
      0xc0db6295, 0x993c4390, 0x41fe5163};
  const Term index = b->ISub(b->Shr(a, 23), b->ImmBits(144));
  std::array<Term, 7> words;
  const Term second = b->And(index, b->ImmBits(64));
  for (int i = 0; i < 5; ++i) {
    words[i] =
        b->Select(second, b->ImmBits(kWords[i + 2]), b->ImmBits(kWords[i]));
  }
  const Term first = b->And(index, b->ImmBits(32));
  for (int i = 0; i < 4; ++i) {
    words[i] = b->Select(first, words[i + 1], words[i]);
  }
  // Shifts are modulo 32; by 32 to the right in two steps.
  const Term back = b->Xor(index, b->ImmBits(31));
  std::array<Term, 3> bits;
  for (int i = 0; i < 3; ++i) {
    const Term next = b->Op(isa::MicroOp::kIshr, b->Shr(words[i + 1], 1), back);
    bits[i] = b->Or(b->Op(isa::MicroOp::kIshl, words[i], index), next);
  }
  // m times the first word in units of 2^-30, modulo 4: the quadrant and its
  // rest.
  const Term m = b->Or(b->And(a, b->ImmBits(0x7fffff)), b->ImmBits(0x800000));
  const Term product = b->IMul(m, bits[0]);
  const Term quadrant = b->Sar(b->IAdd(product, b->ImmBits(1u << 29)), 30);
  const Term rest = b->ISub(product, b->Shl(quadrant, 30));
  // In the same units the next 24 bits, whose product is less than 2^24 and
  // exact as a sum of two floats, and 24 more, whose product is less than 1.
  const Term f = b->Mul(b->FromInt(m), b->Imm(0x1p-24f));
  const Term middle = b->FromInt(b->Shr(bits[1], 8));
  const Term high = b->Mul(f, middle);
  const Term high_error = b->Fma(f, middle, Neg(b, high));
  const Term last =
      b->FromInt(b->Or(b->Shr(b->Shl(bits[1], 24), 8), b->Shr(bits[2], 16)));
  const Term low = b->Fma(f, b->Mul(last, b->Imm(0x1p-24f)), high_error);
  const Term whole = b->Truncate(high);
  const Term fraction = b->Add(b->Sub(high, b->FromInt(whole)), low);
  // The integer as two floats, the lower with the fraction.
  const Term sum = b->IAdd(rest, whole);
  const Term big = b->FromInt(sum);
  const Term small =
      b->Add(b->FromInt(b->ISub(sum, b->Truncate(big))), fraction);
  const Term r = b->Add(big, small);
  const Term r_low = b->Sub(small, b->Sub(r, big));
  const Term scaled = b->Fma(r, b->Imm(kHalfPiMiddle * 0x1p-30f),
                             b->Mul(r_low, b->Imm(kHalfPi * 0x1p-30f)));
  return {quadrant, b->Fma(r, b->Imm(kHalfPi * 0x1p-30f), scaled)};
}

Angle ReduceAngle(ProgramBuilder* b, Term x) {
  const Term a = Abs(b, x);
  const Term large = b->ILess(b->Imm(0x1.fffffep16f), a);
  const Angle below = ReduceSmall(b, a), above = ReduceLarge(b, a);
  Term rest = b->Select(large, above.rest, below.rest);
  // Infinities have no sine.
  rest = b->Select(b->Less(a, b->Imm(kInfinity)), rest, b->ImmBits(kNan));
  return {b->Select(large, above.quadrant, below.quadrant), rest};
}

struct SineAndCosine {
  Term sine, cosine;
};
SineAndCosine OfRest(ProgramBuilder* b, Term r) {
  constexpr float kSine[] = {-0x1.555556p-3f, 0x1.111170p-7f, -0x1.a053fap-13f,
                             0x1.7a8aa6p-19f};
  constexpr float kCosine[] = {0x1.55554ap-5f, -0x1.6c0c08p-10f,
                               0x1.99d83ap-16f};
  const Term z = b->Mul(r, r);
  const Term sine = b->Fma(b->Mul(r, z), Polynomial(b, z, kSine), r);
  const Term head = b->Fma(z, b->Imm(-0.5f), b->Imm(1.0f));
  const Term cosine = b->Fma(b->Mul(z, z), Polynomial(b, z, kCosine), head);
  return {sine, cosine};
}

// All ones for odd quadrants.
Term IsOdd(ProgramBuilder* b, Term quadrant) {
  return b->Sar(b->Shl(quadrant, 31), 31);
}

}  // namespace

Term Sin(ProgramBuilder* b, Term x) {
  const Angle angle = ReduceAngle(b, x);
  const SineAndCosine y = OfRest(b, angle.rest);
  const Term value = b->Select(IsOdd(b, angle.quadrant), y.cosine, y.sine);
  return WithSignOf(b, value, b->Xor(b->Shl(angle.quadrant, 30), x));
}

Term Cos(ProgramBuilder* b, Term x) {
  const Angle angle = ReduceAngle(b, x);
  const Term quadrant = b->IAdd(angle.quadrant, b->ImmBits(1));
  const SineAndCosine y = OfRest(b, angle.rest);
  const Term value = b->Select(IsOdd(b, quadrant), y.cosine, y.sine);
  return WithSignOf(b, value, b->Shl(quadrant, 30));
}

Term Tan(ProgramBuilder* b, Term x) {
  const Angle angle = ReduceAngle(b, x);
  const SineAndCosine y = OfRest(b, angle.rest);
  const Term odd = IsOdd(b, angle.quadrant);
  const Term quotient = b->Div(b->Select(odd, y.cosine, y.sine),
                               b->Select(odd, y.sine, y.cosine));
  return WithSignOf(b, quotient, b->Xor(odd, x));
}

}  // namespace heddle::compiler
