// SPDX-License-Identifier: Apache-2.0
// What a command waits for within its time. When commands start and end is
// tested with streams of the compiler (compiler/stream/timeline_test.cc).
#include "simulator/timing/timeline.h"

#include <gtest/gtest.h>

#include <cstring>
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

constexpr uint32_t kProgramAt = 4096;      // in SRAM
constexpr uint32_t kFast = 0, kSlow = 16;  // in region 0

// A program of two instructions, the first one `first`.
std::vector<uint8_t> ProgramOf(isa::MicroOp first) {
  isa::MicroInstruction one, two;
  one.op = first;
  one.d = isa::Destination::kV0;
  two.op = isa::MicroOp::kMov;
  two.d = isa::Destination::kOut;
  std::vector<uint8_t> bytes(16);
  const uint64_t code[] = {one.Encode(), two.Encode()};
  std::memcpy(bytes.data(), code, bytes.size());
  return bytes;
}

// The cycles of a vrun of the program at kProgramAt behind loads of 16 bytes of
// region 0, which has a fast program and a slow one: {from, to}.
uint64_t CyclesAfter(const std::vector<std::pair<uint32_t, uint32_t>>& loads) {
  std::vector<uint8_t> region = ProgramOf(isa::MicroOp::kMov);
  const std::vector<uint8_t> slow = ProgramOf(isa::MicroOp::kIdiv);
  region.insert(region.end(), slow.begin(), slow.end());
  std::vector<uint32_t> words;
  for (const auto& [from, to] : loads) {
    isa::Load c;
    c.elem_log2 = 4;
    c.n0 = 1;
    c.s0 = c.t0 = 16;
    c.dram_offset = from;
    c.sram_addr = to;
    isa::Append(isa::Command(c), &words);
  }
  isa::Append(isa::Command(isa::Barrier()), &words);
  isa::Vrun run;
  run.prog_addr = kProgramAt / isa::kWordBytes;
  run.body = 2;
  run.lanes = 16;
  run.n_o1 = 100;
  isa::Append(isa::Command(run), &words);
  isa::Append(isa::Command(isa::End()), &words);
  const auto timeline = SimulateTimeline(words, Card(), {{0, region}});
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  if (!timeline.ok()) return 0;
  for (const TimedCommand& c : timeline->commands) {
    if (c.opcode == isa::Opcode::kVrun) return c.end - c.start;
  }
  ADD_FAILURE() << "no vrun";
  return 0;
}

TEST(Timeline, TheLastLoadIsTheProgram) {
  const uint64_t unknown = CyclesAfter({});
  const uint64_t fast = CyclesAfter({{kFast, kProgramAt}});
  const uint64_t slow = CyclesAfter({{kSlow, kProgramAt}});
  EXPECT_GT(slow, 2 * fast);
  EXPECT_NE(slow, unknown);
  EXPECT_EQ(CyclesAfter({{kFast, kProgramAt}, {kSlow, kProgramAt}}), slow);
  EXPECT_EQ(CyclesAfter({{kSlow, kProgramAt}, {kFast, kProgramAt}}), fast);
  // Beside it, on both sides.
  EXPECT_EQ(CyclesAfter({{kFast, kProgramAt - 16},
                         {kSlow, kProgramAt},
                         {kFast, kProgramAt + 16}}),
            slow);
  // Into it, from both sides: what is left of it is not known any more.
  for (const uint32_t to : {kProgramAt - 8, kProgramAt + 8}) {
    EXPECT_EQ(CyclesAfter({{kSlow, kProgramAt}, {kFast, to}}), unknown) << to;
    EXPECT_EQ(CyclesAfter({{kFast, to}, {kSlow, kProgramAt}}), slow) << to;
  }
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
