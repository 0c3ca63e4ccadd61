// SPDX-License-Identifier: Apache-2.0
// Random pushes and pops against a queue, and the rate of one entry per cycle.
#include <deque>
#include <random>

#include "Vhd_beat_fifo.h"
#include "gtest/gtest.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

constexpr int kDepth = 256;

// Runs `cycles`; pushes when there is room, pops up to `pops` entries.
// Returns how many left.
uint64_t Traffic(int cycles, int push_percent, int pop_percent, int pops) {
  Clocked<Vhd_beat_fifo> dut;
  std::mt19937_64 random(pop_percent);
  std::deque<uint32_t> want;
  uint32_t next = 0;
  int places = kDepth;
  uint64_t left = 0;
  for (int i = 0; i < cycles; ++i) {
    dut->push_i = places > 0 && random() % 100 < uint64_t(push_percent);
    for (int j = 0; j < 4; ++j) dut->data_i[j] = next + 1000 * j;
    dut->data_i[4] = next & 1;
    dut->pop_i = 0;
    dut.Settle();
    const int count = dut->count_o;
    EXPECT_LE(count, static_cast<int>(want.size()));
    if (count > 0) {
      EXPECT_EQ(dut->head0_o[0], want[0]);
      EXPECT_EQ(dut->head0_o[3], want[0] + 3000);
      EXPECT_EQ(dut->head0_o[4], want[0] & 1);
    }
    if (count > 1) {
      EXPECT_EQ(dut->head1_o[0], want[1]);
    }
    if (random() % 100 < uint64_t(pop_percent)) {
      dut->pop_i = std::min<int>(count, pops == 3 ? random() % 3 : pops);
    }
    dut.Settle();
    for (int j = 0; j < dut->pop_i; ++j) want.pop_front();
    left += dut->pop_i;
    places += dut->taken_o - dut->push_i;
    EXPECT_GE(places, 0);
    if (dut->push_i) want.push_back(next++);
    dut.Tick();
  }
  return left;
}

TEST(HdBeatFifo, AgreesWithAQueue) {
  for (int push : {20, 60, 100}) {
    for (int pop : {10, 50, 90, 100}) {
      for (int pops : {1, 2, 3}) Traffic(3000, push, pop, pops);
    }
  }
}

TEST(HdBeatFifo, OneEntryPerCycle) {
  EXPECT_GE(Traffic(1000, 100, 100, 1), 995u);
  EXPECT_GE(Traffic(1000, 100, 100, 2), 995u);
}

}  // namespace
}  // namespace heddle::rtl
