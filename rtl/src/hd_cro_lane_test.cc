// SPDX-License-Identifier: Apache-2.0
//
// hd_cro_lane against numerics.h: every f32 as scale, every limit, zero point
// and type, and accumulators at the limits of int32 and of the significand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>

#include "Vhd_cro_lane.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"

namespace heddle::rtl {
namespace {

using model::Bits;
using model::FromBits;

constexpr int kLanes = 16;
constexpr int kCycles = 4;  // to the result

struct Limits {
  int lo = -255;
  int hi = 255;
  int zp = 0;
  bool is_signed = false;
};

class HdCroLane : public ::testing::Test {
 protected:
  void Check(const Limits& limits, uint32_t acc, uint32_t bias,
             uint32_t scale) {
    // One cycle has one set of limits.
    if (now_.count > 0 &&
        (limits.lo != now_.limits.lo || limits.hi != now_.limits.hi ||
         limits.zp != now_.limits.zp ||
         limits.is_signed != now_.limits.is_signed)) {
      Start();
    }
    const int l = now_.count++;
    now_.limits = limits;
    now_.acc[l] = acc;
    now_.bias[l] = bias;
    now_.scale[l] = scale;
    if (now_.count == kLanes) Start();
  }
  // Up to the last result.
  void Flush() {
    if (now_.count > 0) Start();
    while (!under_way_.empty()) Tick();
  }
  static uint8_t Expected(const Limits& limits, uint32_t acc, uint32_t bias,
                          uint32_t scale) {
    const float v = model::FMul(
        model::I32ToF32(static_cast<int32_t>(acc + bias)), FromBits(scale));
    return static_cast<uint8_t>(model::Sat8(
        model::Cro(v, limits.lo, limits.hi, limits.zp), limits.is_signed));
  }
  Limits AnyLimits(FpRandom* random) {
    Limits limits;
    limits.lo = static_cast<int>(random->Below(511)) - 255;
    limits.hi = static_cast<int>(random->Below(511)) - 255;
    if (random->Below(4) == 0) limits.lo = -255;
    if (random->Below(4) == 0) limits.hi = 255;
    if (limits.lo > limits.hi) std::swap(limits.lo, limits.hi);
    limits.zp = static_cast<int>(random->Below(384)) - 128;
    limits.is_signed = random->Below(2) != 0;
    return limits;
  }

  model::ScopedFpEnvironment environment;
  Clocked<Vhd_cro_lane> dut;
  uint64_t checked_ = 0;

 private:
  struct Vector {
    Limits limits;
    int count = 0;
    uint64_t due = 0;
    uint32_t acc[kLanes] = {};
    uint32_t bias[kLanes] = {};
    uint32_t scale[kLanes] = {};
  };

  void Start() {
    for (int l = 0; l < kLanes; ++l) {
      dut->acc_i[l] = now_.acc[l];
      dut->bias_i[l] = now_.bias[l];
      dut->scale_i[l] = now_.scale[l];
    }
    dut->lo_i = now_.limits.lo & 0x1ff;
    dut->hi_i = now_.limits.hi & 0x1ff;
    dut->zp_i = now_.limits.zp & 0x1ff;
    dut->signed_i = now_.limits.is_signed;
    dut->en_i = 1;
    now_.due = dut.cycles() + kCycles;
    under_way_.push_back(now_);
    now_.count = 0;
    Tick();
    // What changes after the edge is the next command's.
    dut->lo_i = dut->hi_i = dut->zp_i = 0x55;
    dut->signed_i = !dut->signed_i;
  }
  void Tick() {
    dut.Tick();
    dut->en_i = 0;
    const bool due =
        !under_way_.empty() && under_way_.front().due == dut.cycles();
    ASSERT_EQ(dut->valid_o, due);
    if (!due) return;
    const Vector& v = under_way_.front();
    for (int l = 0; l < v.count; ++l) {
      const uint8_t want = Expected(v.limits, v.acc[l], v.bias[l], v.scale[l]);
      const uint8_t got = dut->y_o[l / 4] >> (l % 4 * 8) & 0xff;
      if (got == want) continue;
      if (++wrong_ > 20) continue;
      char text[200];
      std::snprintf(text, sizeof(text),
                    "lane %d: acc %08x bias %08x scale %08x lo %d hi %d zp %d "
                    "%s gives %02x, not %02x",
                    l, v.acc[l], v.bias[l], v.scale[l], v.limits.lo,
                    v.limits.hi, v.limits.zp, v.limits.is_signed ? "s8" : "u8",
                    got, want);
      ADD_FAILURE() << text;
    }
    checked_ += v.count;
    under_way_.pop_front();
  }

  Vector now_;
  std::deque<Vector> under_way_;
  uint64_t wrong_ = 0;
};

const int32_t kAccumulators[] = {
    0,         1,          -1,         2,          -2,         3,
    -3,        127,        -128,       255,        256,        -257,
    1000,      -1000,      32767,      -32768,     65535,      8388607,
    8388609,   16777215,   -16777216,  16777217,   16777219,   -16777219,
    33554431,  33554434,   -33554438,  1 << 30,    2147483647, -2147483647,
    INT32_MIN, 2147483584, 2147483520, -2147483456};

TEST_F(HdCroLane, SpecialScales) {
  FpRandom random(1);
  for (int i = 0; i < 60; ++i) {
    const Limits limits = AnyLimits(&random);
    for (const uint32_t scale : SpecialValues()) {
      for (const int32_t acc : kAccumulators) {
        const uint32_t bias = i % 2 == 0 ? 0 : random.Any();
        Check(limits, static_cast<uint32_t>(acc) - bias, bias, scale);
      }
    }
  }
  Flush();
}

// Halves from -600 to 600: every integer and every tie, with every zero point
// in both types.
TEST_F(HdCroLane, EveryZeroPoint) {
  for (const bool is_signed : {false, true}) {
    for (int zp = -128; zp < 256; ++zp) {
      for (const auto& [lo, hi] : {std::pair<int, int>{-255, 255},
                                   {-128, 127},
                                   {0, 255},
                                   {-zp, 255 - zp},
                                   {-128 - zp, 127 - zp}}) {
        const Limits limits{std::max(lo, -255), std::min(hi, 255), zp,
                            is_signed};
        if (limits.lo > limits.hi) continue;
        for (int half = -1200; half <= 1200; ++half) {
          Check(limits, half, 0, Bits(0.5f));
        }
        Flush();
      }
    }
  }
}

TEST_F(HdCroLane, EveryLimit) {
  FpRandom random(2);
  for (int lo = -255; lo <= 255; ++lo) {
    for (int hi = lo; hi <= 255; ++hi) {
      const Limits limits{lo, hi, static_cast<int>(random.Below(384)) - 128,
                          random.Below(2) != 0};
      for (const int v :
           {lo - 1, lo, lo + 1, hi - 1, hi, hi + 1, 0, -700, 700}) {
        Check(limits, 2 * v - 1, 0, Bits(0.5f));
        Check(limits, 2 * v + 1, 0, Bits(0.5f));
      }
      Check(limits, 5, 0, 0x7fc00000);
      Check(limits, 0, 0, 0x7f800000);
      Flush();
    }
  }
}

TEST_F(HdCroLane, Random) {
  FpRandom random(3);
  const uint64_t n = RandomCount(4000000);
  Limits limits;
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    if (i % 16 == 0) limits = AnyLimits(&random);
    const uint64_t r = random.Next();
    uint32_t sum = static_cast<uint32_t>(r);
    sum = static_cast<uint32_t>(static_cast<int32_t>(sum) >> ((r >> 32) % 32));
    const uint32_t bias = (r & (uint64_t{1} << 40)) != 0 ? random.Any() : 0;
    uint32_t scale = random.Any();
    if ((r >> 41) % 8 != 0) {
      // A product of about 2^-3 .. 2^10.
      const int magnitude = static_cast<int>(
          Bits(model::I32ToF32(static_cast<int32_t>(sum))) >> 23 & 0xff);
      scale = random.WithExponent(254 - magnitude - 3 +
                                  static_cast<int>((r >> 48) % 13));
    }
    Check(limits, sum - bias, bias, scale);
  }
  Flush();
  EXPECT_GE(checked_, n);
}

// Near-ties of the second rounding: products whose f32 rounding decides.
TEST_F(HdCroLane, TiesAfterTheFirstRounding) {
  FpRandom random(4);
  const uint64_t n = RandomCount(2000000) / 2;
  for (uint64_t i = 0; i < n && !HasFailure(); ++i) {
    const uint32_t sum = 1 + random.Below(0x7fffffff);
    const float tie = static_cast<float>(random.Below(512)) + 0.5f;
    uint32_t scale = Bits(tie / model::I32ToF32(static_cast<int32_t>(sum)));
    scale += random.Below(5) - 2;
    if (random.Below(2) != 0) scale ^= 0x80000000u;
    Check(Limits{}, sum, 0, scale);
  }
  Flush();
}

}  // namespace
}  // namespace heddle::rtl
