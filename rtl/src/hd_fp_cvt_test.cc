// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_cvt against numerics.h. Operands of 16 bits: all of them. Operands of
// 32 bits: special ones, random ones and every 1999th; all 2^32 when
// HEDDLE_FP_ITERATIONS asks for that many.

#include <gtest/gtest.h>

#include <cstdint>

#include "Vhd_fp_cvt.h"
#include "rtl/testbench/fp_operands.h"
#include "rtl/testbench/lane_unit.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

enum Op { kF2i, kF2iTrunc, kI2f, kF32F16, kF32Bf16, kF16F32, kBf16F32 };

uint32_t Expected(Op op, uint32_t a) {
  switch (op) {
    case kF2i:
      return static_cast<uint32_t>(model::Rne(FromBits(a)));
    case kF2iTrunc:
      return static_cast<uint32_t>(model::Trunc(FromBits(a)));
    case kI2f:
      return Bits(model::I32ToF32(static_cast<int32_t>(a)));
    case kF32F16:
      return model::F32ToF16(FromBits(a));
    case kF32Bf16:
      return model::F32ToBf16(FromBits(a));
    case kF16F32:
      return Bits(model::F16ToF32(static_cast<uint16_t>(a)));
    default:
      return Bits(model::Bf16ToF32(static_cast<uint16_t>(a)));
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

using HdFpCvtFrom32 = HdFpCvt;

TEST_P(HdFpCvtFrom32, SpecialAndNeighbours) {
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

TEST_P(HdFpCvtFrom32, ManyPatterns) {
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

INSTANTIATE_TEST_SUITE_P(Ops, HdFpCvtFrom32,
                         ::testing::Values(kF2i, kF2iTrunc, kI2f, kF32F16,
                                           kF32Bf16));

class HdFpCvtFrom16 : public HdFpCvt {};

// The high half of the operand is arbitrary.
TEST_P(HdFpCvtFrom16, AllPatterns) {
  FpRandom random(GetParam());
  for (uint32_t a = 0; a < 65536; ++a) {
    Check(a);
    Check(a | random.Any() << 16);
  }
  unit.Flush();
  EXPECT_EQ(unit.checked(), 2u * 65536);
}

INSTANTIATE_TEST_SUITE_P(Ops, HdFpCvtFrom16,
                         ::testing::Values(kF16F32, kBf16F32));

}  // namespace
}  // namespace heddle::rtl
