// SPDX-License-Identifier: Apache-2.0
//
// A core that reads and writes memory without end is reset at any time: no
// transfer breaks, its reset comes when nothing is under way, PROGRESS goes on.

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "Vhd_core_guard.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

TEST(CoreGuardTest, ResetAtAnyTime) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Clocked<Vhd_core_guard> dut;
    testbench::MemoryModel memory(1 << 16, {40, 20, seed % 2 ? 30u : 0u}, seed);
    // The core's side of the port.
    uint8_t request = 0, write = 0, beats = 1, w_valid = 0, w_ready = 0;
    uint8_t r_valid = 0, r_ready = 1, r_error = 0, b_valid = 0, b_error = 0;
    uint64_t address = 0;
    uint32_t w_data[4] = {}, r_data[4] = {};
    uint16_t strobes = 0xffff;
    testbench::MemoryPort port = {&dut->req_valid_o,
                                  &dut->req_ready_i,
                                  &write,
                                  &address,
                                  &beats,
                                  &w_valid,
                                  &w_ready,
                                  w_data,
                                  &strobes,
                                  &r_valid,
                                  &r_ready,
                                  r_data,
                                  &r_error,
                                  &b_valid,
                                  &b_error};
    dut->reset_i = 0;
    dut->core_busy_i = dut->core_done_i = 0;
    dut->core_req_valid_i = dut->r_take_i = dut->b_valid_i = 0;
    dut->core_progress_i = 0;
    dut.Reset();
    dut.Tick();  // the core leaves its reset one cycle later
    uint32_t owed = 0, progress = 0, last = 0;
    bool reset = false;
    int low = 0, after = 0;
    const int when = static_cast<int>(20 + random() % 400);
    for (int cycle = 0; cycle < 3000 && after < 50; ++cycle) {
      dut->clk_i = 0;
      if (request == 0 && random() % 3 == 0) {
        request = 1;
        write = random() % 2;
        beats = static_cast<uint8_t>(1 + random() % 16);
        address = random() % 256 * 256;
      }
      w_valid = owed != 0;
      dut->reset_i = cycle == when;
      dut->core_busy_i = 1;
      dut->core_done_i = cycle % 50 == 49;
      memory.Drive(&port);
      r_ready = random() % 8 != 0;
      dut->r_take_i = r_valid && r_ready;
      dut->b_valid_i = b_valid;
      dut->core_req_valid_i = request;
      dut->core_req_write_i = write;
      dut->core_req_beats_i = beats;
      if (cycle % 3 == 0) ++progress;
      dut->core_progress_i = progress;
      dut->eval();
      ASSERT_GE(dut->progress_o, last) << "PROGRESS goes back";
      ASSERT_LE(dut->progress_o, last + 1) << "or jumps";
      last = dut->progress_o;
      const bool resetting = cycle >= when && low < 4;
      ASSERT_EQ(dut->done_o, dut->core_done_i && !resetting) << cycle;
      ASSERT_TRUE(dut->busy_o);
      memory.Sample(port);
      if (w_valid && w_ready) --owed;
      if (dut->core_req_valid_i && dut->core_req_ready_o) {
        ASSERT_TRUE(dut->req_valid_o);
        if (write) owed += beats;
        request = 0;
      }
      if (!dut->core_rst_no) {
        ASSERT_TRUE(reset || cycle > when);
        reset = true;
        ASSERT_TRUE(memory.quiet()) << "something is under way";
        ASSERT_EQ(owed, 0u);
        ++low;
      }
      dut->clk_i = 1;
      dut->eval();
      if (low == 1) progress = request = 0;  // the core is reset
      if (reset && low == 4) ++after;
    }
    EXPECT_EQ(low, 4);
    EXPECT_EQ(after, 50) << "it works on";
    EXPECT_EQ(memory.violations(), std::vector<std::string>());
  }
}

TEST(CoreGuardTest, IdleCore) {
  Clocked<Vhd_core_guard> dut;
  dut->reset_i = dut->core_busy_i = dut->core_done_i = 0;
  dut->core_req_valid_i = dut->r_take_i = dut->b_valid_i = 0;
  dut->core_progress_i = 5;
  dut.Reset();
  dut.Tick();
  EXPECT_TRUE(dut->core_rst_no);
  EXPECT_FALSE(dut->busy_o);
  dut->reset_i = 1;
  dut.Tick();
  dut->reset_i = 0;
  int busy = 0, low = 0;
  for (int i = 0; i < 20; ++i) {
    dut.Settle();
    busy += dut->busy_o;
    low += !dut->core_rst_no;
    EXPECT_TRUE(i != 0 || dut->busy_o);
    dut.Tick();
    if (low > 0) dut->core_progress_i = 0;
  }
  EXPECT_EQ(low, 4);
  EXPECT_LT(busy, 10);
  EXPECT_EQ(dut->progress_o, 5u);
}

}  // namespace
}  // namespace heddle::rtl
