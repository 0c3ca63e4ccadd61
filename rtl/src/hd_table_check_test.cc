// SPDX-License-Identifier: Apache-2.0
//
// Random region tables: all entries are passed on, and the first malformed one
// is found where a check written from the rules finds it.

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "Vhd_table_check.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

bool WellFormed(const desc::Region& r, uint64_t dram) {
  if ((r.flags & ~desc::kRegionFlagsWritableMask) != 0 || r.reserved0 != 0 ||
      r.reserved1 != 0) {
    return false;
  }
  return r.size == 0 || (r.base % isa::kRegionAlign == 0 && r.size <= dram &&
                         r.base <= dram - r.size);
}

TEST(TableCheckTest, RandomTables) {
  std::mt19937_64 random(1);
  Clocked<Vhd_table_check> dut;
  dut->clear_i = dut->valid_i = 0;
  dut.Reset();
  int good = 0, bad = 0;
  for (int n = 0; n < 5000; ++n) {
    const uint64_t dram = 4096 * (1 + random() % 100000);
    dut->dram_bytes_i = dram;
    dut->clear_i = 1;
    dut.Tick();
    dut->clear_i = 0;
    int first = -1;
    for (uint32_t i = 0; i < isa::kRegions; ++i) {
      desc::Region r;
      r.base = random() % dram / 64 * 64;
      r.size = random() % 4 == 0 ? 0 : 1 + random() % (dram - r.base);
      r.flags = random() % 2;
      if (random() % 30 == 0) {
        switch (random() % 5) {
          case 0:
            r.size = dram - r.base + random() % 2;  // just fits, or does not
            break;
          case 1:
            r.size = 0 - random() % 100;
            break;
          case 2:
            r.base = 0 - 64 * (random() % 5);
            break;
          default:
            reinterpret_cast<uint8_t*>(&r)[random() % sizeof(r)] ^=
                static_cast<uint8_t>(1 << random() % 8);
        }
      }
      if (first < 0 && !WellFormed(r, dram)) first = static_cast<int>(i);
      for (size_t w = 0; w < 2; ++w) {
        std::memcpy(&dut->data_i[0], reinterpret_cast<uint8_t*>(&r) + 16 * w,
                    16);
        dut->valid_i = 1;
        dut.Tick();
        dut->valid_i = 0;
        ASSERT_EQ(dut->region_we_o, w);
        if (random() % 4 == 0) {
          dut.Tick();
          ASSERT_FALSE(dut->region_we_o);
        }
      }
      ASSERT_EQ(dut->region_index_o, i);
      ASSERT_EQ(dut->region_base_o, r.base);
      ASSERT_EQ(dut->region_size_o, r.size);
      ASSERT_EQ(dut->region_writable_o, r.flags & 1);
    }
    ASSERT_EQ(dut->bad_o != 0, first >= 0) << n;
    if (first >= 0) {
      ASSERT_EQ(dut->bad_region_o, first);
    }
    ++(first >= 0 ? bad : good);
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace heddle::rtl
