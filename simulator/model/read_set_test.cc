// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/read_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::model {
namespace {

// The words below 64 that may be read.
std::vector<uint64_t> Words(ReadSet set) {
  std::vector<uint64_t> words;
  for (uint64_t w = 0; w < 64; ++w) {
    if (set.MarkRead(w)) words.push_back(w);
  }
  return words;
}

TEST(ReadSet, CountsWhatIsMissing) {
  ReadSet set;
  set.Add(16 * 40 + 15, 2);
  set.Add(16 * 3, 1);
  set.Add(16 * 40, 16);
  set.Allow(16 * 39, 48);
  set.Take();
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.missing(), 3u);
  EXPECT_EQ(set.FirstMissing(), 3u);
  EXPECT_TRUE(set.MarkRead(3));
  EXPECT_TRUE(set.MarkRead(39)) << "allowed";
  EXPECT_TRUE(set.MarkRead(40));
  EXPECT_TRUE(set.MarkRead(40)) << "again";
  EXPECT_FALSE(set.MarkRead(4));
  EXPECT_FALSE(set.MarkRead(2));
  EXPECT_FALSE(set.MarkRead(1000000));
  EXPECT_EQ(set.missing(), 1u);
  EXPECT_EQ(set.FirstMissing(), 41u);
  EXPECT_TRUE(set.MarkRead(41));
  EXPECT_EQ(set.missing(), 0u);
  ReadSet none;
  none.Take();
  EXPECT_FALSE(none.MarkRead(0));
  EXPECT_EQ(none.missing(), 0u);
}

TEST(ReadSet, StoreNeedsItsWords) {
  isa::Store c;
  c.sram_addr = 16 * 5 + 15;
  c.elem_log2 = 0;
  c.n0 = 2;
  c.t0 = 1;
  c.n1 = 2;
  c.t1 = 160;
  const ReadSet set = SramReads(isa::kH256, c, nullptr);
  EXPECT_EQ(set.size(), 4u);
  EXPECT_EQ(Words(set), (std::vector<uint64_t>{5, 6, 15, 16}));
}

TEST(ReadSet, TheEndOfSram) {
  isa::Store c;
  c.elem_log2 = 2;
  c.sram_addr = isa::kH256.sram_bytes - 4;
  EXPECT_TRUE(StaysInSram(isa::kH256, c));
  ++c.sram_addr;
  EXPECT_FALSE(StaysInSram(isa::kH256, c));
}

TEST(ReadSet, TheVectorEngineReadsLines) {
  isa::Vmac c;
  c.lanes = 1;
  isa::Stream s;
  s.type = isa::ElementType::kF32;
  s.base = 16 * 5;
  c.SetA(s);
  s.base = 16 * 20;
  c.SetB(s);
  s.base = 16 * 40;
  c.SetD(s);
  const ReadSet set = SramReads(isa::kH256, c, nullptr);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(Words(set), (std::vector<uint64_t>{4, 5, 6, 7, 20, 21, 22, 23}));
}

// Taps of 3 pixels of 4 bytes, 8 pixels apart: words 0, 2, 4 of the row.
TEST(ReadSet, FoldReadsRows) {
  isa::Conv c;
  c.mode = isa::MatrixMode::kFold;
  c.ci = c.fold_channels = 4;
  c.iw = 17;
  c.in_pitch = 5;
  c.kw = 3;
  c.dx = 8;
  c.w_addr = 1000;
  c.param_addr = 2000;
  c.out_addr = 3000;
  const ReadSet set = SramReads(isa::kH256, c, nullptr);
  EXPECT_EQ(Words(set), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  ReadSet needed = set;
  for (uint64_t w : {1, 3}) EXPECT_TRUE(needed.MarkRead(w));
  EXPECT_EQ(needed.missing(), set.size());
  needed.MarkRead(0);
  EXPECT_EQ(needed.missing(), set.size() - 1);
  // The word in which the row ends has one tap behind the end, and that is all.
  c.pad_left = -17;
  c.kw = 1;
  EXPECT_EQ(Words(SramReads(isa::kH256, c, nullptr)),
            (std::vector<uint64_t>{4}));
  c.in_addr = isa::kH256.sram_bytes / 16 - 4;
  EXPECT_TRUE(StaysInSram(isa::kH256, c)) << "no tap is behind the end";
  c.in_addr = 0;
  c.pad_left = -20;
  EXPECT_TRUE(Words(SramReads(isa::kH256, c, nullptr)).empty());
}

}  // namespace
}  // namespace heddle::model
