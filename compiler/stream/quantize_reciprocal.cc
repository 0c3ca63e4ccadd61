// SPDX-License-Identifier: Apache-2.0
// With r = f32(1 / s), q0 = f32(x * r) is off by at most two roundings, the
// remainder x - q0 * s is nearly exact by a fused multiply-add, and
// q = fma(remainder, r, q0) is off by about one (P. Markstein, "Computation of
// elementary functions on the IBM RISC System/6000 processor", IBM J. R&D 34,
// 1990). So q and the rounded quotient are both within x/s * 2^-23 of x/s, and
// they round to different integers only if x is within a few units in the last
// place of a tie. There are at most 255 ties: their neighbours are tried here.
//
// x is clamped first to what gives the highest code. The lowest bounds the
// integer: x far below, -infinity (infinity less infinity) and a NaN all round
// to -2^31 or at least to less than it, as the division does.
#include "compiler/stream/quantize_reciprocal.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// Outside, products or remainders of values that matter might be subnormal.
constexpr float kSmallest = 0x1p-60f, kLargest = 0x1p60f;
// More than the few units in which the two quotients can differ.
constexpr int kNeighbours = 8;

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

std::optional<QuantizeByReciprocal> MakeQuantizeByReciprocal(
    float scale, int32_t low, int32_t high, int32_t zero, bool integers) {
  if (!(scale >= kSmallest && scale <= kLargest)) return std::nullopt;
  const float r = model::FDiv(1.0f, scale);
  const float first = model::FMul(model::I32ToF32(low), scale);
  const float last = model::FMul(model::I32ToF32(high), scale);
  const auto by_reciprocal = [&](float x) {
    x = model::FMin(x, last);
    const float q = model::FMul(x, r);
    return std::max(low,
                    model::Rne(model::Fma(model::Fma(q, -scale, x), r, q)));
  };
  const auto by_division = [&](float x) {
    return model::Cro(model::FDiv(x, scale), low, high, 0);
  };
  if (by_reciprocal(first) != low || by_division(first) != low ||
      by_reciprocal(last) != high || by_division(last) != high) {
    return std::nullopt;
  }
  for (int32_t code = low; code < high; ++code) {
    float x = (static_cast<float>(code) + 0.5f) * scale;
    for (int i = 0; i < kNeighbours; ++i) x = std::nextafter(x, -INFINITY);
    for (int i = 0; i <= 2 * kNeighbours; ++i) {
      if (by_reciprocal(x) != by_division(x)) return std::nullopt;
      x = std::nextafter(x, INFINITY);
    }
  }

  ProgramBuilder b;
  Term x = integers ? b.FromInt(ProgramBuilder::A()) : ProgramBuilder::A();
  x = b.Min(x, ProgramBuilder::Arg(3));
  Term q = b.Mul(x, ProgramBuilder::Arg(0));
  q = b.Fma(b.Fma(q, ProgramBuilder::Arg(1), x), ProgramBuilder::Arg(0), q);
  Term code = b.IMax(b.Round(q), ProgramBuilder::Arg(2));
  if (zero != 0) {
    code = b.IAdd(code, ProgramBuilder::ImmBits(static_cast<uint32_t>(zero)));
  }
  b.Out(code);
  auto program = b.Finish();
  if (!program.ok()) return std::nullopt;
  return QuantizeByReciprocal{
      *std::move(program),
      {Bits(r), Bits(-scale), static_cast<uint32_t>(low), Bits(last)}};
}

}  // namespace heddle::compiler
