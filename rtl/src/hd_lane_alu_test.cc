// SPDX-License-Identifier: Apache-2.0
//
// hd_lane_alu against the model's LaneOp: every operation, in random order,
// back to back and with gaps, and the cycle in which each result comes.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "Vhd_lane_alu.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"
#include "simulator/model/micro.h"

namespace heddle::rtl {
namespace {

using isa::MicroOp;

constexpr int kLanes = 16;

constexpr MicroOp kOps[] = {
    MicroOp::kMov,  MicroOp::kSel,      MicroOp::kFadd, MicroOp::kFsub,
    MicroOp::kFmul, MicroOp::kFfma,     MicroOp::kFmin, MicroOp::kFmax,
    MicroOp::kFlt,  MicroOp::kFle,      MicroOp::kFeq,  MicroOp::kF2i,
    MicroOp::kI2f,  MicroOp::kF2iTrunc, MicroOp::kIadd, MicroOp::kIsub,
    MicroOp::kImul, MicroOp::kIand,     MicroOp::kIor,  MicroOp::kIxor,
    MicroOp::kIshl, MicroOp::kIshr,     MicroOp::kIsar, MicroOp::kImin,
    MicroOp::kImax, MicroOp::kIlt,      MicroOp::kIeq,  MicroOp::kIltu,
    MicroOp::kRbf,  MicroOp::kRhalf,    MicroOp::kFdiv, MicroOp::kFsqrt,
    MicroOp::kIdiv, MicroOp::kIdivu};
constexpr uint32_t kOpCount = sizeof(kOps) / sizeof(kOps[0]);
constexpr uint32_t kIterative = 4;  // the last ones

int Cycles(MicroOp op) {
  switch (op) {
    case MicroOp::kFdiv:
    case MicroOp::kFsqrt:
      return 32;
    case MicroOp::kIdiv:
    case MicroOp::kIdivu:
      return 38;
    default:
      return 4;
  }
}

struct Expected {
  MicroOp op;
  uint64_t cycle;
  uint32_t y[kLanes];
};

class HdLaneAlu : public ::testing::Test {
 protected:
  void Drive(MicroOp op) {
    Expected e;
    e.op = op;
    e.cycle = dut.cycles() + Cycles(op);
    for (int l = 0; l < kLanes; ++l) {
      uint32_t a, b, c;
      if (random.Below(2) != 0) {
        random.Triple(&a, &b, &c);
      } else {
        random.Pair(&a, &b);
        c = random.Any();
      }
      dut->a_i[l] = a;
      dut->b_i[l] = b;
      dut->c_i[l] = c;
      e.y[l] = model::LaneOp(op, a, b, c);
    }
    dut->op_i = static_cast<uint8_t>(op);
    dut->en_i = 1;
    expected_.push_back(e);
  }
  void Tick() {
    dut.Settle();
    const bool next = dut->next_o;
    dut.Tick();
    ASSERT_EQ(dut->ready_o, next);
    dut->en_i = 0;
    bool soon = false;
    for (const Expected& e : expected_) soon |= e.cycle == dut.cycles() + 3;
    ASSERT_EQ(dut->soon_o, soon);
    if (expected_.empty() || expected_.front().cycle != dut.cycles()) {
      ASSERT_EQ(dut->valid_o, 0);
      for (int l = 0; l < kLanes; ++l) ASSERT_EQ(dut->y_o[l], 0u);
      return;
    }
    ASSERT_EQ(dut->valid_o, 1);
    for (int l = 0; l < kLanes; ++l) {
      ASSERT_EQ(dut->y_o[l], expected_.front().y[l])
          << "op " << static_cast<int>(expected_.front().op) << " lane " << l;
    }
    expected_.pop_front();
    ++results_;
  }

  model::ScopedFpEnvironment environment;
  Clocked<Vhd_lane_alu> dut;
  FpRandom random{1};
  std::deque<Expected> expected_;
  uint64_t results_ = 0;
};

TEST_F(HdLaneAlu, EveryOperationInRandomOrder) {
  const uint64_t n = RandomCount(2000000) / kLanes;
  uint64_t driven = 0;
  while (driven < n && !HasFailure()) {
    dut.Settle();
    if (dut->ready_o) {
      if (random.Below(8) != 0) {
        Drive(kOps[random.Below(
            random.Below(16) == 0 ? kOpCount : kOpCount - kIterative)]);
        ++driven;
      }
    } else {
      // Not taken: the unit works.
      dut->en_i = 1;
      dut->op_i = static_cast<uint8_t>(kOps[random.Below(kOpCount)]);
      dut->a_i[3] = random.Any();
    }
    Tick();
  }
  for (int i = 0; i < 40 && !HasFailure(); ++i) Tick();
  if (!HasFailure()) {
    EXPECT_EQ(results_, n);
  }
}

TEST_F(HdLaneAlu, ResetEndsADivision) {
  Drive(MicroOp::kFdiv);
  expected_.clear();
  Tick();
  EXPECT_EQ(dut->ready_o, 0);
  dut.Reset();
  EXPECT_EQ(dut->ready_o, 1);
  for (int i = 0; i < 40; ++i) Tick();
}

}  // namespace
}  // namespace heddle::rtl
