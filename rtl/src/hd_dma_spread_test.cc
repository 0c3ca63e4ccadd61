// SPDX-License-Identifier: Apache-2.0
// Random chunks of planes, written word by word into an array of bytes, against
// bytes put one by one.
#include <cstring>
#include <random>
#include <vector>

#include "Vhd_dma_spread.h"
#include "gtest/gtest.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

TEST(HdDmaSpread, PutsBytesWhereTheyBelong) {
  Clocked<Vhd_dma_spread> dut;
  std::mt19937_64 random(1);
  auto below = [&](uint32_t n) { return uint32_t(random() >> 20) % n; };
  std::vector<uint8_t> want(1 << 20), got(1 << 20);
  int ends = 0, ends_seen = 0;
  uint64_t busy = 0;
  auto cycle = [&]() {
    dut->ready_i = below(4) != 0;
    dut.Settle();
    if (dut->valid_o && dut->ready_i) {
      uint8_t word[16];
      std::memcpy(word, &dut->data_o[0], 16);
      for (int i = 0; i < 16; ++i) {
        if (dut->strb_o >> i & 1) got[dut->word_o * 16 + i] = word[i];
      }
      ends_seen += dut->end_o;
      ++busy;
    }
    dut.Tick();
  };
  dut->push_i = 0;
  for (int chunk = 0; chunk < 3000; ++chunk) {
    const uint32_t strides[] = {2, 3, 4, 16};
    const uint32_t stride = strides[below(4)];
    const uint32_t planes = 1 + below(stride);
    const uint32_t n = below(3) == 0 ? 16 : 1 + below(16);
    const uint32_t at =
        stride == 16 ? below(17 - planes) : below(16);  // first byte
    const uint32_t word = below(60000);
    for (uint32_t p = 0; p < planes; ++p) {
      dut->push_i = 0;
      while (true) {
        dut.Settle();
        if (dut->ready_o && below(5) != 0) break;
        cycle();
      }
      uint8_t data[16];
      for (uint8_t& b : data) b = random();
      std::memcpy(&dut->data_i[0], data, 16);
      dut->push_i = 1;
      dut->n_i = n;
      dut->stride_i = stride;
      dut->o_i = at + p;
      dut->word_i = word;
      dut->first_i = p == 0;
      dut->last_i = p + 1 == planes;
      dut->end_i = dut->last_i && below(3) == 0;
      ends += dut->end_i;
      for (uint32_t j = 0; j < n; ++j) {
        want[word * 16 + at + p + j * stride] = data[j];
      }
      cycle();
      dut->push_i = 0;
    }
  }
  for (int i = 0; i < 200; ++i) cycle();
  EXPECT_TRUE(dut->empty_o);
  EXPECT_EQ(ends, ends_seen);
  EXPECT_GT(ends, 100);
  EXPECT_EQ(want, got);
}

}  // namespace
}  // namespace heddle::rtl
