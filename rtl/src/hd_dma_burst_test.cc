// SPDX-License-Identifier: Apache-2.0
// Random bursts with random hold-ups: those inside their region are requested
// once, in order, with the beats that hold their bytes; the first one outside
// shuts the gate. (Proved in general in rtl/formal.)
#include <deque>
#include <random>

#include "Vhd_dma_burst.h"
#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

struct Want {
  uint64_t address;
  uint32_t beats;
  bool write;
};

TEST(HdDmaBurst, OnlyWhatIsInside) {
  std::mt19937_64 random(1);
  int faults = 0;
  for (int round = 0; round < 400; ++round) {
    Clocked<Vhd_dma_burst> dut;
    std::deque<Want> want;
    bool shut = false;
    uint32_t code = 0;
    uint64_t address = 0;
    int requests = 0;
    for (int i = 0; i < 200; ++i) {
      dut->valid_i = random() % 4 != 0;
      dut->write_i = random() % 2;
      dut->writable_i = random() % 64 != 0 || !dut->write_i;
      dut->base_i = 64 * (random() % 100000);
      dut->size_i = 2000 + random() % 100000;
      dut->bytes_i = 1 + random() % 1024;
      const uint64_t room = dut->size_i - dut->bytes_i;
      dut->off_i =
          random() % 64 == 0 ? room + 1 + random() % 20 : random() % (room + 1);
      // Within 1 KiB of device memory.
      const uint64_t at = dut->base_i + dut->off_i;
      dut->bytes_i = std::min<uint64_t>(dut->bytes_i, 1024 - at % 1024);
      dut->stop_i = random() % 5 == 0;
      dut->go_i = random() % 4 != 0;
      dut->req_ready_i = random() % 3 != 0;
      dut.Settle();
      if (dut->req_valid_o && dut->req_ready_i) {
        ASSERT_FALSE(want.empty());
        EXPECT_EQ(dut->req_addr_o, want.front().address);
        EXPECT_EQ(dut->req_beats_o, want.front().beats);
        EXPECT_EQ(dut->req_write_o, want.front().write);
        want.pop_front();
        ++requests;
      }
      if (dut->valid_i && dut->ready_o && !shut) {
        const uint64_t end = dut->off_i + dut->bytes_i;
        if (end > dut->size_i || (dut->write_i && !dut->writable_i)) {
          shut = true;
          code = static_cast<uint32_t>(end > dut->size_i
                                           ? isa::Error::kRegionBounds
                                           : isa::Error::kRegionReadonly);
          address = end > dut->size_i
                        ? std::max<uint64_t>(dut->off_i, dut->size_i)
                        : 0;
        } else {
          want.push_back({at / 16 * 16,
                          static_cast<uint32_t>((at + dut->bytes_i - 1) / 16 -
                                                at / 16 + 1),
                          dut->write_i != 0});
        }
      }
      dut.Tick();
    }
    dut->valid_i = 0;
    dut->stop_i = 0;
    dut->go_i = 1;
    dut->req_ready_i = 1;
    for (int i = 0; i < 10; ++i) {
      dut.Settle();
      if (dut->req_valid_o) {
        ASSERT_FALSE(want.empty());
        EXPECT_EQ(dut->req_addr_o, want.front().address);
        want.pop_front();
      }
      dut.Tick();
    }
    EXPECT_TRUE(want.empty());
    EXPECT_EQ(dut->fault_o, shut);
    if (shut) {
      EXPECT_EQ(dut->fault_code_o, code);
      EXPECT_EQ(dut->fault_addr_o, address);
      ++faults;
    }
  }
  EXPECT_GT(faults, 50);
}

}  // namespace
}  // namespace heddle::rtl
