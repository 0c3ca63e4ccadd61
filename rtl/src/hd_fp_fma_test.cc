// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_fma against numerics.h (the host's std::fma, sum, difference, product).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "Vhd_fp_fma.h"
#include "rtl/testbench/fp_operands.h"
#include "rtl/testbench/lane_unit.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

enum Op { kFma, kAdd, kSub, kMul };

constexpr int kCycles = 4;

class HdFpFma : public ::testing::Test {
 protected:
  void Fma(uint32_t a, uint32_t b, uint32_t c) {
    unit.Check(kFma, a, b, c,
               Bits(model::Fma(FromBits(a), FromBits(b), FromBits(c))));
  }
  // The third operand must not matter.
  void Two(Op op, uint32_t a, uint32_t b, uint32_t other) {
    const float x = FromBits(a), y = FromBits(b);
    unit.Check(op, a, b, other,
               Bits(op == kAdd   ? model::FAdd(x, y)
                    : op == kSub ? model::FSub(x, y)
                                 : model::FMul(x, y)));
  }
  void RandomTwo(Op op) {
    FpRandom random(100 + op);
    const uint64_t n = RandomCount(2000000);
    for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
      uint32_t a, b, c = random.Any();
      if (op == kMul) {
        random.Triple(&a, &b, &c);
      } else {
        random.Pair(&a, &b);
      }
      Two(op, a, b, c);
    }
    unit.Flush();
    EXPECT_GE(unit.checked(), n);
  }

  model::ScopedFpEnvironment environment;
  LaneUnit<Vhd_fp_fma> unit{kCycles};
};

TEST_F(HdFpFma, AllTriplesOfSpecialValues) {
  for (const uint32_t a : SpecialValues()) {
    for (const uint32_t b : SpecialValues()) {
      for (const uint32_t c : SpecialValues()) Fma(a, b, c);
    }
  }
  unit.Flush();
}

TEST_F(HdFpFma, AllPairsOfSpecialValues) {
  for (const Op op : {kAdd, kSub, kMul}) {
    for (const uint32_t a : SpecialValues()) {
      for (const uint32_t b : SpecialValues()) {
        for (const uint32_t other : {0u, 0x3f800000u, 0x7f800000u, 0x7fc00000u,
                                     0x80000000u, 0xffffffffu}) {
          Two(op, a, b, other);
        }
      }
    }
    unit.Flush();
  }
}

// Every distance between product and addend, at the bits where the window ends.
TEST_F(HdFpFma, EveryAlignment) {
  FpRandom random(3);
  for (int product = -150; product < 255; ++product) {
    for (int addend = 0; addend < 255; ++addend) {
      const int ea = std::min(254, std::max(0, product + 127 - 120));
      for (int i = 0; i < 4; ++i) {
        Fma(random.WithExponent(ea), random.WithExponent(product + 127 - ea),
            random.WithExponent(addend));
      }
    }
  }
  unit.Flush();
}

TEST_F(HdFpFma, RandomFma) {
  FpRandom random(1);
  const uint64_t n = RandomCount(2000000);
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    uint32_t a, b, c;
    random.Triple(&a, &b, &c);
    Fma(a, b, c);
  }
  unit.Flush();
  EXPECT_GE(unit.checked(), n);
}
TEST_F(HdFpFma, RandomAdd) { RandomTwo(kAdd); }
TEST_F(HdFpFma, RandomSub) { RandomTwo(kSub); }
TEST_F(HdFpFma, RandomMul) { RandomTwo(kMul); }

TEST_F(HdFpFma, ResultIsThereForOneCycle) {
  unit.Check(kAdd, Bits(1.0f), Bits(2.0f), 0, Bits(3.0f));
  unit.Flush();
  EXPECT_EQ(unit.dut->y_o[0], Bits(3.0f));
  unit.dut.Tick();
  EXPECT_EQ(unit.dut->valid_o, 0);
  for (int l = 0; l < 16; ++l) EXPECT_EQ(unit.dut->y_o[l], 0u);
}

}  // namespace
}  // namespace heddle::rtl
