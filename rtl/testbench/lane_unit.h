// SPDX-License-Identifier: Apache-2.0
//
// A lane-wise unit with operand registers (hd_fp_fma and its like) under test:
// operations are put in one by one and run 16 at a time; each result is
// compared with the expected pattern. Dut has en_i, a_i, valid_o, y_o of 16
// words each, and op_i; b_i and c_i if it takes them.
#ifndef HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_
#define HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "rtl/testbench/clocked.h"

namespace heddle::rtl {

template <typename Dut>
class LaneUnit {
 public:
  static constexpr int kLanes = 16;

  ~LaneUnit() { EXPECT_EQ(count_, 0) << "Flush() was forgotten"; }

  // All lanes of one cycle have the same op (and mode, up to the caller).
  void Check(int op, uint32_t a, uint32_t b, uint32_t c, uint32_t want) {
    if (count_ > 0 && op != op_) Flush();
    op_ = op;
    a_[count_] = a;
    b_[count_] = b;
    c_[count_] = c;
    want_[count_] = want;
    if (++count_ == kLanes) Flush();
  }
  void Flush() {
    if (count_ == 0) return;
    for (int l = 0; l < kLanes; ++l) {
      dut->a_i[l] = a_[l];
      SetB(*dut, l, 0);
      SetC(*dut, l, 0);
    }
    dut->op_i = op_;
    dut->en_i = 1;
    dut.Tick();
    dut->en_i = 0;
    ASSERT_EQ(dut->valid_o, 1);
    for (int l = 0; l < count_; ++l) {
      if (dut->y_o[l] == want_[l]) continue;
      if (++wrong_ > 20) continue;
      ADD_FAILURE() << Text(l);
    }
    checked_ += count_;
    count_ = 0;
  }
  uint64_t checked() const { return checked_; }

  Clocked<Dut> dut;

 private:
  // Units of one or two operands lack the others' ports.
  template <typename D>
  auto SetB(D& d, int l, int) -> decltype(d.b_i, void()) {
    d.b_i[l] = b_[l];
  }
  template <typename D>
  void SetB(D&, int, long) {}
  template <typename D>
  auto SetC(D& d, int l, int) -> decltype(d.c_i, void()) {
    d.c_i[l] = c_[l];
  }
  template <typename D>
  void SetC(D&, int, long) {}

  std::string Text(int l) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "op %d lane %d: %08x %08x %08x gives %08x, not %08x", op_, l,
                  a_[l], b_[l], c_[l], static_cast<uint32_t>(dut->y_o[l]),
                  want_[l]);
    return text;
  }

  int op_ = 0;
  int count_ = 0;
  uint64_t wrong_ = 0;
  uint64_t checked_ = 0;
  uint32_t a_[kLanes] = {};
  uint32_t b_[kLanes] = {};
  uint32_t c_[kLanes] = {};
  uint32_t want_[kLanes] = {};
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_
