// SPDX-License-Identifier: Apache-2.0
// What a command waits for within its time. When commands start and end is
// tested with streams of the compiler (compiler/stream/timeline_test.cc).
#include "simulator/timing/timeline.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::timing {
namespace {

const isa::Config& Card() { return isa::kConfigs[0]; }

isa::Command LoadWords(uint32_t words, uint32_t sram) {
  isa::Load c;
  c.elem_log2 = 4;
  c.n0 = words;
  c.s0 = c.t0 = 16;
  c.sram_addr = sram;
  return c;
}

isa::Command Pointwise(isa::WeightMode mode, uint32_t pixels) {
  isa::Conv c;
  c.mode = isa::MatrixMode::kConv;
  c.w_mode = mode;
  c.kh = c.kw = c.sx = c.sy = c.dx = c.dy = 1;
  c.ci = 64;
  c.co = 16;
  c.ih = c.out_rows = 1;
  c.iw = c.ow = pixels;
  return c;
}

// Of floats.
isa::Command VectorCopy(uint32_t lanes) {
  isa::Vmac c;
  c.lanes = lanes;
  isa::Stream a;
  a.type = isa::ElementType::kF32;
  a.lane_stride = 4;
  isa::Stream d = a;
  d.base = 4 * lanes;
  c.SetA(a);
  c.SetB(a);
  c.SetD(d);
  return c;
}

std::vector<TimedCommand> Times(const std::vector<isa::Command>& commands) {
  TimelineBuilder builder(Card(), CalibrationOf(Card()));
  uint32_t offset = 0;
  for (const isa::Command& c : commands) {
    builder.Add(offset, c, nullptr);
    offset += 4 * isa::WordsOf(c);
  }
  auto timeline = builder.Finish();
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.ok() ? std::move(timeline->commands)
                       : std::vector<TimedCommand>(commands.size());
}

// Parts of words that are placed behind each other: in one bank, in two in
// turn, two in each word.
TEST(Timeline, PartsOfWordsHoldTheirBank) {
  const auto cycles = [](uint32_t step) {
    isa::Load c;
    c.elem_log2 = 2;
    c.n0 = 1024;
    c.s0 = 4;
    c.t0 = step;
    return static_cast<double>(Times({c})[0].end);
  };
  const double apart = cycles(272);
  EXPECT_NEAR(cycles(256) - apart, 1024, 20);
  EXPECT_NEAR(cycles(8) - apart, 512, 20);
  EXPECT_NEAR(cycles(16), apart, 20);
}

TEST(Stalls, OfALoadAreTheLatencyOfDeviceMemory) {
  const auto alone = Times({LoadWords(256, 0)})[0];
  EXPECT_GE(alone.stalls[0], Card().dram_latency_cycles);
  EXPECT_LE(alone.stalls[0], Card().dram_latency_cycles + 20);
  EXPECT_EQ(alone.stalls[1] + alone.stalls[2], 0u);
  // Behind another one its beats follow at once.
  const auto two = Times({LoadWords(256, 0), LoadWords(256, 8192)});
  EXPECT_LT(two[1].taken, two[0].end);
  EXPECT_EQ(two[1].start, two[0].end);
  EXPECT_LE(two[1].stalls[0], 4u);
}

TEST(Stalls, OfTheMatrixEngineAreWeightsThatFewPixelsDoNotHide) {
  const auto few = Times({Pointwise(isa::WeightMode::kPacked, 2)})[0];
  const auto many = Times({Pointwise(isa::WeightMode::kPacked, 64)})[0];
  EXPECT_GT(few.stalls[0], 2 * many.stalls[0]);
  EXPECT_GT(many.stalls[0], 0u) << "the first weights";
  EXPECT_LT(few.stalls[0], few.end - few.start);
}

TEST(Stalls, OfTheMatrixEngineAreWideOutputs) {
  auto c = Pointwise(isa::WeightMode::kPacked, 256);
  std::get<isa::Conv>(c).ci = 16;
  EXPECT_EQ(Times({c})[0].stalls[2], 0u);
  std::get<isa::Conv>(c).out_type = isa::OutType::kI32;
  EXPECT_GT(Times({c})[0].stalls[2], 200u);
}

TEST(Stalls, AtSramAreThoseOfSeveralEngines) {
  EXPECT_EQ(Times({VectorCopy(4096)})[0].stalls[0], 0u);
  const auto both = Times({VectorCopy(4096), LoadWords(256, 65536)});
  EXPECT_GT(both[1].stalls[1], 0u);
}

}  // namespace
}  // namespace heddle::timing
