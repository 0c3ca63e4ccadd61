// SPDX-License-Identifier: Apache-2.0
//
// A lane-wise unit with operand registers (hd_fp_fma and its like) under test:
// operations are put in one by one and run 16 at a time, in a row; each result
// is compared with the expected pattern, `cycles` after its operands were
// taken. Dut has en_i, a_i, valid_o, y_o of 16 words each, and op_i; b_i and
// c_i if it takes them.
#ifndef HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_
#define HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>

#include "rtl/testbench/clocked.h"

namespace heddle::rtl {

template <typename Dut>
class LaneUnit {
 public:
  static constexpr int kLanes = 16;

  explicit LaneUnit(int cycles = 1) : cycles_(cycles) {}
  ~LaneUnit() {
    EXPECT_TRUE(now_.count == 0 && under_way_.empty())
        << "Flush() was forgotten";
  }

  // All lanes of one cycle have the same op (and mode, up to the caller).
  void Check(int op, uint32_t a, uint32_t b, uint32_t c, uint32_t want) {
    if (now_.count > 0 && op != now_.op) Start();
    const int l = now_.count++;
    now_.op = op;
    now_.a[l] = a;
    now_.b[l] = b;
    now_.c[l] = c;
    now_.want[l] = want;
    if (now_.count == kLanes) Start();
  }
  // Up to the last result.
  void Flush() {
    if (now_.count > 0) Start();
    while (!under_way_.empty()) Tick();
  }
  uint64_t checked() const { return checked_; }

  Clocked<Dut> dut;

 private:
  struct Lanes {
    int op = 0;
    int count = 0;
    uint64_t due = 0;
    uint32_t a[kLanes] = {};
    uint32_t b[kLanes] = {};
    uint32_t c[kLanes] = {};
    uint32_t want[kLanes] = {};
  };

  void Start() {
    for (int l = 0; l < kLanes; ++l) {
      dut->a_i[l] = now_.a[l];
      SetB(*dut, l, 0);
      SetC(*dut, l, 0);
    }
    dut->op_i = now_.op;
    dut->en_i = 1;
    now_.due = dut.cycles() + cycles_;
    under_way_.push_back(now_);
    now_.count = 0;
    Tick();
  }
  void Tick() {
    dut.Tick();
    dut->en_i = 0;
    const bool due =
        !under_way_.empty() && under_way_.front().due == dut.cycles();
    ASSERT_EQ(dut->valid_o, due);
    if (!due) return;
    const Lanes& done = under_way_.front();
    for (int l = 0; l < done.count; ++l) {
      if (dut->y_o[l] == done.want[l]) continue;
      if (++wrong_ > 20) continue;
      ADD_FAILURE() << Text(done, l);
    }
    checked_ += done.count;
    under_way_.pop_front();
  }
  // Units of one or two operands lack the others' ports.
  template <typename D>
  auto SetB(D& d, int l, int) -> decltype(d.b_i, void()) {
    d.b_i[l] = now_.b[l];
  }
  template <typename D>
  void SetB(D&, int, long) {}
  template <typename D>
  auto SetC(D& d, int l, int) -> decltype(d.c_i, void()) {
    d.c_i[l] = now_.c[l];
  }
  template <typename D>
  void SetC(D&, int, long) {}

  std::string Text(const Lanes& x, int l) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "op %d lane %d: %08x %08x %08x gives %08x, not %08x", x.op, l,
                  x.a[l], x.b[l], x.c[l], static_cast<uint32_t>(dut->y_o[l]),
                  x.want[l]);
    return text;
  }

  const int cycles_;
  Lanes now_;
  std::deque<Lanes> under_way_;
  uint64_t wrong_ = 0;
  uint64_t checked_ = 0;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_LANE_UNIT_H_
