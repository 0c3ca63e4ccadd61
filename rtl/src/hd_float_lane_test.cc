// SPDX-License-Identifier: Apache-2.0
//
// hd_float_lane against the model's WideOutput and Residual: vectors of random
// commands follow each other with and without gaps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "Vhd_float_lane.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"
#include "simulator/model/output_stage.h"

namespace heddle::rtl {
namespace {

constexpr int kLanes = 16;
enum Op { kF32, kF32Bias, kResAdd, kResMul };

struct Expected {
  bool is_code;
  uint32_t value[kLanes];
};

class HdFloatLane : public ::testing::Test {
 protected:
  // A command with what the unit takes of it.
  isa::Conv AnyCommand(Op op) {
    isa::Conv c{};
    c.out_type = op <= kF32Bias         ? isa::OutType::kF32
                 : random.Below(2) != 0 ? isa::OutType::kS8
                                        : isa::OutType::kU8;
    c.bias_f32 = op == kF32Bias;
    c.res_op = op == kResAdd   ? isa::ResidualOp::kAdd
               : op == kResMul ? isa::ResidualOp::kMul
                               : isa::ResidualOp::kNone;
    c.res_signed = random.Below(2) != 0;
    c.res_first = random.Below(2) != 0;
    c.mid_zero = static_cast<int>(random.Below(384)) - 128;
    c.res_zero = static_cast<int>(random.Below(384)) - 128;
    c.res_min = static_cast<int>(random.Below(384)) - 128;
    c.res_max = static_cast<int>(random.Below(384)) - 128;
    if (random.Below(2) != 0) {
      c.res_min = -128;
      c.res_max = 255;
    }
    if (c.res_min > c.res_max) std::swap(c.res_min, c.res_max);
    for (float* f : {&c.res_a, &c.res_b, &c.res_k}) {
      // Mostly of a size that gives codes inside the type's range.
      const int exponent = 127 - (op == kResMul && f == &c.res_a ? 13 : 3) +
                           static_cast<int>(random.Below(6));
      *f = model::FromBits(
          random.Below(8) == 0 ? random.Any() : random.WithExponent(exponent));
    }
    if (random.Below(3) == 0)
      c.res_k = 0.5f * static_cast<float>(random.Below(200));
    return c;
  }

  // Drives one vector of command c and notes what must come.
  void Drive(Op op, const isa::Conv& c) {
    Expected e;
    e.is_code = op >= kResAdd;
    const bool is_signed = c.out_type == isa::OutType::kS8;
    dut->op_i = op;
    dut->out_signed_i = is_signed;
    dut->res_signed_i = c.res_signed;
    dut->res_first_i = c.res_first;
    dut->mid_zero_i = c.mid_zero & 0x1ff;
    dut->res_zero_i = c.res_zero & 0x1ff;
    dut->res_a_i = model::Bits(c.res_a);
    dut->res_b_i = model::Bits(c.res_b);
    dut->res_k_i = model::Bits(c.res_k);
    dut->res_min_i = c.res_min & 0x1ff;
    dut->res_max_i = c.res_max & 0x1ff;
    uint8_t x[kLanes], r[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t bits = random.Next();
      const uint32_t acc = static_cast<uint32_t>(static_cast<int32_t>(bits) >>
                                                 ((bits >> 32) % 32));
      const uint32_t bias = random.Any();
      const uint32_t scale = random.Any();
      x[l] = static_cast<uint8_t>(bits >> 40);
      r[l] = static_cast<uint8_t>(bits >> 48);
      dut->acc_i[l] = acc;
      dut->bias_i[l] = bias;
      dut->scale_i[l] = scale;
      e.value[l] = e.is_code ? static_cast<uint8_t>(model::Residual(
                                   c, model::Code(x[l], is_signed), r[l]))
                             : model::WideOutput(c, static_cast<int32_t>(acc),
                                                 static_cast<int32_t>(bias),
                                                 model::FromBits(scale));
    }
    for (int w = 0; w < kLanes / 4; ++w) {
      dut->x_i[w] = Word(x + 4 * w);
      dut->r_i[w] = Word(r + 4 * w);
    }
    dut->en_i = 1;
    (e.is_code ? codes_ : floats_).push_back(e);
  }
  static uint32_t Word(const uint8_t* p) {
    return p[0] | p[1] << 8 | p[2] << 16 | static_cast<uint32_t>(p[3]) << 24;
  }
  void Tick() {
    dut.Tick();
    dut->en_i = 0;
    if (dut->f_valid_o) {
      ASSERT_FALSE(floats_.empty());
      for (int l = 0; l < kLanes; ++l) {
        ASSERT_EQ(dut->f_o[l], floats_.front().value[l]) << "lane " << l;
      }
      floats_.pop_front();
      ++results_;
    }
    if (dut->code_valid_o) {
      ASSERT_FALSE(codes_.empty());
      for (int l = 0; l < kLanes; ++l) {
        ASSERT_EQ(dut->code_o[l / 4] >> (l % 4 * 8) & 0xff,
                  codes_.front().value[l])
            << "lane " << l;
      }
      codes_.pop_front();
      ++results_;
    }
  }
  void Drain() {
    for (int i = 0; i < 12; ++i) Tick();
    EXPECT_TRUE(floats_.empty());
    EXPECT_TRUE(codes_.empty());
  }

  model::ScopedFpEnvironment environment;
  Clocked<Vhd_float_lane> dut;
  FpRandom random{1};
  std::deque<Expected> floats_, codes_;
  uint64_t results_ = 0;
};

TEST_F(HdFloatLane, RandomCommands) {
  const uint64_t n = RandomCount(2000000) / kLanes;
  isa::Conv c;
  Op op = kF32;
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    if (i % 8 == 0) {
      op = static_cast<Op>(random.Below(4));
      c = AnyCommand(op);
    }
    Drive(op, c);
    Tick();
    if (random.Below(16) == 0) Tick();
  }
  Drain();
  if (!HasFailure()) {
    EXPECT_EQ(results_, n);
  }
}

// All pairs of codes in either type, both operations, both orders.
TEST_F(HdFloatLane, AllPairsOfCodes) {
  for (const Op op : {kResAdd, kResMul}) {
    for (int command = 0; command < 4; ++command) {
      const isa::Conv c = AnyCommand(op);
      for (int i = 0; i < 65536 && !HasFailure(); i += kLanes) {
        Drive(op, c);
        Expected& e = codes_.back();
        uint8_t x[kLanes], r[kLanes];
        for (int l = 0; l < kLanes; ++l) {
          x[l] = static_cast<uint8_t>((i + l) >> 8);
          r[l] = static_cast<uint8_t>(i + l);
          e.value[l] = static_cast<uint8_t>(model::Residual(
              c, model::Code(x[l], c.out_type == isa::OutType::kS8), r[l]));
        }
        for (int w = 0; w < kLanes / 4; ++w) {
          dut->x_i[w] = Word(x + 4 * w);
          dut->r_i[w] = Word(r + 4 * w);
        }
        Tick();
      }
      Drain();
    }
  }
}

TEST_F(HdFloatLane, SpecialScalesAndBiases) {
  for (const Op op : {kF32, kF32Bias}) {
    isa::Conv c = AnyCommand(op);
    for (const uint32_t scale : SpecialValues()) {
      for (const uint32_t bias : SpecialValues()) {
        Drive(op, c);
        for (int l = 0; l < kLanes; ++l) {
          const int32_t accs[] = {0, 1, -1, 16777217, INT32_MIN, 7, -100, 3};
          const int32_t acc = accs[l % 8];
          dut->acc_i[l] = acc;
          dut->bias_i[l] = bias;
          dut->scale_i[l] = scale;
          floats_.back().value[l] = model::WideOutput(
              c, acc, static_cast<int32_t>(bias), model::FromBits(scale));
        }
        Tick();
      }
    }
    Drain();
  }
}

TEST_F(HdFloatLane, Latency) {
  const isa::Conv c = AnyCommand(kResAdd);
  Drive(kResAdd, c);
  for (int cycle = 1; cycle <= 12; ++cycle) {
    Tick();
    EXPECT_EQ(dut->code_valid_o, cycle == 11);
    EXPECT_EQ(dut->f_valid_o, 0);
  }
  Drive(kF32, AnyCommand(kF32));
  for (int cycle = 1; cycle <= 12; ++cycle) {
    Tick();
    EXPECT_EQ(dut->f_valid_o, cycle == 10);
    EXPECT_EQ(dut->code_valid_o, 0);
  }
}

}  // namespace
}  // namespace heddle::rtl
