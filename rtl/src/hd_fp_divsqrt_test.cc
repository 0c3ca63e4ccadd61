// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_divsqrt against numerics.h (the host's quotient and root), quotients of
// integers against the host's, and its handshake.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vhd_fp_divsqrt.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

constexpr int kLanes = 16;
constexpr int kCycles = 29, kIntegerCycles = 35;
enum Op { kDiv, kSqrt, kIdiv, kIdivu };
constexpr const char* kNames[] = {"div", "sqrt", "idiv", "idivu"};

uint32_t Expected(Op op, uint32_t a, uint32_t b) {
  switch (op) {
    case kDiv:
      return Bits(model::FDiv(FromBits(a), FromBits(b)));
    case kSqrt:
      return Bits(model::FSqrt(FromBits(a)));
    case kIdiv:
      return b == 0 ? ~0u
                    : static_cast<uint32_t>(int64_t{static_cast<int32_t>(a)} /
                                            static_cast<int32_t>(b));
    default:
      return b == 0 ? ~0u : a / b;
  }
}

class HdFpDivsqrt : public ::testing::Test {
 protected:
  void Check(Op op, uint32_t a, uint32_t b) {
    if (count_ > 0 && op != op_) Flush();
    op_ = op;
    a_[count_] = a;
    b_[count_] = b;
    if (++count_ == kLanes) Flush();
  }
  void Flush() {
    if (count_ == 0) return;
    for (int l = 0; l < kLanes; ++l) {
      dut->a_i[l] = a_[l];
      dut->b_i[l] = b_[l];
    }
    dut->op_i = op_;
    dut->start_i = 1;
    dut.Settle();
    ASSERT_EQ(dut->ready_o, 1);
    dut.Tick();
    // Inputs matter in the first cycle only.
    for (int l = 0; l < kLanes; ++l) dut->a_i[l] = dut->b_i[l] = 0x55555555;
    dut->op_i = ~op_ & 3;
    dut->start_i = 0;
    int cycles = 1;
    for (; !dut->done_o && cycles < 100; ++cycles) {
      const bool last = dut->last_o;
      dut.Tick();
      ASSERT_EQ(dut->done_o, last);
    }
    ASSERT_EQ(cycles, op_ < kIdiv ? kCycles : kIntegerCycles);
    for (int l = 0; l < count_; ++l) {
      const uint32_t want = Expected(op_, a_[l], b_[l]);
      if (dut->y_o[l] == want) continue;
      if (++wrong_ > 20) continue;
      char text[100];
      std::snprintf(text, sizeof(text), "%s %08x %08x gives %08x, not %08x",
                    kNames[op_], a_[l], b_[l],
                    static_cast<uint32_t>(dut->y_o[l]), want);
      ADD_FAILURE() << text;
    }
    checked_ += count_;
    count_ = 0;
  }

  model::ScopedFpEnvironment environment;
  Clocked<Vhd_fp_divsqrt> dut;
  Op op_ = kDiv;
  int count_ = 0;
  uint32_t a_[kLanes] = {};
  uint32_t b_[kLanes] = {};
  uint64_t wrong_ = 0;
  uint64_t checked_ = 0;
};

TEST_F(HdFpDivsqrt, AllPairsOfSpecialValues) {
  for (const uint32_t a : SpecialValues()) {
    for (const uint32_t b : SpecialValues()) Check(kDiv, a, b);
  }
  for (const uint32_t a : SpecialValues()) Check(kSqrt, a, 0x7fc00000);
  for (uint32_t e = 0; e < 512; ++e) {
    for (uint32_t m = 0; m < 64; ++m) Check(kSqrt, (e << 23) + m - 32, 0);
  }
  Flush();
}

TEST_F(HdFpDivsqrt, RandomDiv) {
  FpRandom random(1);
  const uint64_t n = RandomCount(2000000);
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    uint32_t a, b;
    random.Pair(&a, &b);
    if (i % 4 == 0) {  // exact quotients, and those next to them
      const float q = FromBits(random.Any() & 0xfffff000u);
      b &= 0xfffff000u;
      a = Bits(q * FromBits(b)) + random.Below(3) - 1;
    }
    Check(kDiv, a, b);
  }
  Flush();
  EXPECT_GE(checked_, n);
}

TEST_F(HdFpDivsqrt, RandomSqrt) {
  FpRandom random(2);
  const uint64_t n = RandomCount(2000000);
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    uint32_t a = random.Any();
    if (random.Below(8) != 0) a &= 0x7fffffffu;
    if (i % 4 == 0) {  // squares, and those next to them
      const float root = FromBits(a & 0xfffff000u);
      a = Bits(root * root) + random.Below(3) - 1;
    }
    Check(kSqrt, a, random.Any());
  }
  Flush();
  EXPECT_GE(checked_, n);
}

TEST_F(HdFpDivsqrt, AllPairsOfSpecialIntegers) {
  std::vector<uint32_t> values = {10, 100, 1000, 0x55555555, 0xaaaaaaaa};
  for (int bit = 0; bit < 32; ++bit) {
    for (uint32_t d = 0; d < 3; ++d) {
      values.push_back((1u << bit) + d - 1);
      values.push_back(-((1u << bit) + d - 1));
    }
  }
  for (const Op op : {kIdiv, kIdivu}) {
    for (const uint32_t a : values) {
      for (const uint32_t b : values) Check(op, a, b);
    }
  }
  Check(kIdiv, 0x80000000u, ~0u);
  Flush();
}

TEST_F(HdFpDivsqrt, RandomIntegers) {
  FpRandom random(3);
  const uint64_t n = RandomCount(1000000);
  for (const Op op : {kIdiv, kIdivu}) {
    for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
      // Magnitudes of all sizes; exact quotients, and those next to them.
      uint32_t a = random.Any() >> random.Below(32),
               b = random.Any() >> random.Below(32);
      if (random.Below(2) != 0) a = -a;
      if (random.Below(2) != 0) b = -b;
      if (i % 4 == 0) a = a * b + random.Below(3) - 1;
      Check(op, a, b);
    }
  }
  Flush();
  EXPECT_GE(checked_, 2 * n);
}

// A start in the cycle of done_o is taken; one while it works is not.
TEST_F(HdFpDivsqrt, Handshake) {
  dut->op_i = kDiv;
  dut->start_i = 1;
  for (int l = 0; l < kLanes; ++l) {
    dut->a_i[l] = Bits(6.0f);
    dut->b_i[l] = Bits(3.0f);
  }
  for (int round = 0; round < 3; ++round) {
    for (int cycle = 1; cycle <= kCycles; ++cycle) {
      dut.Tick();
      EXPECT_EQ(dut->ready_o, cycle == kCycles);
      EXPECT_EQ(dut->last_o, cycle == kCycles - 1);
      EXPECT_EQ(dut->done_o, cycle == kCycles);
    }
    EXPECT_EQ(dut->y_o[15], Bits(2.0f));
  }
  dut->start_i = 0;
  dut.Tick();
  EXPECT_EQ(dut->done_o, 0);
  EXPECT_EQ(dut->ready_o, 1);
  EXPECT_EQ(dut->y_o[0], Bits(2.0f));
  dut->start_i = 1;
  dut.Tick();
  dut->start_i = 0;
  dut.Tick();
  EXPECT_EQ(dut->ready_o, 0);
  dut.Reset();
  EXPECT_EQ(dut->ready_o, 1);
}

}  // namespace
}  // namespace heddle::rtl
