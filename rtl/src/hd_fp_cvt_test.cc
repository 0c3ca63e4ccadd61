// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_cvt against numerics.h: special operands, random ones and every 1999th;
// all 2^32 when HEDDLE_FP_ITERATIONS asks for that many.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "Vhd_fp_cvt.h"
#include "rtl/testbench/fp_operands.h"
#include "rtl/testbench/lane_unit.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

enum Op { kF2i, kF2iTrunc, kI2f, kRhalf, kRbf };

uint32_t Expected(Op op, uint32_t a) {
  switch (op) {
    case kF2i:
      return static_cast<uint32_t>(model::Rne(FromBits(a)));
    case kF2iTrunc:
      return static_cast<uint32_t>(model::Trunc(FromBits(a)));
    case kI2f:
      return Bits(model::I32ToF32(static_cast<int32_t>(a)));
    case kRhalf:
      return Bits(model::F16ToF32(model::F32ToF16(FromBits(a))));
    default:
      return Bits(model::Bf16ToF32(model::F32ToBf16(FromBits(a))));
  }
}

class HdFpCvt : public ::testing::TestWithParam<Op> {
 protected:
  void Check(uint32_t a) {
    unit.Check(GetParam(), a, 0, 0, Expected(GetParam(), a));
  }

  model::ScopedFpEnvironment environment;
  LaneUnit<Vhd_fp_cvt> unit;
};

class HdFpCvtRounds : public ::testing::Test {
 protected:
  void CheckBoth(Op op, uint32_t a, uint32_t want) {
    unit.Check(op, a, 0, 0, want);
    unit.Check(op, a | 0x80000000u, 0, 0, want | 0x80000000u);
  }
  LaneUnit<Vhd_fp_cvt> unit;
};

TEST_P(HdFpCvt, SpecialAndNeighbours) {
  for (const uint32_t a : SpecialValues()) Check(a);
  // Around every power of two of either kind, and around every tie of rne.
  for (uint32_t bit = 0; bit < 32; ++bit) {
    for (uint32_t d = 0; d < 600; ++d) {
      Check((1u << bit) + d - 300);
      Check(-((1u << bit) + d - 300));
    }
  }
  for (uint32_t e = 0; e < 512; ++e) {
    for (uint32_t d = 0; d < 64; ++d) Check((e << 23) + d - 32);
  }
  for (int i = -70000; i < 70000; ++i) {
    const uint32_t tie = Bits(static_cast<float>(i) * 0.5f);
    Check(tie - 1);
    Check(tie);
    Check(tie + 1);
  }
  unit.Flush();
}

TEST_P(HdFpCvt, ManyPatterns) {
  const uint64_t n = RandomCount(2000000);
  const uint64_t step = n >= (uint64_t{1} << 32) ? 1 : 1999;
  for (uint64_t a = 0; a >> 32 == 0 && !HasFailure(); a += step) {
    Check(static_cast<uint32_t>(a));
  }
  FpRandom random(GetParam());
  for (uint64_t i = 0; step > 1 && i < n && !HasFailure(); ++i) {
    Check(random.Any());
  }
  unit.Flush();
  EXPECT_GE(unit.checked(), n);
}

INSTANTIATE_TEST_SUITE_P(Ops, HdFpCvt,
                         ::testing::Values(kF2i, kF2iTrunc, kI2f, kRhalf,
                                           kRbf));

// What fp16 and bf16 hold stays; what lies between two goes to the nearer one,
// from the middle to the even one. Without numerics.h.
TEST_F(HdFpCvtRounds, EveryNumberAndEveryMiddle) {
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    const uint32_t e = h >> 10, m = h & 0x3ff;
    const float low = e == 0
                          ? std::ldexp(static_cast<float>(m), -24)
                          : std::ldexp(1024.0f + m, static_cast<int>(e) - 25);
    const float step = std::ldexp(1.0f, e < 2 ? -24 : static_cast<int>(e) - 25);
    const bool last = h == 0x7bff;
    const float high = last ? INFINITY : low + step, middle = low + step / 2;
    CheckBoth(kRhalf, Bits(low), Bits(low));
    CheckBoth(kRhalf, Bits(middle) - 1, Bits(low));
    CheckBoth(kRhalf, Bits(middle), Bits(m % 2 == 0 ? low : high));
    CheckBoth(kRhalf, Bits(middle) + 1, Bits(high));
  }
  for (uint32_t h = 0; h < 0x7f80; ++h) {
    const uint32_t low = h << 16, middle = low + 0x8000, high = low + 0x10000;
    CheckBoth(kRbf, low, low);
    CheckBoth(kRbf, middle - 1, low);
    CheckBoth(kRbf, middle, h % 2 == 0 ? low : high);
    CheckBoth(kRbf, middle + 1, high);
  }
  unit.Flush();
}

}  // namespace
}  // namespace heddle::rtl
