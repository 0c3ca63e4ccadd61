// SPDX-License-Identifier: Apache-2.0
//
// Streams through the command processor with engines that only take time, the
// outcome compared with simulator/model: random streams of all instructions,
// streams of waits and signals, broken ones, faults, abort, hang and clear.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "Vhd_command_processor.h"
#include "rtl/testbench/command_bench.h"
#include "simulator/model/model.h"
#include "simulator/model/random_stream.h"

namespace heddle::rtl {
namespace {

using Bench = CommandBench<Vhd_command_processor>;
using Words = std::vector<uint32_t>;

testbench::MemoryTiming Timing(uint64_t seed) {
  testbench::MemoryTiming t;
  t.latency = seed % 3 == 0 ? 1 : 100;
  t.latency_spread = seed % 2 ? 20 : 0;
  t.stall_percent = seed % 5 * 10;
  return t;
}

void ExpectClean(const Bench& bench) {
  for (const std::string& v : bench.violations()) ADD_FAILURE() << v;
}

void ExpectEqual(const CommandResult& r, const model::RunResult& m,
                 bool counts) {
  ASSERT_TRUE(r.done);
  EXPECT_EQ(isa::ToString(r.status), std::string(isa::ToString(m.status)));
  EXPECT_EQ(r.offset, m.fault_offset);
  EXPECT_EQ(r.tag, m.fault_tag);
  EXPECT_EQ(r.engine, static_cast<uint32_t>(m.fault_engine));
  EXPECT_EQ(r.region, m.fault_region);
  EXPECT_EQ(r.address, m.fault_address);
  if (counts) {
    EXPECT_EQ(r.commands, m.commands);
  }
}

// Streams of sync, nop and barrier commands that program order can always
// execute: semaphore s is signalled by engine s % 4 and waited for by engine
// s / 4 % 4; semaphores 30 and 31 are left out.
class SyncStream {
 public:
  explicit SyncStream(uint64_t seed) : random_(seed) {}

  Words Make(int commands) {
    Words words;
    for (int i = 0; i < commands; ++i) {
      isa::Header h;
      const uint32_t what = Below(24);
      uint32_t opcode = 0;
      if (what == 0) {
        opcode = static_cast<uint32_t>(isa::Opcode::kBarrier);
        for (int s = 0; s < 32; ++s) given_[s] = have_[s];
      } else if (what <= 2) {
        opcode = static_cast<uint32_t>(isa::Opcode::kNop);
      } else {
        const uint32_t engine = Below(4);
        constexpr isa::Opcode kSync[4] = {
            isa::Opcode::kSyncLoad, isa::Opcode::kSyncStore,
            isa::Opcode::kSyncMatrix, isa::Opcode::kSyncVector};
        opcode = static_cast<uint32_t>(kSync[engine]);
        Fill(engine, &h);
      }
      h.opcode = opcode;
      h.words = 4;
      h.tag = 0x1000 + i;
      Push(h, &words);
    }
    isa::Header end;
    end.opcode = static_cast<uint32_t>(isa::Opcode::kEnd);
    end.words = 4;
    end.tag = 0xe0d;
    Push(end, &words);
    return words;
  }

  uint32_t Below(uint32_t n) { return random_() % n; }

 private:
  static void Push(const isa::Header& h, Words* words) {
    words->push_back(h.opcode | h.words << 8);
    words->push_back(uint32_t{h.wait0_enable} | h.wait0_sem << 1 |
                     h.wait0_count << 6 | uint32_t{h.wait1_enable} << 14 |
                     h.wait1_sem << 15 | h.wait1_count << 20);
    words->push_back(
        uint32_t{h.signal0_enable} | h.signal0_sem << 1 | h.signal0_count << 6 |
        static_cast<uint32_t>(h.signal0_point) << 14 |
        uint32_t{h.signal1_enable} << 15 | h.signal1_sem << 16 |
        h.signal1_count << 21 | static_cast<uint32_t>(h.signal1_point) << 29);
    words->push_back(h.tag);
  }

  void Fill(uint32_t engine, isa::Header* h) {
    std::vector<uint32_t> waits, signals;
    for (uint32_t s = 0; s < 30; ++s) {
      if (s / 4 % 4 == engine && have_[s] > 0 && Below(3)) waits.push_back(s);
      if (s % 4 == engine && given_[s] < 240 && Below(4) == 0) {
        signals.push_back(s);
      }
    }
    if (!waits.empty()) {
      h->wait0_enable = true;
      h->wait0_sem = waits[0];
      h->wait0_count = Below(have_[waits[0]] + 1);
      have_[waits[0]] -= h->wait0_count;
    }
    if (waits.size() > 1) {
      h->wait1_enable = true;
      h->wait1_sem = waits[1];
      h->wait1_count = Below(have_[waits[1]] + 1);
      have_[waits[1]] -= h->wait1_count;
    }
    auto give = [&](uint32_t s) {
      const uint32_t n = Below(8);
      have_[s] += n;
      given_[s] += n;
      return n;
    };
    // One point for each semaphore.
    if (!signals.empty()) {
      h->signal0_enable = true;
      h->signal0_sem = signals[0];
      h->signal0_point = static_cast<isa::SignalPoint>(signals[0] / 16 & 1);
      h->signal0_count = give(signals[0]);
    }
    if (signals.size() > 1) {
      h->signal1_enable = true;
      h->signal1_sem = signals[1];
      h->signal1_point = static_cast<isa::SignalPoint>(signals[1] / 16 & 1);
      h->signal1_count = give(signals[1]);
    }
  }

  std::mt19937 random_;
  uint32_t have_[32] = {}, given_[32] = {};  // since the last barrier
};

model::RunResult RunModel(const Words& words, size_t bytes) {
  std::vector<uint8_t> dram(4096);
  model::FlatMemory memory(dram.data(), dram.size());
  model::Model model(isa::kH256, &memory);
  const model::RegionTable regions = {};
  return model.Run(words.data(), bytes, regions);
}

TEST(CommandProcessorTest, RandomStreamsOfAllInstructions) {
  std::map<std::string, int> kinds;
  uint64_t load_alone = 0, store_alone = 0, both = 0, matrix = 0, vector = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    model::RandomStreamOptions options;
    options.seed = seed;
    options.commands = 40;
    model::RandomStream stream = model::MakeRandomStream(options);
    for (const auto& [kind, n] : stream.kinds) kinds[kind] += n;
    model::FlatMemory memory(stream.dram.data(), stream.dram.size());
    model::Model model(isa::kH256, &memory);
    const model::RunResult expected =
        model.Run(stream.words.data(), stream.words.size() * 4, stream.regions);
    ASSERT_EQ(expected.status, isa::Error::kOk);

    Bench bench(seed, Timing(seed));
    bench.slowness = seed % 4 == 0 ? 200 : 10;
    bench.Load(stream.words, stream.words.size() * 4);
    const CommandResult r = bench.Run();
    ExpectEqual(r, expected, true);
    EXPECT_EQ(r.macs, bench.macs());
    EXPECT_EQ(r.bytes_loaded, bench.bytes(0));
    EXPECT_EQ(r.bytes_stored, bench.bytes(1));
    EXPECT_EQ(bench.accepted(), bench.completed());
    EXPECT_EQ(bench.resets(), 0);
    EXPECT_GE(r.cycles + 3, r.measured);
    EXPECT_LE(r.cycles, r.measured);
    EXPECT_EQ(r.matrix_busy, bench.busy(1u << 2));
    EXPECT_EQ(r.vector_busy, bench.busy(1u << 3));
    EXPECT_EQ(r.dma_busy, bench.busy(1u << 0 | 1u << 1));
    load_alone += r.dma_busy - bench.busy(1u << 1);
    store_alone += r.dma_busy - bench.busy(1u << 0);
    both += bench.busy(1u << 0) + bench.busy(1u << 1) - r.dma_busy;
    matrix += r.matrix_busy;
    vector += r.vector_busy;
    EXPECT_EQ(bench.dut->progress_o, r.commands);
    ExpectClean(bench);
    // The same again: nothing is left over.
    ExpectEqual(bench.Run(), expected, true);
    EXPECT_EQ(bench.dut->progress_o, 2 * r.commands);
    ExpectClean(bench);
  }
  EXPECT_GE(kinds.size(), 20u);
  for (uint64_t cycles : {load_alone, store_alone, both, matrix, vector}) {
    EXPECT_GT(cycles, 100u) << "nothing was counted";
  }
}

TEST(CommandProcessorTest, WaitsAndSignals) {
  uint64_t commands = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    const Words words = SyncStream(seed).Make(120);
    const model::RunResult expected = RunModel(words, words.size() * 4);
    ASSERT_EQ(expected.status, isa::Error::kOk);
    Bench bench(seed, Timing(seed));
    bench.slowness = seed % 3 == 0 ? 100 : 4;
    bench.Load(words, words.size() * 4);
    const CommandResult r = bench.Run();
    ExpectEqual(r, expected, true);
    ExpectClean(bench);
    commands += r.commands;
  }
  EXPECT_GT(commands, 15000u);
}

// One thing wrong in a stream: the verdict, its place and the number of
// commands that retired before are the model's.
TEST(CommandProcessorTest, BrokenStreams) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    SyncStream make(seed);
    Words words = make.Make(60);
    size_t bytes = words.size() * 4;
    const uint32_t at = make.Below(60) * 4;
    bool counts = true;
    std::string what;
    switch (seed % 6) {
      case 0:
        what = "truncated";
        bytes = at * 4;
        break;
      case 1:
        what = "bit of the first word";
        words[at] ^= 1u << make.Below(32);
        break;
      case 2:
        what = "reserved bit";
        if (make.Below(2))
          words[at + 1] |= 1u << (28 + make.Below(4));
        else
          words[at + 2] |= 1u << (30 + make.Below(2));
        break;
      case 3:
        what = "end before the end";
        words[at] = 0x402;
        words[at + 1] = words[at + 2] = 0;
        break;
      case 4:
        what = "wait that nothing satisfies";
        words[at] = 0x413;
        words[at + 1] = 1 | 31 << 1 | 1 << 6;
        words[at + 2] = 0;
        counts = false;  // later commands of other engines may retire
        break;
      default:
        what = "semaphore beyond its maximum";
        // By one engine at one point, so the same unit overflows in any order.
        for (uint32_t i = 0; i < 15; ++i) {
          if (words[4 * i] == 0x402) break;
          words[4 * i] = 0x431;
          words[4 * i + 1] = 0;
          words[4 * i + 2] = 1 | 30 << 1 | 20 << 6 | (seed / 6 % 2) << 14;
        }
        counts = false;
        break;
    }
    const model::RunResult expected = RunModel(words, bytes);
    Bench bench(seed, Timing(seed));
    bench.slowness = seed % 4 == 0 ? 60 : 4;
    bench.Load(words, bytes);
    const CommandResult r = bench.Run();
    SCOPED_TRACE(what);
    ExpectEqual(r, expected, counts);
    if (seed % 6 == 4) {
      EXPECT_GE(r.commands, expected.commands);
    }
    ExpectClean(bench);
    EXPECT_EQ(bench.resets() > 0, r.status != isa::Error::kOk);
    ++seen[what + ": " + isa::ToString(expected.status)];
    // The processor is as good as new.
    const Words good = SyncStream(seed + 1000).Make(20);
    bench.Load(good, good.size() * 4);
    ExpectEqual(bench.Run(), RunModel(good, good.size() * 4), true);
    ExpectClean(bench);
  }
  EXPECT_GE(seen["truncated: stream_overrun"], 90);
  EXPECT_GE(seen["bit of the first word: illegal_command"], 60);
  EXPECT_GE(seen["reserved bit: illegal_command"], 90);
  EXPECT_GE(seen["end before the end: illegal_command"], 90);
  EXPECT_GE(seen["wait that nothing satisfies: illegal_command"], 80);
  EXPECT_GE(seen["semaphore beyond its maximum: semaphore_overflow"], 90);
}

// A stream that ends inside of its last command, at every beat of every
// instruction.
TEST(CommandProcessorTest, StreamEndsInACommand) {
  int cut = 0;
  for (const auto& [opcode, words] :
       {std::pair{isa::Opcode::kLoad, isa::Load::kWords},
        {isa::Opcode::kLoadGather, isa::LoadGather::kWords},
        {isa::Opcode::kFill, isa::Fill::kWords},
        {isa::Opcode::kConv, isa::Conv::kWords},
        {isa::Opcode::kVmac, isa::Vmac::kWords},
        {isa::Opcode::kVrun, isa::Vrun::kWords}}) {
    for (size_t beats = 1; beats < words / 4; ++beats) {
      Words stream(words);
      stream[0] = static_cast<uint32_t>(opcode) | words << 8;
      stream[3] = 0x1234;
      const model::RunResult expected = RunModel(stream, beats * 16);
      ASSERT_EQ(expected.status, isa::Error::kStreamOverrun);
      Bench bench(beats, Timing(beats));
      bench.Load(stream, beats * 16);
      ExpectEqual(bench.Run(), expected, true);
      ExpectClean(bench);
      ++cut;
    }
  }
  EXPECT_GT(cut, 20);
}

TEST(CommandProcessorTest, EmptyStreamOverruns) {
  const Words words(16);
  Bench bench(1, Timing(1));
  bench.Load(words, 0);
  ExpectEqual(bench.Run(), RunModel(words, 0), true);
  ExpectClean(bench);
}

TEST(CommandProcessorTest, EngineFault) {
  int by_engine[5] = {};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    SyncStream make(seed);
    const Words words = make.Make(60);
    uint32_t at = make.Below(60);
    while (words[4 * at] < 0x410) at = (at + 1) % 60;  // not control
    Bench bench(seed, Timing(seed));
    bench.has_fault = true;
    bench.fault = {words[4 * at + 3], static_cast<uint8_t>(3 + make.Below(7)),
                   static_cast<uint8_t>(make.Below(16)),
                   uint64_t{make.Below(~0u)} << 13};
    bench.Load(words, words.size() * 4);
    const CommandResult r = bench.Run();
    ASSERT_TRUE(r.done);
    EXPECT_EQ(static_cast<uint8_t>(r.status), bench.fault.code);
    EXPECT_EQ(r.offset, at * 16);
    EXPECT_EQ(r.tag, bench.fault.tag);
    EXPECT_EQ(r.region, bench.fault.region);
    EXPECT_EQ(r.address, bench.fault.address);
    const isa::CommandInfo* info = isa::FindCommand(words[4 * at] & 255);
    EXPECT_EQ(r.engine, static_cast<uint32_t>(info->engine));
    ++by_engine[r.engine];
    EXPECT_EQ(bench.resets(), 2);
    ExpectClean(bench);
    bench.has_fault = false;
    ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
    ExpectClean(bench);
  }
  for (int e = 1; e < 5; ++e) EXPECT_GT(by_engine[e], 20);
}

TEST(CommandProcessorTest, BusErrorOfTheStream) {
  const Words words = SyncStream(5).Make(60);
  Bench bench(5, Timing(5));
  bench.Load(words, words.size() * 4);
  bench.memory().set_error_range(Bench::kBase + 32 * 16,
                                 Bench::kBase + 33 * 16);
  const CommandResult r = bench.Run();
  ASSERT_TRUE(r.done);
  EXPECT_EQ(r.status, isa::Error::kBusError);
  EXPECT_EQ(r.offset, 32u * 16);
  EXPECT_EQ(r.engine, 0u);
  EXPECT_EQ(r.address, Bench::kBase + 32 * 16);
  EXPECT_EQ(r.commands, 32u);
  ExpectClean(bench);
}

// In every beat of a command but the first, whose header is known by then.
TEST(CommandProcessorTest, BusErrorInACommand) {
  for (size_t beat = 1; beat < isa::Conv::kWords / 4; ++beat) {
    Words stream(isa::Conv::kWords);
    stream[0] = static_cast<uint32_t>(isa::Opcode::kConv) | isa::Conv::kWords
                                                                << 8;
    stream[3] = 0x1234;
    Bench bench(beat, Timing(beat));
    bench.Load(stream, stream.size() * 4);
    const uint64_t at = Bench::kBase + 16 * beat;
    bench.memory().set_error_range(at, at + 16);
    const CommandResult r = bench.Run();
    ASSERT_TRUE(r.done);
    EXPECT_EQ(r.status, isa::Error::kBusError);
    EXPECT_EQ(r.offset, 0u);
    EXPECT_EQ(r.tag, 0x1234u);
    EXPECT_EQ(r.engine, 0u);
    EXPECT_EQ(r.address, at);
    EXPECT_EQ(r.commands, 0u);
    ExpectClean(bench);
  }
}

// A word of SRAM is lost: whatever runs ends, and the fault is of no engine.
// One that comes with or after the end is nobody's.
TEST(CommandProcessorTest, SramIsLost) {
  int lost = 0, late = 0, first = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    SyncStream make(seed);
    const Words words = make.Make(20);
    Bench bench(seed, Timing(seed));
    // Some with the fault of an engine, which its wrong data may have caused.
    bench.has_fault = seed % 8 == 0;
    bench.fault = {words[4 * 10 + 3], 3, 1, 0x1234};
    bench.sram_fails_at = 1 + make.Below(1000);
    bench.Load(words, words.size() * 4);
    const CommandResult r = bench.Run();
    ASSERT_TRUE(r.done);
    if (r.status == isa::Error::kSramUncorrectable) {
      ++lost;
      EXPECT_EQ(r.address, bench.sram_address);
      EXPECT_EQ(r.engine, 0u);
      EXPECT_EQ(r.region, 0u);
      if (r.commands == 0) {
        ++first;
        EXPECT_EQ(r.offset, 0u);
        EXPECT_EQ(r.tag, 0u);
      } else {
        EXPECT_EQ(r.tag, words[r.offset / 4 + 3]);
      }
      EXPECT_EQ(bench.resets(), 2);
    } else {
      ++late;
      EXPECT_TRUE(r.status == isa::Error::kOk || bench.has_fault);
    }
    ExpectClean(bench);
    bench.has_fault = false;
    bench.sram_fails_at = ~uint64_t{0};
    ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
    ExpectClean(bench);
  }
  EXPECT_GT(lost, 50);
  EXPECT_GT(late, 20);
  EXPECT_GT(first, 2);
}

// A command faults while an abort waits for it: the fault is what is told, and
// the engines are reset.
TEST(CommandProcessorTest, FaultAfterAbort) {
  int faults = 0, aborts = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    SyncStream make(seed);
    const Words words = make.Make(60);
    uint32_t at = make.Below(60);
    while (words[4 * at] < 0x410) at = (at + 1) % 60;  // not control
    Bench bench(seed, Timing(seed));
    bench.slowness = 200;
    bench.has_fault = true;
    bench.fault = {words[4 * at + 3], 3, 1, 0x1234};
    bench.abort_at = 100 + make.Below(2000);
    bench.Load(words, words.size() * 4);
    const CommandResult r = bench.Run();
    ASSERT_TRUE(r.done);
    if (r.status == isa::Error::kAborted) {
      ++aborts;
      EXPECT_EQ(bench.resets(), 0);
    } else {
      ++faults;
      EXPECT_EQ(static_cast<uint8_t>(r.status), bench.fault.code);
      EXPECT_EQ(r.offset, at * 16);
      EXPECT_EQ(bench.resets(), 2);
    }
    ExpectClean(bench);
    bench.has_fault = false;
    bench.abort_at = ~uint64_t{0};
    ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
    ExpectClean(bench);
  }
  EXPECT_GT(faults, 20);
  EXPECT_GT(aborts, 20);
}

// The fault injection also holds a core that is about to end an abort.
TEST(CommandProcessorTest, HangDuringAbort) {
  const Words words = SyncStream(10).Make(60);
  Bench bench(10, Timing(10));
  bench.Load(words, words.size() * 4);
  bench.Start();
  for (int i = 0; i < 3000; ++i) {
    bench.dut->abort_i = i > 200;
    bench.dut->hang_i = i > 202;
    bench.Cycle();
    ASSERT_FALSE(bench.dut->done_o);
  }
  EXPECT_TRUE(bench.dut->busy_o);
  EXPECT_EQ(bench.accepted(), bench.completed());
  bench.dut->abort_i = 0;
  bench.dut->hang_i = 0;
  bench.dut.Reset();
  ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
  ExpectClean(bench);
}

TEST(CommandProcessorTest, AbortEndsAfterRunningCommands) {
  int aborted = 0, midway = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    SyncStream make(seed);
    const Words words = make.Make(60);
    Bench bench(seed, Timing(seed));
    bench.abort_at = 1 + make.Below(700);
    bench.Load(words, words.size() * 4);
    const CommandResult r = bench.Run();
    ASSERT_TRUE(r.done);
    EXPECT_EQ(bench.accepted(), bench.completed());
    EXPECT_EQ(bench.resets(), 0);
    ExpectClean(bench);
    if (r.status == isa::Error::kAborted) {
      ++aborted;
      EXPECT_EQ(r.engine, 0u);
      EXPECT_LT(r.commands, words.size() / 4);
      EXPECT_GE(r.commands, bench.completed());
      if (r.commands > 0) {
        ++midway;
        EXPECT_EQ(words[r.offset / 4 + 3], r.tag);
      }
    } else {
      EXPECT_EQ(r.status, isa::Error::kOk);
    }
    bench.abort_at = ~uint64_t{0};
    ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
    ExpectClean(bench);
  }
  EXPECT_GT(aborted, 100);
  EXPECT_GT(midway, 50);
}

TEST(CommandProcessorTest, HangIgnoresAbortUntilReset) {
  const Words words = SyncStream(9).Make(60);
  Bench bench(9, Timing(9));
  bench.Load(words, words.size() * 4);
  bench.dut->hang_i = 1;
  bench.Start();
  for (int i = 0; i < 3000; ++i) {
    bench.dut->abort_i = i > 1000;
    bench.Cycle();
    ASSERT_FALSE(bench.dut->done_o);
  }
  EXPECT_TRUE(bench.dut->busy_o);
  EXPECT_EQ(bench.dut->progress_o, 0u);
  EXPECT_EQ(bench.accepted(), 0u);
  bench.dut->abort_i = 0;
  bench.dut->hang_i = 0;
  bench.dut.Reset();
  EXPECT_FALSE(bench.dut->busy_o);
  ExpectEqual(bench.Run(), RunModel(words, words.size() * 4), true);
  ExpectClean(bench);
}

TEST(CommandProcessorTest, ClearThenStream) {
  const Words words = SyncStream(11).Make(10);
  Bench bench(11, Timing(11));
  bench.Load(words, words.size() * 4);
  for (const bool with_stream : {false, true}) {
    bench.dut->clear_i = 1;
    if (with_stream) {
      bench.Start();
    } else {
      bench.Cycle();
    }
    bench.dut->clear_i = 0;
    bench.dut.Settle();
    EXPECT_TRUE(bench.dut->sram_clear_o);
    EXPECT_TRUE(bench.dut->busy_o);
    for (int i = 0; i < 100; ++i) {
      bench.Cycle();
      bench.dut->sram_clear_busy_i = 1;
      bench.dut.Settle();
      EXPECT_FALSE(bench.dut->sram_clear_o);
      EXPECT_TRUE(bench.dut->busy_o);
      EXPECT_FALSE(bench.dut->mem_req_valid_o);
    }
    bench.dut->sram_clear_busy_i = 0;
    int cycles = 0;
    bool done = false;
    for (; bench.dut->busy_o && cycles < 5000; ++cycles) {
      bench.Cycle();
      bench.dut.Settle();
      done |= bench.dut->done_o;
    }
    EXPECT_LT(cycles, 5000);
    EXPECT_EQ(done, with_stream);
  }
  EXPECT_EQ(bench.dut->commands_o, words.size() / 4);
  ExpectClean(bench);
}

// A stream of commands that cost the engines nothing: the front end and the
// fetch alone set the pace.
TEST(CommandProcessorTest, FrontEndPace) {
  Words words;
  const int n = 2000;
  for (int i = 0; i < n; ++i) {
    words.insert(words.end(), {0x401, 0, 0, 0});
  }
  words.insert(words.end(), {0x402, 0, 0, 0});
  testbench::MemoryTiming timing;
  timing.latency = 120;
  Bench bench(1, timing);
  bench.Load(words, words.size() * 4);
  const CommandResult r = bench.Run();
  EXPECT_EQ(r.status, isa::Error::kOk);
  EXPECT_LE(r.cycles, 160u + 4 * n);
  ExpectClean(bench);
}

}  // namespace
}  // namespace heddle::rtl
