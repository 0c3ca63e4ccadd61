// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_cmp against numerics.h and the host's comparisons.

#include <gtest/gtest.h>

#include <cstdint>

#include "Vhd_fp_cmp.h"
#include "rtl/testbench/fp_operands.h"
#include "rtl/testbench/lane_unit.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

enum Op { kMin, kMax, kLt, kLe, kEq };
constexpr Op kOps[] = {kMin, kMax, kLt, kLe, kEq};

uint32_t Expected(Op op, uint32_t a, uint32_t b) {
  const float x = FromBits(a), y = FromBits(b);
  switch (op) {
    case kMin:
      return Bits(model::FMin(x, y));
    case kMax:
      return Bits(model::FMax(x, y));
    case kLt:
      return x < y ? ~0u : 0;
    case kLe:
      return x <= y ? ~0u : 0;
    default:
      return x == y ? ~0u : 0;
  }
}

TEST(HdFpCmp, AllPairsOfSpecialValues) {
  model::ScopedFpEnvironment environment;
  LaneUnit<Vhd_fp_cmp> unit;
  for (const Op op : kOps) {
    for (const uint32_t a : SpecialValues()) {
      for (const uint32_t b : SpecialValues()) {
        unit.Check(op, a, b, 0, Expected(op, a, b));
      }
    }
  }
  unit.Flush();
}

// Whatever the model says.
TEST(HdFpCmp, ANanInEitherOperand) {
  LaneUnit<Vhd_fp_cmp> unit;
  for (const uint32_t nan : {0x7fc00000u, 0xffc12345u, 0x7f800001u}) {
    for (const uint32_t other : SpecialValues()) {
      for (const Op op : {kMin, kMax}) {
        unit.Check(op, nan, other, 0, 0x7fc00000u);
        unit.Check(op, other, nan, 0, 0x7fc00000u);
      }
      for (const Op op : {kLt, kLe, kEq}) {
        unit.Check(op, nan, other, 0, 0);
        unit.Check(op, other, nan, 0, 0);
      }
    }
  }
  unit.Flush();
}

TEST(HdFpCmp, Random) {
  model::ScopedFpEnvironment environment;
  LaneUnit<Vhd_fp_cmp> unit;
  FpRandom random(1);
  const uint64_t n = RandomCount(2000000);
  for (const Op op : kOps) {
    for (uint64_t i = 0; i < n && !::testing::Test::HasFailure(); ++i) {
      uint32_t a, b;
      random.Pair(&a, &b);
      unit.Check(op, a, b, 0, Expected(op, a, b));
    }
  }
  unit.Flush();
  EXPECT_EQ(unit.checked(), 5 * n);
}

}  // namespace
}  // namespace heddle::rtl
