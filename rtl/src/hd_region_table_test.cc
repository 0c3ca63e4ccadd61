// SPDX-License-Identifier: Apache-2.0
// Entries are read as they were written; one that was not is not bound.
#include <random>

#include "Vhd_region_table.h"
#include "gtest/gtest.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

TEST(HdRegionTable, ReadsWhatWasWritten) {
  Clocked<Vhd_region_table> dut;
  std::mt19937_64 random(1);
  uint64_t base[16] = {}, size[16] = {};
  bool writable[16] = {}, bound[16] = {};
  dut->region_we_i = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2000; ++i) {
      const int w = random() % 16, a = random() % 16, b = random() % 16;
      dut->region_we_i = random() % (i < 40 ? 8 : 2) == 0;
      dut->region_index_i = w;
      dut->region_base_i = random();
      dut->region_size_i = random();
      dut->region_writable_i = random() % 2;
      dut->load_region_i = a;
      dut->store_region_i = b;
      dut.Settle();
      EXPECT_EQ(dut->load_size_o, bound[a] ? size[a] : 0);
      EXPECT_EQ(dut->store_size_o, bound[b] ? size[b] : 0);
      EXPECT_EQ(dut->load_writable_o, writable[a]);
      EXPECT_EQ(dut->store_writable_o, writable[b]);
      if (bound[a]) {
        EXPECT_EQ(dut->load_base_o, base[a]);
      }
      if (bound[b]) {
        EXPECT_EQ(dut->store_base_o, base[b]);
      }
      if (dut->region_we_i) {
        base[w] = dut->region_base_i;
        size[w] = dut->region_size_i;
        writable[w] = dut->region_writable_i;
        bound[w] = true;
      }
      dut.Tick();
    }
    dut->region_we_i = 0;
    dut.Reset();
    std::fill(std::begin(bound), std::end(bound), false);
    std::fill(std::begin(writable), std::end(writable), false);
  }
}

}  // namespace
}  // namespace heddle::rtl
