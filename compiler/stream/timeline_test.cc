// SPDX-License-Identifier: Apache-2.0
// Hand-made streams whose times can be counted on fingers, and properties that
// hold for every stream.
#include "simulator/timing/timeline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <variant>

#include "compiler/stream/stream.h"
#include "simulator/timing/command_cost.h"

namespace heddle::compiler {
namespace {

const isa::Config& Card() { return isa::kConfigs[0]; }

// Transfers `words` times 16 bytes between SRAM `sram` and region `region`.
template <typename T>
isa::Command Transfer(uint32_t words, uint32_t sram, uint32_t dram,
                      uint32_t region) {
  T c;
  c.region = region;
  c.dram_offset = dram;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = words;
  c.s0 = c.t0 = 16;
  return c;
}
isa::Command LoadWords(uint32_t words, uint32_t sram, uint32_t dram = 0) {
  return Transfer<isa::Load>(words, sram, dram, 0);
}
isa::Command StoreWords(uint32_t words, uint32_t sram, uint32_t dram = 0) {
  return Transfer<isa::Store>(words, sram, dram, 1);
}
// Reads and writes `lanes` floats.
isa::Command VectorCopy(uint32_t lanes, uint32_t from, uint32_t to) {
  isa::Vmac c;
  c.lanes = lanes;
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

timing::Timeline Simulate(const std::vector<isa::Command>& commands) {
  StreamBuilder stream(Card());
  uint32_t tag = 0;
  for (const isa::Command& c : commands) stream.Append(c, tag++);
  const auto encoded = stream.Finish();
  EXPECT_TRUE(encoded.ok()) << encoded.status();
  const auto timeline = timing::SimulateTimeline(encoded->words, Card(), {});
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return *timeline;
}

const timing::TimedCommand& WithTag(const timing::Timeline& t, uint32_t tag) {
  for (const timing::TimedCommand& c : t.commands) {
    if (c.tag == tag && c.opcode != isa::Opcode::kEnd) return c;
  }
  ADD_FAILURE() << "no command " << tag;
  return t.commands.front();
}

uint64_t Duration(const timing::TimedCommand& c) { return c.end - c.start; }

// What holds for every stream.
void ExpectConsistent(const timing::Timeline& t) {
  std::array<uint64_t, timing::kTimedEngines> end{};
  uint64_t dispatched = 0, bus = 0;
  for (const timing::TimedCommand& c : t.commands) {
    EXPECT_LE(dispatched, c.dispatched);
    dispatched = c.dispatched;
    EXPECT_LE(c.dispatched, c.start);
    if (c.engine >= 0) {
      EXPECT_LT(c.dispatched, c.taken);
      EXPECT_LE(c.taken, c.start);
    }
    EXPECT_LE(c.stalls[0] + c.stalls[1] + c.stalls[2], c.end - c.start);
    EXPECT_LE(c.start, c.end);
    EXPECT_LE(c.end, t.cycles);
    bus += c.bytes;
    if (c.engine < 0) continue;
    EXPECT_LE(end[c.engine], c.start) << "an engine does two things at once";
    end[c.engine] = c.end;
  }
  EXPECT_LE(bus, (t.bus_busy + 1) * Card().dram_bytes_per_cycle);
  for (const timing::EngineTime& e : t.engines) {
    uint64_t sum = e.busy + e.wait_for_commands + e.finished;
    for (uint64_t w : e.wait_for) sum += w;
    EXPECT_EQ(sum, t.cycles);
  }
}

TEST(Timeline, OneCommandTakesItsEstimate) {
  const isa::Command load = LoadWords(64, 0);
  const timing::Timeline t = Simulate({load});
  ASSERT_EQ(t.commands.size(), 2u);  // and end
  EXPECT_EQ(Duration(t.commands[0]), timing::EstimateCycles(load, Card()));
  EXPECT_EQ(t.commands[0].bytes, 1024u);
  EXPECT_EQ(t.commands[1].opcode, isa::Opcode::kEnd);
  EXPECT_EQ(t.commands[1].start, t.cycles);
  EXPECT_EQ(t.bus_busy, 64u);
  EXPECT_EQ(t.engines[0].bytes, 1024u);
  ExpectConsistent(t);
}

TEST(Timeline, IndependentEnginesOverlap) {
  const timing::Timeline t = Simulate(
      {LoadWords(640, 0), VectorCopy(16, 65536, 65600), StoreWords(1, 131072)});
  EXPECT_LT(WithTag(t, 1).start, WithTag(t, 0).end);
  EXPECT_LT(WithTag(t, 2).end, WithTag(t, 0).end);
  ExpectConsistent(t);
}

TEST(Timeline, DependentCommandsWait) {
  const timing::Timeline t = Simulate(
      {LoadWords(64, 0), VectorCopy(16, 0, 4096), StoreWords(4, 4096)});
  // A signal takes a cycle.
  EXPECT_EQ(WithTag(t, 1).start, WithTag(t, 0).end + 1);
  EXPECT_EQ(WithTag(t, 2).start, WithTag(t, 1).end + 1);
  const timing::EngineTime& vector = t.engines[3];
  EXPECT_GT(vector.wait_for[0], 0u);
  EXPECT_EQ(vector.wait_for[1] + vector.wait_for[2] + vector.wait_for[3], 0u);
  EXPECT_EQ(t.engines[1].wait_for[3] + t.engines[1].wait_for_commands,
            WithTag(t, 2).start);
  EXPECT_EQ(t.engines[2].finished, t.cycles) << "nothing for the matrix engine";
  ExpectConsistent(t);
}

TEST(Timeline, LoadsAndStoresShareTheBus) {
  const isa::Command load = LoadWords(1000, 0), store = StoreWords(1000, 65536);
  const timing::Timeline t = Simulate({load, store});
  // The store begins later by the cycles of the front end, so both transfer
  // together but for these; what is behind its transfer is the store's own.
  const uint64_t lag = WithTag(t, 1).start - WithTag(t, 0).start;
  EXPECT_NEAR(Duration(WithTag(t, 0)),
              timing::EstimateCycles(load, Card()) + 1000 - lag, 8);
  EXPECT_NEAR(Duration(WithTag(t, 1)),
              timing::EstimateCycles(store, Card()) + 1000 - lag, 8);
  EXPECT_NEAR(t.bus_busy, 2000u, 4);
  ExpectConsistent(t);
}

TEST(Timeline, FullQueueHoldsTheFrontEndUp) {
  // Loads fill the queue of eight; the vector command behind them is late.
  const auto dispatched = [](uint32_t loads) {
    std::vector<isa::Command> commands;
    for (uint32_t i = 0; i < loads; ++i) {
      commands.push_back(LoadWords(256, i % 8 * 4096));
    }
    commands.push_back(VectorCopy(16, 100000, 100064));
    const timing::Timeline t = Simulate(commands);
    EXPECT_GT(t.engines[3].wait_for_commands, 0u);
    ExpectConsistent(t);
    return WithTag(t, loads).dispatched;
  };
  // The engine itself accepts a few, which wait for the one in front.
  EXPECT_LT(dispatched(4), dispatched(3) + 20);
  EXPECT_NEAR(dispatched(30), dispatched(20) + 10 * 256, 100);
}

TEST(Timeline, SignalsAtTheirPoint) {
  // The load may overwrite what the store has read, long before its answer.
  const timing::Timeline t = Simulate({StoreWords(64, 0), LoadWords(64, 0)});
  EXPECT_LT(WithTag(t, 1).start + 80, WithTag(t, 0).end);
  EXPECT_GT(WithTag(t, 1).start, WithTag(t, 0).start + 64);
  ExpectConsistent(t);
}

TEST(Timeline, MicroprogramsThatAreKnown) {
  // A division holds the lanes for 29 cycles.
  const auto cycles = [](isa::MicroOp op, bool known) {
    isa::MicroInstruction micro;
    micro.op = op;
    micro.d = isa::Destination::kOut;
    micro.a = micro.b = isa::Operand::kStreamA;
    const uint64_t code = micro.Encode();
    std::vector<uint8_t> bytes(16);
    std::memcpy(bytes.data(), &code, sizeof(code));
    isa::Vrun run;
    run.prog_addr = 0x1000;
    run.lanes = 1600;
    run.enable_a = true;
    run.store = isa::StoreMode::kBody;
    isa::Stream a;
    a.base = 4096;
    a.type = isa::ElementType::kF32;
    a.lane_stride = 4;
    run.SetA(a);
    a.base = 16384;
    run.SetD(a);
    StreamBuilder stream(Card());
    stream.Append(LoadWords(1, 0x10000, 64), 0);
    stream.Append(run, 1);
    const auto encoded = stream.Finish();
    EXPECT_TRUE(encoded.ok()) << encoded.status();
    std::vector<timing::KnownBytes> constants;
    if (known) constants.push_back({64, absl::MakeConstSpan(bytes)});
    const auto t = timing::SimulateTimeline(encoded->words, Card(), constants);
    EXPECT_TRUE(t.ok()) << t.status();
    return Duration(WithTag(*t, 1));
  };
  EXPECT_NEAR(cycles(isa::MicroOp::kFadd, true), 230, 30);
  EXPECT_NEAR(cycles(isa::MicroOp::kFdiv, true), 2930, 30);
  EXPECT_NEAR(cycles(isa::MicroOp::kFdiv, false),
              cycles(isa::MicroOp::kFadd, false), 0);
}

TEST(Timeline, LayersAddUpToTheWhole) {
  // Layer 1's load runs in the shadow of layer 0's vector command.
  StreamBuilder stream(Card());
  stream.Append(LoadWords(4, 0), 0);
  stream.Append(VectorCopy(4096, 0, 32768), 0);
  stream.Append(LoadWords(4, 65536), 1);
  stream.Append(VectorCopy(16, 65536, 66000), 1);
  const auto encoded = stream.Finish();
  ASSERT_TRUE(encoded.ok());
  const auto t = timing::SimulateTimeline(encoded->words, Card(), {});
  ASSERT_TRUE(t.ok());
  const std::vector<timing::LayerTime> layers =
      timing::AttributeToLayers(*t, 2);
  EXPECT_LT(layers[1].first, layers[0].last);
  EXPECT_EQ(layers[0].cycles + layers[1].cycles, t->cycles);
  EXPECT_LT(layers[1].cycles, layers[1].last - layers[1].first);
  EXPECT_EQ(layers[0].bytes, 64u);
  EXPECT_EQ(layers[0].commands, 2u);
}

TEST(Timeline, RefusesWhatIsNoStream) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      timing::SimulateTimeline({0xffffffffu}, Card(), {}).status()));
  isa::SyncLoad wait;  // for a unit that nobody gives
  wait.header.wait0_enable = true;
  wait.header.wait0_count = 1;
  std::vector<uint32_t> words;
  isa::Append(isa::Command(LoadWords(1, 0)), &words);
  const size_t offset = words.size() * 4;
  isa::Append(isa::Command(wait), &words);
  isa::Append(isa::Command(isa::End()), &words);
  const absl::Status status =
      timing::SimulateTimeline(words, Card(), {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find(std::to_string(offset)), std::string::npos)
      << status;
  EXPECT_TRUE(timing::SimulateTimeline({}, Card(), {}).ok());
}

TEST(Timeline, RandomStreams) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<isa::Command> commands;
    for (uint32_t i = 0; i < 60; ++i) {
      const uint32_t at = random() % 8 * 4096, to = random() % 8 * 4096;
      switch (random() % 3) {
        case 0:
          commands.push_back(LoadWords(1 + random() % 256, at));
          break;
        case 1:
          commands.push_back(StoreWords(1 + random() % 256, at));
          break;
        default:
          commands.push_back(VectorCopy(16 + random() % 1000, at, to));
      }
    }
    const timing::Timeline t = Simulate(commands), again = Simulate(commands);
    ExpectConsistent(t);
    EXPECT_EQ(t.cycles, again.cycles);
    uint64_t longest = 0, sum = 0;
    for (const isa::Command& c : commands)
      sum += timing::EstimateCycles(c, Card());
    for (const timing::EngineTime& e : t.engines)
      longest = std::max(longest, e.busy);
    EXPECT_GE(t.cycles, longest);
    EXPECT_LE(t.cycles, sum + 300 + 20 * t.commands.size());
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace heddle::compiler
