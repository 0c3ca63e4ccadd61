// SPDX-License-Identifier: Apache-2.0
//
// hd_int_lane against the model's LaneOp.

#include <gtest/gtest.h>

#include <cstdint>

#include "Vhd_int_lane.h"
#include "rtl/testbench/fp_operands.h"
#include "rtl/testbench/lane_unit.h"
#include "simulator/model/micro.h"

namespace heddle::rtl {
namespace {

using isa::MicroOp;

constexpr MicroOp kOps[] = {
    MicroOp::kMov,  MicroOp::kSel,  MicroOp::kIadd, MicroOp::kIsub,
    MicroOp::kImul, MicroOp::kIand, MicroOp::kIor,  MicroOp::kIxor,
    MicroOp::kIshl, MicroOp::kIshr, MicroOp::kIsar, MicroOp::kImin,
    MicroOp::kImax, MicroOp::kIlt,  MicroOp::kIeq,  MicroOp::kIltu};

class HdIntLane : public ::testing::Test {
 protected:
  void Check(MicroOp op, uint32_t a, uint32_t b, uint32_t c) {
    unit.Check(static_cast<int>(op), a, b, c, model::LaneOp(op, a, b, c));
  }
  LaneUnit<Vhd_int_lane> unit;
};

TEST_F(HdIntLane, AllPairsOfSpecialValues) {
  std::vector<uint32_t> values = SpecialValues();
  for (uint32_t bit = 0; bit < 32; ++bit) {
    for (uint32_t d = 0; d < 3; ++d) values.push_back((1u << bit) + d - 1);
  }
  for (const MicroOp op : kOps) {
    for (const uint32_t a : values) {
      for (const uint32_t b : values) Check(op, a, b, 0x12345678);
    }
  }
  unit.Flush();
}

TEST_F(HdIntLane, OrderOfUnsignedNumbers) {
  const uint32_t values[] = {0,          1,          2,         0x7fffffff,
                             0x80000000, 0x80000001, 0xffffffff};
  for (size_t i = 0; i < std::size(values); ++i) {
    for (size_t k = 0; k < std::size(values); ++k) {
      unit.Check(static_cast<int>(MicroOp::kIltu), values[i], values[k], 0,
                 i < k ? ~0u : 0);
    }
  }
  unit.Flush();
}

TEST_F(HdIntLane, Random) {
  FpRandom random(1);
  const uint64_t n = RandomCount(2000000) / 16;
  for (const MicroOp op : kOps) {
    for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
      const uint32_t a = i % 8 == 0 ? 0 : random.Any();
      const uint32_t b = i % 5 == 0 ? a : random.Any();
      Check(op, a, b, random.Any());
    }
  }
  unit.Flush();
}

TEST_F(HdIntLane, UnknownCodeGivesZero) {
  for (const int op : {0x00, 0x13, 0x2e, 0x30, 0xff}) {
    unit.Check(op, 1, 2, 3, 0);
  }
  unit.Flush();
}

}  // namespace
}  // namespace heddle::rtl
