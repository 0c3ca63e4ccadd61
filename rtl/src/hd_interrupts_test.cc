// SPDX-License-Identifier: Apache-2.0
//
// Random events, acknowledgements and enables against a model that counts:
// one request for each event whose bit is enabled.

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "Vhd_interrupts.h"
#include "rtl/spec/generated/registers.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

constexpr int kVectors = reg::kPciMsixVectors;

struct Bench {
  Bench() {
    Idle();
    dut.Reset();
  }
  void Idle() {
    dut->clear_i = 0;
    dut->raise_jobs_i = dut->raise_write_i = dut->raise_memory_i = 0;
    dut->ack_i = 0;
    dut->enable_we_i = 0;
    dut->irq_ready_i = 0;
  }
  void Tick() {
    dut.Settle();
    if (dut->irq_valid_o && dut->irq_ready_i) ++sent[dut->irq_vector_o];
    dut.Tick();
    Idle();
  }
  void Drain() {
    for (int i = 0; i < 2000; ++i) {
      dut->irq_ready_i = 1;
      Tick();
    }
  }
  Clocked<Vhd_interrupts> dut;
  std::array<uint64_t, kVectors> sent = {};
};

TEST(InterruptsTest, EveryEventIsTold) {
  Bench b;
  std::mt19937 random(1);
  std::array<uint64_t, kVectors> want = {};
  uint32_t status = 0, enabled = 0;
  for (int i = 0; i < 100000; ++i) {
    const uint32_t often = i / 1000 % 3;  // some spells are busy
    auto bits = [&] {
      return random() % (often == 0 ? 8 : 100) == 0 ? random() % 16 : 0;
    };
    b.dut->irq_ready_i = random() % 4 != 0;
    const uint32_t jobs = bits(), write = bits(), memory = bits();
    const uint32_t ack = bits();
    const bool we = random() % 50 == 0;
    const uint32_t enable = random() % 16;
    b.dut->raise_jobs_i = jobs;
    b.dut->raise_write_i = write;
    b.dut->raise_memory_i = memory;
    b.dut->ack_i = ack;
    b.dut->enable_we_i = we;
    b.dut->enable_i = enable;
    for (int v = 0; v < kVectors; ++v) {
      const uint32_t m = 1u << v;
      want[v] += ((jobs & enabled & m) != 0) + ((write & enabled & m) != 0) +
                 ((memory & enabled & m) != 0) +
                 (we && (enable & ~enabled & status & m) != 0);
    }
    b.Tick();
    status = (status & ~ack) | jobs | write | memory;
    if (we) enabled = enable;
    ASSERT_EQ(b.dut->status_o, status) << i;
  }
  b.Drain();
  EXPECT_EQ(b.sent, want);
}

TEST(InterruptsTest, LowestVectorFirstAndClear) {
  Bench b;
  b.dut->enable_we_i = 1;
  b.dut->enable_i = 15;
  b.Tick();
  b.dut->raise_jobs_i = 0xe;
  b.Tick();
  for (int v : {1, 2, 3}) {
    b.dut.Settle();
    ASSERT_TRUE(b.dut->irq_valid_o);
    EXPECT_EQ(b.dut->irq_vector_o, v);
    b.dut->irq_ready_i = 1;
    b.Tick();
  }
  EXPECT_FALSE(b.dut->irq_valid_o);
  b.dut->raise_jobs_i = 5;
  b.Tick();
  EXPECT_TRUE(b.dut->irq_valid_o);
  b.dut->clear_i = 1;
  b.dut->raise_jobs_i = 15;
  b.Tick();
  EXPECT_FALSE(b.dut->irq_valid_o);
  EXPECT_EQ(b.dut->status_o, 0);
  b.dut->raise_write_i = 1;
  b.Tick();
  EXPECT_FALSE(b.dut->irq_valid_o) << "not enabled any more";
  EXPECT_EQ(b.dut->status_o, 1);
}

TEST(InterruptsTest, ManyWaitingMerge) {
  Bench b;
  b.dut->enable_we_i = 1;
  b.dut->enable_i = 1;
  b.Tick();
  for (int i = 0; i < 1000; ++i) {
    b.dut->raise_jobs_i = b.dut->raise_write_i = 1;
    b.Tick();
  }
  b.Drain();
  EXPECT_EQ(b.sent[0], 255u);
}

}  // namespace
}  // namespace heddle::rtl
