// SPDX-License-Identifier: Apache-2.0
//
// Random register writes and jobs against a model of the rings.

#include <gtest/gtest.h>

#include <random>

#include "Vhd_rings.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

constexpr uint32_t kRings = isa::kRings;

struct Ring {
  uint32_t entries = 0;
  uint64_t base = 0;
  uint32_t head = 0, tail = 0;
  bool changed = true;
};

bool Legal(uint32_t entries, uint64_t base, uint64_t align) {
  return entries <= isa::kRingEntriesMax && (entries & (entries - 1)) == 0 &&
         base % align == 0;
}

TEST(RingsTest, AgainstAModel) {
  std::mt19937_64 random(3);
  Clocked<Vhd_rings> dut;
  auto idle = [&] {
    dut->clear_i = 0;
    dut->ring_size_we_i = dut->ring_head_we_i = 0;
    dut->completion_size_we_i = 0;
    dut->take_i = dut->finish_i = dut->record_take_i = 0;
  };
  idle();
  dut.Reset();
  Ring rings[kRings];
  uint32_t records = 0, written = 0;
  uint64_t record_base = 0;
  int running = -1;
  uint64_t jobs = 0, refusals = 0, accepted = 0, finished = 0;
  for (int i = 0; i < 200000; ++i) {
    idle();
    bool error = false;
    int next = -1;
    for (int r = kRings - 1; r >= 0; --r) {
      if (rings[r].entries != 0 && rings[r].head != rings[r].tail) next = r;
    }
    uint64_t bases[kRings];
    for (uint32_t r = 0; r < kRings; ++r) {
      bases[r] = random() % 64 == 0 ? random() : random() / 64 * 64;
      dut->ring_base_i[2 * r] = static_cast<uint32_t>(bases[r]);
      dut->ring_base_i[2 * r + 1] = bases[r] >> 32;
    }
    const uint64_t completion = random() % 8 == 0 ? random() : random() << 7;
    dut->completion_base_i = completion;
    dut->wdata_i = static_cast<uint32_t>(random());
    dut.Settle();
    ASSERT_EQ(dut->next_valid_o != 0, next >= 0) << i;
    if (next >= 0) {
      const Ring& r = rings[next];
      ASSERT_EQ(dut->next_ring_o, next);
      ASSERT_EQ(dut->next_iova_o,
                r.base + r.tail % r.entries * sizeof(desc::JobDescriptor));
    }
    ASSERT_EQ(dut->record_on_o != 0, records != 0);
    if (records != 0) {
      ASSERT_EQ(dut->record_iova_o,
                record_base + written % records * sizeof(desc::Completion));
      ASSERT_EQ(dut->record_sequence_o, written + 1);
    }
    ASSERT_EQ(dut->completion_tail_o, written);
    for (uint32_t r = 0; r < kRings; ++r) {
      ASSERT_EQ(dut->head_o[r], rings[r].head) << i;
      ASSERT_EQ(dut->tail_o[r], rings[r].tail) << i;
    }
    // A job begins or ends, in the same cycle as a register write.
    const bool take = running < 0 && next >= 0 && random() % 4 == 0;
    const bool finish = running >= 0 && random() % 8 == 0;
    dut->take_i = take;
    dut->finish_i = finish;
    const uint32_t which = random() % kRings;
    Ring& ring = rings[which];
    bool resized = false;
    switch (random() % 16) {
      case 0:
        if (random() % 20 != 0) break;
        dut->ring_size_we_i = 1 << which;
        if (random() % 4 != 0) dut->wdata_i = 1u << random() % 12;
        if (random() % 8 == 0) dut->wdata_i = 0;
        error = dut->wdata_i != 0 &&
                !Legal(dut->wdata_i, bases[which], sizeof(desc::JobDescriptor));
        ring = Ring();
        if (!error) {
          ring.entries = dut->wdata_i;
        }
        ring.base = bases[which];
        resized = true;
        break;
      case 1:
        if (random() % 100 != 0) break;
        dut->completion_size_we_i = 1;
        if (random() % 4 != 0) dut->wdata_i = 1u << random() % 12;
        error = dut->wdata_i != 0 &&
                !Legal(dut->wdata_i, completion, sizeof(desc::Completion));
        records = error ? 0 : dut->wdata_i;
        record_base = completion;
        written = 0;
        break;
      case 2:
      case 3:
      case 4: {
        dut->ring_head_we_i = 1 << which;
        if (random() % 8 != 0) {
          dut->wdata_i =
              ring.tail + static_cast<uint32_t>(
                              random() % (ring.entries + ring.entries / 8 + 2));
        }
        const uint32_t ahead = dut->wdata_i - ring.tail;
        error = ring.entries == 0 || records == 0 || ahead > ring.entries ||
                ahead < ring.head - ring.tail;
        if (!error) ring.head = dut->wdata_i;
        ++(error ? refusals : accepted);
        break;
      }
      case 5:
        if (records != 0) {
          dut->record_take_i = 1;
          ++written;
        }
        break;
      case 6:
        if (random() % 3000 != 0) break;
        dut->clear_i = 1;
        for (Ring& r : rings) r = Ring();
        records = written = 0;
        break;
      default:
        break;
    }
    dut.Settle();
    ASSERT_EQ(dut->error_o != 0, error) << i;
    if (finish) {
      Ring& r = rings[running];
      const bool now = resized && static_cast<uint32_t>(running) == which;
      if (!r.changed && !now) {
        ++r.tail;
        ++finished;
      }
      running = -1;
    }
    if (take) {
      running = next;
      for (uint32_t r = 0; r < kRings; ++r) {
        if (!dut->clear_i && !(resized && r == which)) rings[r].changed = false;
      }
      ++jobs;
    }
    dut.Tick();
  }
  EXPECT_GT(jobs, 1000u);
  EXPECT_GT(finished, 1000u);
  EXPECT_GT(refusals, 1000u);
  EXPECT_GT(accepted, 1000u);
}

}  // namespace
}  // namespace heddle::rtl
