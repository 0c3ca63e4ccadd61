// SPDX-License-Identifier: Apache-2.0
// Random chunks: every plane that is asked for against the bytes that came in.
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "Vhd_dma_collect.h"
#include "gtest/gtest.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

struct Chunk {
  uint32_t stride, planes, n, at, words;
  uint8_t bytes[272];
};

TEST(HdDmaCollect, FindsThePlanes) {
  Clocked<Vhd_dma_collect> dut;
  std::mt19937_64 random(1);
  auto below = [&](uint32_t n) { return uint32_t(random() >> 20) % n; };
  std::deque<Chunk> inside;
  Chunk next = {};
  uint32_t word = 0, plane = 0;
  bool fresh = true;
  int seen = 0;
  for (int i = 0; i < 100000; ++i) {
    if (fresh) {
      const uint32_t strides[] = {2, 3, 4, 16};
      next.stride = strides[below(4)];
      next.planes = 1 + below(next.stride);
      next.n = 1 + below(16);
      next.at = next.stride == 16 ? below(17 - next.planes) : below(16);
      next.words =
          (next.at + (next.n - 1) * next.stride + next.planes - 1) / 16 + 1;
      for (uint8_t& b : next.bytes) b = random();
      word = 0;
      fresh = false;
    }
    dut->word_valid_i = below(8) != 0;
    std::memcpy(&dut->word_i[0], next.bytes + 16 * word, 16);
    dut->last_i = word + 1 == next.words;
    dut->use_i = 0;
    dut->free_i = 0;
    dut.Settle();
    if (dut->valid_o && below(4) != 0) {
      ASSERT_FALSE(inside.empty());
      const Chunk& c = inside.front();
      dut->use_i = 1;
      dut->stride_i = c.stride;
      dut->o_i = c.at + plane;
      dut.Settle();
      uint8_t vec[16];
      std::memcpy(vec, &dut->vec_o[0], 16);
      for (uint32_t j = 0; j < c.n; ++j) {
        ASSERT_EQ(vec[j], c.bytes[c.at + plane + j * c.stride])
            << "stride " << c.stride << " plane " << plane << " element " << j;
      }
      ++seen;
      dut->free_i = ++plane == c.planes;
      dut.Settle();
      if (dut->free_i) plane = 0;
    }
    const bool take = dut->take_o, free = dut->free_i;
    EXPECT_TRUE(!take || dut->word_valid_i);
    dut.Tick();
    if (free) inside.pop_front();
    if (take && ++word == next.words) {
      inside.push_back(next);
      fresh = true;
    }
    EXPECT_LE(inside.size(), 2u);
  }
  EXPECT_GT(seen, 10000);
}

}  // namespace
}  // namespace heddle::rtl
