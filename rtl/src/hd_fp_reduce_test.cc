// SPDX-License-Identifier: Apache-2.0
//
// hd_fp_reduce with an ALU in C++ of random latency, against the model's
// VectorOp.

#include <gtest/gtest.h>

#include <cstdint>

#include "Vhd_fp_reduce.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"
#include "simulator/model/micro.h"

namespace heddle::rtl {
namespace {

using isa::MicroOp;

TEST(HdFpReduce, AnyLatency) {
  model::ScopedFpEnvironment environment;
  Clocked<Vhd_fp_reduce> dut;
  FpRandom random(1);
  const uint64_t n = RandomCount(20000);
  const MicroOp ops[] = {MicroOp::kHsum,  MicroOp::kHmax,  MicroOp::kHmin,
                         MicroOp::kHisum, MicroOp::kHimax, MicroOp::kHimin};
  for (uint64_t i = 0; i < n && !::testing::Test::HasFailure(); ++i) {
    const MicroOp op = ops[random.Below(6)];
    model::Lanes x;
    for (uint32_t l = 0; l < x.size(); ++l) {
      x[l] = random.Below(3) == 0 ? random.Any()
                                  : random.WithExponent(120 + random.Below(10));
      dut->x_i[l] = x[l];
    }
    const uint32_t want = model::VectorOp(op, x, x, x)[0];
    dut->op_i = static_cast<uint8_t>(op);
    dut->start_i = 1;  // at times in the cycle of the last result
    dut.Settle();
    ASSERT_EQ(dut->ready_o, 1);
    for (int pairs = 8; pairs > 0; pairs /= 2) {
      ASSERT_EQ(dut->alu_en_o, 1);
      uint32_t y[8] = {};
      for (int l = 0; l < 8; ++l) {
        y[l] = random.Any();  // lanes beyond the pairs do not matter
        if (l < pairs) {
          y[l] = model::LaneOp(static_cast<MicroOp>(dut->alu_op_o),
                               dut->alu_a_o[l], dut->alu_b_o[l], 0);
        }
      }
      dut.Tick();
      dut->start_i = 0;
      dut->op_i = 0;
      dut->alu_valid_i = 0;
      for (uint32_t wait = random.Below(4); wait > 0; --wait) {
        dut.Settle();
        ASSERT_EQ(dut->alu_en_o, 0);
        ASSERT_EQ(dut->ready_o, 0);
        ASSERT_EQ(dut->done_o, 0);
        dut.Tick();
      }
      dut->alu_valid_i = 1;
      for (int l = 0; l < 8; ++l) dut->alu_y_i[l] = y[l];
      dut.Settle();
    }
    ASSERT_EQ(dut->alu_en_o, 0);
    ASSERT_EQ(dut->done_o, 1);
    ASSERT_EQ(dut->ready_o, 1);
    ASSERT_EQ(dut->y_o, want) << "op " << static_cast<int>(op);
    if (random.Below(2) != 0) {
      dut.Tick();
      dut->alu_valid_i = 0;
      dut.Settle();
      ASSERT_EQ(dut->done_o, 0);
      ASSERT_EQ(dut->y_o, 0u);
    }
  }
}

}  // namespace
}  // namespace heddle::rtl
