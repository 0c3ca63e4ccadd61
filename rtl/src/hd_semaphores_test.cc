// SPDX-License-Identifier: Apache-2.0
// Random waits and signals on few semaphores, against counts kept here: who may
// take, who is left out because another takes first, and sums at and beyond the
// maximum.
#include <algorithm>
#include <random>

#include "Vhd_semaphores.h"
#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

// `width` bits of `value` at place `index` of a port of 32-bit words.
void Put(uint32_t* words, int width, int index, uint32_t value) {
  for (int b = 0; b < width; ++b) {
    const int at = width * index + b;
    words[at / 32] &= ~(1u << at % 32);
    words[at / 32] |= (value >> b & 1) << at % 32;
  }
}

TEST(HdSemaphores, AgreesWithCounts) {
  Clocked<Vhd_semaphores> dut;
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  int counts[isa::kSemaphores] = {};
  int overflows = 0, takes = 0, left_out = 0, full = 0;
  for (int cycle = 0; cycle < 200000; ++cycle) {
    const uint32_t semaphores = 1 + below(4);
    dut->clear_i = below(200) == 0;
    struct Wait {
      bool enable;
      uint32_t sem;
      int count;
    } wait[8];
    uint32_t sem_words[2] = {}, count_words[2] = {};
    dut->want_i = random() & random() & 15;
    dut->wait_enable_i = 0;
    for (int w = 0; w < 8; ++w) {
      wait[w] = {below(2) == 0, below(semaphores), 0};
      // Often all there is, or one more than that.
      wait[w].count = std::min<int>(
          below(2) ? counts[wait[w].sem] + below(2) : below(6), 255);
      // A command does not wait twice for the same.
      if (w % 2 == 1 && wait[w - 1].sem == wait[w].sem) wait[w].enable = false;
      dut->wait_enable_i |= wait[w].enable << w;
      Put(sem_words, 5, w, wait[w].sem);
      Put(count_words, 8, w, wait[w].count);
    }
    dut->wait_sem_i = sem_words[0] | uint64_t{sem_words[1]} << 32;
    dut->wait_count_i = count_words[0] | uint64_t{count_words[1]} << 32;

    // Who takes.
    int next[isa::kSemaphores];
    std::copy(std::begin(counts), std::end(counts), next);
    uint32_t expected = 0, enough = 0;
    for (int e = 0; e < 4; ++e) {
      bool can = dut->want_i >> e & 1, first = true;
      for (int w = 2 * e; w < 2 * e + 2; ++w) {
        if (wait[w].enable && counts[wait[w].sem] < wait[w].count) can = false;
        for (int v = 0; v < 2 * e; ++v) {
          if (wait[w].enable && wait[v].enable && wait[v].sem == wait[w].sem &&
              (enough >> v / 2 & 1)) {
            first = false;
          }
        }
      }
      if (!can) continue;
      enough |= 1u << e;
      left_out += !first;
      if (!first) continue;
      expected |= 1u << e;
      ++takes;
      for (int w = 2 * e; w < 2 * e + 2; ++w) {
        if (wait[w].enable) next[wait[w].sem] -= wait[w].count;
      }
    }

    // Signals; sometimes exactly what is missing to the maximum, or one more.
    uint32_t valid = random() & random() & random();
    if (below(3) == 0) valid = 1u << below(16);
    uint32_t signal_sem[16], signal_words[3] = {}, signal_counts[4] = {};
    int sum[isa::kSemaphores];
    std::copy(std::begin(next), std::end(next), sum);
    for (int j = 0; j < 16; ++j) {
      signal_sem[j] = below(semaphores);
      int n = below(8);
      if (below(4) == 0) {
        n = std::clamp<int>(255 - sum[signal_sem[j]] + below(2), 0, 255);
      }
      Put(signal_words, 5, j, signal_sem[j]);
      Put(signal_counts, 8, j, n);
      if (valid >> j & 1) sum[signal_sem[j]] += n;
    }
    dut->signal_valid_i = valid;
    std::copy(signal_words, signal_words + 3, &dut->signal_sem_i[0]);
    std::copy(signal_counts, signal_counts + 4, &dut->signal_count_i[0]);
    int slot = -1;
    for (int j = 15; j >= 0; --j) {
      if ((valid >> j & 1) && sum[signal_sem[j]] > 255) slot = j;
    }
    dut.Settle();
    ASSERT_EQ(dut->take_o, expected) << "cycle " << cycle;
    ASSERT_EQ(dut->overflow_o, slot >= 0) << "cycle " << cycle;
    if (slot >= 0) {
      ASSERT_EQ(dut->overflow_slot_o, slot);
      ASSERT_EQ(dut->overflow_sem_o, signal_sem[slot]);
      ++overflows;
    }
    dut.Tick();
    for (uint32_t s = 0; s < isa::kSemaphores; ++s) {
      full += sum[s] == 255;
      if (dut->clear_i) {
        counts[s] = 0;
      } else if (sum[s] <= 255) {
        counts[s] = sum[s];
      }
    }
  }
  EXPECT_GT(overflows, 1000);
  EXPECT_GT(takes, 1000);
  EXPECT_GT(left_out, 1000);
  EXPECT_GT(full, 1000);
}

}  // namespace
}  // namespace heddle::rtl
