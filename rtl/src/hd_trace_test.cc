// SPDX-License-Identifier: Apache-2.0
//
// Random engines, that accept, stand still and retire at random, against a list
// per engine: every entry, its number and its counts; what a full FIFO loses.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "Vhd_trace.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

constexpr size_t kDepth = 8;

struct Command {
  uint32_t begin;
  uint32_t stall[3] = {};
};

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    dut->new_i = dut->clear_i = dut->accept_i = dut->done_i = 0;
    dut->retire_i = dut->ready_i = 0;
    dut.Reset();
  }
  // One cycle: each engine does what is asked for with a chance of 1 in `done`.
  void Cycle(uint32_t accept, uint32_t done, bool ready) {
    dut->cycle_i = ++cycle_;
    dut->ready_i = ready;
    dut->accept_i = dut->done_i = dut->retire_i = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      tags_[i] = static_cast<uint32_t>(random_());
      offsets_[i] = static_cast<uint32_t>(random_()) >> 4;
    }
    // hd_pkg::command_id_t of each engine: the tag in 32 bits, the offset in 28
    // above them.
    for (uint32_t bit = 0; bit < 4 * 60; ++bit) {
      const uint64_t id = uint64_t{offsets_[bit / 60]} << 32 | tags_[bit / 60];
      const uint32_t mask = 1u << bit % 32;
      uint32_t& word = dut->command_i[bit / 32];
      word = (word & ~mask) | (id >> (bit % 60) & 1 ? mask : 0);
    }
    const uint32_t stall = static_cast<uint32_t>(random_()) & 0xfff;
    dut->stall_i = static_cast<uint16_t>(stall);
    dut->clk_i = 0;
    dut->eval();
    Take(ready);
    for (uint32_t e = 0; e < 4; ++e) {
      std::deque<Command>& held = held_[e];
      if (!held.empty()) {
        for (uint32_t r = 0; r < 3; ++r)
          held.front().stall[r] += stall >> (3 * e + r) & 1;
        if (random_() % done == 0) Done(e);
      }
      if (held.size() < 8 && random_() % accept == 0) {
        dut->accept_i |= static_cast<uint8_t>(1 << e);
        held.push_back({cycle_});
      }
    }
    dut->clk_i = 0;
    dut->eval();
    dut->clk_i = 1;
    dut->eval();
    for (uint32_t e = 0; e < 4; ++e) {
      if (popped_ == static_cast<int>(e)) --level_[e];
    }
    dut->accept_i = dut->done_i = dut->retire_i = 0;
  }

  uint32_t lost_ = 0, seen_ = 0, count_ = 0;
  std::map<uint32_t, desc::TraceEntry> want_;
  std::deque<Command> held_[4];
  size_t level_[4] = {};
  Clocked<Vhd_trace> dut;
  std::mt19937_64 random_{1};

 private:
  void Done(uint32_t e) {
    const Command command = held_[e].front();
    held_[e].pop_front();
    dut->done_i |= static_cast<uint8_t>(1 << e);
    if (random_() % 16 == 0) return;  // after a fault: it does not count
    dut->retire_i |= static_cast<uint8_t>(1 << e);
    const uint32_t number = count_++;
    if (level_[e] == kDepth) {
      ++lost_;
      return;
    }
    ++level_[e];
    desc::TraceEntry& entry = want_[number];
    entry.begin = command.begin;
    entry.end = cycle_;
    entry.offset = offsets_[e] * 16;
    entry.tag = tags_[e];
    entry.flags = desc::kTraceEntryFlagsValidMask | (e + 1);
    std::memcpy(entry.stall, command.stall, sizeof(entry.stall));
  }
  void Take(bool ready) {
    popped_ = -1;
    if (!dut->valid_o || !ready) return;
    ASSERT_TRUE(want_.count(dut->index_o)) << dut->index_o;
    const desc::TraceEntry& want = want_[dut->index_o];
    EXPECT_EQ(std::memcmp(&dut->entry_o[0], &want, sizeof(want)), 0);
    popped_ = static_cast<int>(want.flags & 7) - 1;
    want_.erase(dut->index_o);
    ++seen_;
  }

  uint32_t cycle_ = 0xfffff000;  // it wraps
  uint32_t offsets_[4] = {}, tags_[4] = {};
  int popped_ = -1;
};

TEST_F(TraceTest, EveryCommandOnce) {
  for (int i = 0; i < 30000; ++i) {
    Cycle(8, 14, random_() % 3 != 0);
    ASSERT_EQ(dut->count_o, count_);
  }
  EXPECT_EQ(lost_, 0u);
  for (int i = 0; i < 1000; ++i) Cycle(1u << 31, 2, true);
  EXPECT_TRUE(want_.empty());
  EXPECT_FALSE(dut->valid_o);
  EXPECT_EQ(seen_, count_);
  EXPECT_GT(seen_, 6000u);
}

TEST_F(TraceTest, FullFifosLose) {
  for (int i = 0; i < 30000; ++i) Cycle(2, 2, random_() % 5 == 0);
  EXPECT_GT(lost_, 5000u);
  for (int i = 0; i < 1000; ++i) Cycle(1u << 31, 2, true);
  EXPECT_TRUE(want_.empty());
  EXPECT_EQ(seen_ + lost_, count_);
  EXPECT_EQ(dut->count_o, count_);
}

TEST_F(TraceTest, StreamsAndJobs) {
  for (int stream = 0; stream < 200; ++stream) {
    for (int i = 0; i < 50; ++i) Cycle(4, 10, true);
    // What was not done is forgotten, what has retired is not.
    dut->clear_i = 1;
    for (auto& held : held_) held.clear();
    Cycle(1u << 31, 1, false);
    dut->clear_i = 0;
    if (stream % 10 == 9) {
      dut->new_i = 1;
      Cycle(1u << 31, 1, false);
      dut->new_i = 0;
      for (size_t& level : level_) level = 0;
      want_.clear();
      count_ = 0;
    }
    ASSERT_EQ(dut->count_o, count_);
  }
  EXPECT_GT(seen_, 1000u);
}

}  // namespace
}  // namespace heddle::rtl
