// SPDX-License-Identifier: Apache-2.0
// Which places a list of commands can be cut at, and what is loaded again.
#include "compiler/stream/split.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/stream/stream.h"

namespace heddle::compiler {
namespace {

using Indices = std::vector<size_t>;

// 64 bytes; `gap` between the pieces of 16 leaves a part of SRAM as it was.
isa::Load LoadTo(uint32_t sram, uint32_t dram = 0, uint32_t region = 0,
                 uint32_t gap = 0) {
  isa::Load c;
  c.region = region;
  c.dram_offset = dram;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = 4;
  c.s0 = 16;
  c.t0 = 16 + gap;
  return c;
}

isa::Store StoreFrom(uint32_t sram, uint32_t dram = 0, uint32_t region = 1) {
  isa::Store c;
  c.region = region;
  c.dram_offset = dram;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = 4;
  c.s0 = c.t0 = 16;
  return c;
}

isa::Fill FillOf(uint32_t sram, uint32_t elements) {
  isa::Fill c;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = elements;
  c.t0 = 16;
  return c;
}

isa::Vmac Copy(uint32_t from, uint32_t to) {
  isa::Vmac c;
  c.lanes = 16;
  isa::Stream a;
  a.base = from;
  a.type = isa::ElementType::kF32;
  a.lane_stride = 4;
  isa::Stream d = a;
  d.base = to;
  c.SetA(a);
  c.SetB(a);
  c.SetD(d);
  return c;
}

StreamLimits Bytes(uint64_t most) {
  StreamLimits limits;
  limits.bytes = most;
  return limits;
}

using Ranges = std::vector<SramRange>;

// The cut of commands of which all but `rest` fit.
Cut CutOf(const std::vector<isa::Command>& commands, size_t rest = 1) {
  const Splitter splitter(commands, isa::kH256);
  uint64_t bytes = 0;
  for (size_t i = 0; i + rest < commands.size(); ++i) {
    bytes +=
        4 * std::visit([](const auto& x) { return x.kWords; }, commands[i]);
  }
  const Cut cut = splitter.Next(0, bytes);
  if (cut.at > 0) {
    EXPECT_EQ(splitter.Next(cut.at, UINT32_MAX).at, commands.size());
  }
  return cut;
}

TEST(Split, AsLateAsPossible) {
  const Cut cut = CutOf({LoadTo(0), Copy(0, 0x100), StoreFrom(0x100), LoadTo(0),
                         StoreFrom(0), StoreFrom(0)});
  EXPECT_EQ(cut.at, 5u);
  EXPECT_EQ(cut.again, Indices{3});
  EXPECT_EQ(cut.kept, Ranges());
}

TEST(Split, WhatWasComputedIsKept) {
  const std::vector<isa::Command> commands = {
      LoadTo(0),          Copy(0, 0x100),     Copy(0, 0x208),
      Copy(0x100, 0x300), Copy(0x208, 0x340), StoreFrom(0x300)};
  const Cut cut = CutOf(commands);
  EXPECT_EQ(cut.at, 5u);
  EXPECT_EQ(cut.again, Indices());
  EXPECT_EQ(cut.kept, (Ranges{{0x300, 0x340}}));
  const Cut earlier = CutOf(commands, 3);
  EXPECT_EQ(earlier.at, 3u);
  EXPECT_EQ(earlier.kept, (Ranges{{0x100, 0x140}, {0x200, 0x250}}));
}

// Of the later places the one where nothing need be kept.
TEST(Split, WhereTheLeastIsKept) {
  std::vector<isa::Command> commands;
  for (int i = 0; i < 100; ++i) {
    commands.push_back(LoadTo(0));
    commands.push_back(Copy(0, 0x100));
    commands.push_back(Copy(0x100, 0x200));
    commands.push_back(StoreFrom(0x200, 64 * i));
  }
  for (uint64_t bytes = 10000; bytes < 10400; bytes += 40) {
    const Cut cut = Splitter(commands, isa::kH256).Next(0, bytes);
    EXPECT_LE(cut.at % 4, 1u);
    EXPECT_EQ(cut.kept, Ranges());
  }
}

TEST(Split, ConstantsAreLoadedAgain) {
  const Cut cut =
      CutOf({LoadTo(0x400), LoadTo(0), StoreFrom(0), StoreFrom(0x400)});
  EXPECT_EQ(cut.at, 3u);
  EXPECT_EQ(cut.again, Indices{0});
}

// What was loaded ahead of the cut has another content in device memory now.
TEST(Split, NotWhatHasBeenOverwritten) {
  for (uint32_t stored : {0u, 4096u}) {
    const Cut cut = CutOf({LoadTo(0, 0, 1), LoadTo(0x200),
                           StoreFrom(0x200, stored, 1), StoreFrom(0, 8192, 1)});
    EXPECT_EQ(cut.at, 3u);
    EXPECT_EQ(cut.again, stored == 0 ? Indices() : Indices{0});
    EXPECT_EQ(cut.kept, stored == 0 ? (Ranges{{0, 64}}) : Ranges());
  }
}

// Loads that leave gaps keep what is in the gaps: all of it is done again.
TEST(Split, PiecesOfSeveralWriters) {
  const Cut cut = CutOf({FillOf(0, 16), LoadTo(0, 0, 0, 16),
                         LoadTo(0, 64, 0, 16), StoreFrom(0), StoreFrom(0)});
  EXPECT_EQ(cut.at, 4u);
  // The second load has replaced the first.
  EXPECT_EQ(cut.again, (Indices{0, 2}));
  EXPECT_EQ(cut.kept, Ranges());
}

TEST(Split, ComputedBytesInTheGapsAreKept) {
  const Cut cut = CutOf({LoadTo(0x800), Copy(0x800, 0), LoadTo(0, 0, 0, 48),
                         StoreFrom(0), StoreFrom(0)});
  EXPECT_EQ(cut.at, 4u);
  EXPECT_EQ(cut.again, Indices());
  EXPECT_EQ(cut.kept, (Ranges{{0, 64}}));
}

TEST(Split, AccumulatorsStayTogether) {
  isa::Conv hold;
  hold.acc_hold = true;
  isa::Conv rest;
  rest.acc_continue = true;
  rest.out_addr = 0x4000;
  const Cut cut = CutOf({LoadTo(0), StoreFrom(0), hold, rest});
  EXPECT_EQ(cut.at, 2u);
  EXPECT_EQ(CutOf({hold, rest}).at, 0u);
}

TEST(Split, StreamsAreAsLongAsAllowedAndNoMore) {
  StreamBuilder builder(isa::kH256);
  for (int i = 0; i < 100; ++i) {
    builder.Append(LoadTo(0), i);
    builder.Append(Copy(0, 0x100), i);
    builder.Append(StoreFrom(0x100, 64 * i), i);
  }
  const auto whole = builder.Finish();
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (uint64_t parts : {2, 3, 7}) {
    const uint64_t most = whole->words.size() * 4 / parts + 256;
    const auto streams = builder.FinishInStreams(Bytes(most), 1, 1 << 20);
    ASSERT_TRUE(streams.ok()) << streams.status();
    EXPECT_GE(streams->streams.size(), parts);
    EXPECT_LE(streams->streams.size(), parts + 1);
    EXPECT_EQ(streams->kept_bytes, 0u);
    size_t commands = 0;
    for (const EncodedStream& s : streams->streams) {
      EXPECT_LE(s.words.size() * 4, most);
      EXPECT_EQ(s.tags.size(), s.offsets.size());
      commands += s.tags.size();
    }
    // At most one load is done again for each.
    EXPECT_GE(commands, 300u);
    EXPECT_LT(commands, 300u + streams->streams.size());
  }
  EXPECT_EQ(RejectionOf(builder.FinishInStreams(Bytes(128), 1, 0).status()),
            Rejection::kUnsupportedShape);
}

TEST(Split, WhatIsKeptIsStoredAndLoaded) {
  StreamBuilder builder(isa::kH256);
  builder.Append(LoadTo(0), 0);
  builder.Append(Copy(0, 0x100), 0);
  for (int i = 0; i < 100; ++i) builder.Append(Copy(0x100, 0x100), 0);
  builder.Append(StoreFrom(0x100), 0);
  const auto streams = builder.FinishInStreams(Bytes(4096), 1, 1 << 20);
  ASSERT_TRUE(streams.ok()) << streams.status();
  EXPECT_GT(streams->streams.size(), 1u);
  EXPECT_EQ(streams->kept_bytes, 64u);
}

TEST(Split, WhereTheCallerSays) {
  StreamBuilder builder(isa::kH256);
  builder.Append(LoadTo(0x400), 0);
  for (int i = 0; i < 10; ++i) {
    builder.Append(LoadTo(0), i);
    builder.Append(StoreFrom(0, 64 * i), i);
  }
  builder.Append(StoreFrom(0x400, 640), 0);
  StreamLimits limits;
  limits.ends = {3, 4, 22};
  const auto streams = builder.FinishInStreams(limits, 1, 1 << 20);
  ASSERT_TRUE(streams.ok()) << streams.status();
  ASSERT_EQ(streams->streams.size(), 3u);
  // What is loaded is loaded again, what is read behind the cut only.
  EXPECT_EQ(streams->streams[0].tags.size(), 3u);
  EXPECT_EQ(streams->streams[1].tags.size(), 1u + 1);
  EXPECT_EQ(streams->streams[2].tags.size(), 2u + 18);
  EXPECT_EQ(streams->kept_bytes, 0u);
  limits.bytes = 256;
  EXPECT_EQ(RejectionOf(builder.FinishInStreams(limits, 1, 1 << 20).status()),
            Rejection::kUnsupportedShape);
}

// Where nothing waits and nothing was loaded ahead, in the part that counts.
TEST(Split, CheapestPlace) {
  std::vector<isa::Command> commands;
  for (int i = 0; i < 10; ++i) {
    commands.push_back(LoadTo(0));
    commands.push_back(LoadTo(0x400));
    commands.push_back(StoreFrom(0));
    commands.push_back(StoreFrom(0x400, 64));
  }
  const Splitter splitter(commands, isa::kH256);
  EXPECT_EQ(splitter.Cheapest(0, 40, 2), 40u);
  for (size_t end : {20, 21, 22, 23}) {
    EXPECT_EQ(splitter.Cheapest(0, end, 2), 20u);
    EXPECT_EQ(splitter.Cheapest(17, end, 1), 20u);
  }
  // Too far back, but for the last places.
  EXPECT_EQ(splitter.Cheapest(0, 23, 10), 23u);
  EXPECT_EQ(splitter.Cheapest(20, 20, 2), 20u);
  EXPECT_EQ(splitter.EndOf(4, 3 * isa::Load::kWords * 4 - 1), 6u);
}

TEST(Split, NowhereToCut) {
  StreamBuilder builder(isa::kH256);
  isa::Conv conv;
  conv.acc_hold = true;
  builder.Append(conv, 0);
  conv.acc_continue = true;
  for (int i = 0; i < 100; ++i) builder.Append(conv, 0);
  const auto streams = builder.FinishInStreams(Bytes(4096), 1, 0);
  EXPECT_EQ(RejectionOf(streams.status()), Rejection::kUnsupportedShape);
  EXPECT_NE(streams.status().message().find("cannot be cut"), std::string::npos)
      << streams.status();
}

}  // namespace
}  // namespace heddle::compiler
