// SPDX-License-Identifier: Apache-2.0
//
// hd_rso_lane against numerics.h: every half and its neighbours around the
// codes, every pattern's exponent, every clamp.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "Vhd_rso_lane.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/fp_operands.h"

namespace heddle::rtl {
namespace {

class HdRsoLane : public ::testing::Test {
 protected:
  void Set(bool is_signed, int min, int max) {
    Flush();
    signed_ = is_signed;
    min_ = min;
    max_ = max;
  }
  void Check(uint32_t v) {
    dut->v_i[count_] = v;
    if (++count_ == 16) Flush();
  }
  void Flush() {
    dut->signed_i = signed_;
    dut->min_i = min_ & 0x1ff;
    dut->max_i = max_ & 0x1ff;
    dut->en_i = 1;
    dut.Tick();
    dut->en_i = 0;
    for (int l = 0; l < count_; ++l) {
      const uint8_t want = static_cast<uint8_t>(model::Clamp(
          model::Rso(model::FromBits(dut->v_i[l]), signed_), min_, max_));
      const uint8_t got = dut->y_o[l / 4] >> (l % 4 * 8) & 0xff;
      if (got == want) continue;
      if (++wrong_ > 20) continue;
      char text[120];
      std::snprintf(text, sizeof(text),
                    "%08x to %s in [%d, %d] gives %02x, not %02x", dut->v_i[l],
                    signed_ ? "s8" : "u8", min_, max_, got, want);
      ADD_FAILURE() << text;
    }
    count_ = 0;
  }

  model::ScopedFpEnvironment environment;
  Clocked<Vhd_rso_lane> dut;
  bool signed_ = false;
  int min_ = 0;
  int max_ = 255;
  int count_ = 0;
  uint64_t wrong_ = 0;
};

TEST_F(HdRsoLane, EveryCodeAndTie) {
  for (const bool is_signed : {false, true}) {
    Set(is_signed, is_signed ? -128 : 0, is_signed ? 127 : 255);
    for (int half = -140000; half <= 140000; ++half) {
      const uint32_t v = model::Bits(static_cast<float>(half) * 0.5f);
      Check(v - 1);
      Check(v);
      Check(v + 1);
    }
    Flush();
  }
}

TEST_F(HdRsoLane, SpecialAndRandom) {
  FpRandom random(1);
  const uint64_t n = RandomCount(2000000);
  for (const bool is_signed : {false, true}) {
    Set(is_signed, is_signed ? -128 : 0, is_signed ? 127 : 255);
    for (const uint32_t v : SpecialValues()) Check(v);
    for (uint64_t i = 0; i < n / 2; ++i) {
      Check(i % 2 == 0 ? random.Any()
                       : random.WithExponent(
                             117 + static_cast<int>(random.Below(20))));
    }
    Flush();
  }
}

TEST_F(HdRsoLane, EveryClamp) {
  for (int min = -128; min < 256; min += 3) {
    for (int max = min; max < 256; ++max) {
      Set(min < 0, min, max);
      for (const int v :
           {min - 1, min, min + 1, max - 1, max, max + 1, -300, 300, 0}) {
        Check(model::Bits(static_cast<float>(v)));
      }
      Check(0x7fc00000);
      Check(0x4f000000);
      Flush();
    }
  }
}

}  // namespace
}  // namespace heddle::rtl
