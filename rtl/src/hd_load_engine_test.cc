// SPDX-License-Identifier: Apache-2.0
// Loads, fills and gathers against the functional model, byte for byte: random
// boxes, shapes that the compiler emits, faults; and cycles.
#include "Vhd_load_engine.h"
#include "gtest/gtest.h"
#include "rtl/testbench/dma_bench.h"
#include "rtl/testbench/dma_commands.h"
#include "simulator/model/random_command.h"

namespace heddle::rtl {
namespace {

using Bench = DmaBench<Vhd_load_engine, false>;
using testbench::MemoryTiming;

constexpr MemoryTiming kQuick = {1, 0, 0};
constexpr MemoryTiming kRough = {1, 30, 30};
constexpr MemoryTiming kCard = {100, 0, 0};

MemoryTiming TimingFor(uint64_t seed) {
  return seed % 3 == 0 ? kQuick : seed % 3 == 1 ? kRough : kCard;
}

TEST(HdLoadEngine, RandomBoxes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 12; ++i) bench.commands.push_back(commands.Load());
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdLoadEngine, RandomCommandsOfTheModel) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    model::CommandGenerator generator(isa::kH256, Bench::kMemoryBytes / 2,
                                      seed + 1);
    const std::vector<uint8_t> initial = generator.InitialSram();
    std::copy(initial.begin(), initial.end(), bench.sram.data());
    while (bench.commands.size() < 20) {
      const size_t kind = generator.Below(generator.kinds());
      const model::RandomCommand c = generator.Make(kind);
      if (c.kind == "load" || c.kind == "fill" || c.kind == "load.gather") {
        bench.commands.push_back(c.command);
      }
      if (generator.OneIn(40)) bench.Add(isa::SyncLoad());
    }
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdLoadEngine, PlanarToInterleaved) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 6; ++i) bench.commands.push_back(commands.Planes());
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdLoadEngine, FaultsAreThoseOfTheModel) {
  int faults = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 4; ++i) {
      bench.commands.push_back(i == 2 ? commands.BadLoad() : commands.Load());
    }
    if (seed % 4 == 0) {
      bench.memory.set_error_range(0x3210 & ~15, 0x8000);
      bench.regions[2] = {0x3000, 0x10000, true};
      isa::Load c;
      c.region = 2;
      c.elem_log2 = seed / 4 % 5;
      c.n0 = 2048 >> c.elem_log2;
      c.s0 = c.t0 = 1 << c.elem_log2;
      bench.commands[1] = c;
      // The model's memory has no such range: the expected fault by hand.
      bench.commands.resize(3);
      bench.commands[0] = isa::SyncLoad();
      const DmaResult r = bench.Run();
      EXPECT_TRUE(r.fault);
      EXPECT_EQ(r.code, static_cast<uint32_t>(isa::Error::kBusError));
      EXPECT_EQ(r.address, 0x3210u & ~15);
      EXPECT_EQ(r.dones, 1u);
      continue;
    }
    faults += bench.Compare("seed " + std::to_string(seed)).fault;
    if (HasFailure()) return;
  }
  EXPECT_GT(faults, 50);
}

// A region may be bound beyond the 40 bits of device addresses: nothing answers
// there, and no burst goes out.
TEST(HdLoadEngine, RegionBeyondTheAddresses) {
  Bench bench(kCard);
  bench.regions[5] = {(uint64_t{1} << 40) - 0x100, 0x1000, true};
  isa::Load c;
  c.region = 5;
  c.elem_log2 = 4;
  c.n0 = 32;
  c.s0 = c.t0 = 16;
  bench.Add(c);
  const DmaResult r = bench.Run();
  EXPECT_TRUE(r.fault);
  EXPECT_EQ(r.code, static_cast<uint32_t>(isa::Error::kBusError));
  EXPECT_EQ(r.region, 0u);
  EXPECT_EQ(r.address, (uint64_t{1} << 40) + 0xff);
  EXPECT_EQ(r.dones, 0u);
}

TEST(HdLoadEngine, StopHoldsBackBursts) {
  Bench bench(kCard);
  isa::Load c;
  c.elem_log2 = 4;
  c.n0 = 16384;
  c.s0 = c.t0 = 16;
  bench.Add(c);
  DmaResult r;
  std::vector<uint32_t> words;
  isa::Append(bench.commands[0], &words);
  bench.dut->cmd_valid_i = 1;
  std::memcpy(&bench.dut->cmd_i[0], words.data(), 80);
  bench.Cycle(&r);
  bench.dut->cmd_valid_i = 0;
  for (int i = 0; i < 300; ++i) bench.Cycle(&r);
  bench.dut->stop_i = 1;
  for (int i = 0; i < 3; ++i) bench.Cycle(&r);
  const uint64_t requests = bench.memory.requests();
  EXPECT_FALSE(bench.dut->quiet_o);
  for (int i = 0; i < 600; ++i) bench.Cycle(&r);
  EXPECT_EQ(bench.memory.requests(), requests);
  EXPECT_TRUE(bench.dut->quiet_o);
  EXPECT_FALSE(bench.dut->idle_o);
  EXPECT_EQ(r.dones, 0u);
  bench.dut->stop_i = 0;
  for (int i = 0; i < 20000 && r.dones == 0; ++i) bench.Cycle(&r);
  EXPECT_EQ(r.dones, 1u);
  EXPECT_EQ(r.bytes, 16384u * 16);
}

// ---- Cycles, with a latency of 100 and one beat per cycle.

constexpr uint64_t kLatency = 130;  // preparation, latency, ways, last write

double BytesPerCycle(const DmaResult& r) {
  const double rate =
      static_cast<double>(r.bytes) / static_cast<double>(r.cycles - kLatency);
  printf("[ cycles   ] %s: %llu bytes, %llu cycles, %.2f bytes/cycle\n",
         ::testing::UnitTest::GetInstance()->current_test_info()->name(),
         static_cast<unsigned long long>(r.bytes),
         static_cast<unsigned long long>(r.cycles), rate);
  return rate;
}

TEST(HdLoadEngine, ContiguousRate) {
  for (uint32_t skew : {0, 5}) {
    Bench bench(kCard);
    isa::Load c;
    c.dram_offset = skew;
    c.sram_addr = 3 * skew;
    c.n0 = 65535;
    c.s0 = c.t0 = 1;
    bench.Add(c);
    EXPECT_GE(BytesPerCycle(bench.Compare("contiguous")), 15.2);
  }
}

// Rows with their own alignment on both sides.
double Rows(uint32_t bytes, uint32_t rows, uint32_t s1, uint32_t t1,
            uint32_t offset) {
  Bench bench(kCard);
  isa::Load c;
  c.dram_offset = offset;
  c.n0 = bytes;
  c.s0 = c.t0 = 1;
  c.n1 = rows;
  c.s1 = s1;
  c.t1 = t1;
  bench.Add(c);
  return BytesPerCycle(bench.Compare("rows"));
}

TEST(HdLoadEngine, RowRate) {
  EXPECT_GE(Rows(112, 64, 128, 112, 0), 15.0);
  EXPECT_GE(Rows(112, 64, 113, 112, 3), 13.0);
  EXPECT_GE(Rows(112, 64, 117, 119, 3), 12.5);
  EXPECT_GE(Rows(16, 256, 64, 16, 0), 14.0);
  EXPECT_GE(Rows(16, 256, 64, 16, 5), 7.0);
  EXPECT_GE(Rows(7, 512, 64, 16, 0), 6.5);
}

// Many commands: the requests of one go out while the data of others arrives.
TEST(HdLoadEngine, CommandRate) {
  Bench bench(kCard);
  for (uint32_t i = 0; i < 64; ++i) {
    isa::Load c;
    c.elem_log2 = 4;
    c.dram_offset = 4096 * i;
    c.sram_addr = 512 * i;
    c.n0 = 32;
    c.s0 = c.t0 = 16;
    bench.Add(c);
  }
  EXPECT_GE(BytesPerCycle(bench.Compare("commands")), 15.0);
}

double Planes(uint32_t xstep, uint32_t planes, uint32_t width, uint32_t height,
              uint32_t offset) {
  Bench bench(kCard);
  isa::Load c;
  c.dram_offset = offset;
  c.n0 = width;
  c.s0 = 1;
  c.t0 = xstep;
  c.n1 = height;
  c.s1 = width;
  c.t1 = (width * xstep + 15) / 16 * 16;
  c.n2 = planes;
  c.s2 = width * height;
  c.t2 = 1;
  bench.Add(c);
  return BytesPerCycle(bench.Compare("planes"));
}

TEST(HdLoadEngine, PlaneRate) {
  EXPECT_GE(Planes(3, 3, 224, 32, 0), 14.5);
  EXPECT_GE(Planes(3, 3, 96, 96, 0), 14.5);
  EXPECT_GE(Planes(3, 3, 244, 16, 0), 10.0);
  EXPECT_GE(Planes(4, 4, 224, 32, 0), 14.5);
  EXPECT_GE(Planes(16, 16, 56, 16, 0), 13.0);
  EXPECT_GE(Planes(16, 4, 56, 16, 0), 3.8);
  EXPECT_GE(Planes(3, 3, 31, 31, 0), 6.0);
  EXPECT_GE(Planes(16, 16, 7, 7, 0), 4.0);
}

TEST(HdLoadEngine, FillRate) {
  Bench bench(kCard);
  isa::Fill c;
  c.elem_log2 = 2;
  c.value = 0x01020304;
  c.n0 = 16384;
  c.t0 = 4;
  bench.Add(c);
  const DmaResult r = bench.Compare("fill");
  EXPECT_LE(r.cycles, 4096u + 20);
}

double Gather(uint32_t elements, uint32_t bound) {
  Bench bench(kCard);
  isa::LoadGather c;
  c.elem_log2 = 4;
  c.n0 = elements;
  c.count = 64;
  c.index_addr = 400000;
  c.bound = bound;
  c.s1 = c.t1 = 16 * elements;
  for (uint32_t j = 0; j < 64; ++j) {
    const int32_t v = (j * 77) % bound;
    std::memcpy(bench.sram.data() + c.index_addr + 4 * j, &v, 4);
  }
  bench.Add(c);
  return BytesPerCycle(bench.Compare("gather"));
}

TEST(HdLoadEngine, GatherRate) {
  EXPECT_GE(Gather(32, 500), 14.5);
  EXPECT_GE(Gather(4, 3000), 11.0);
  EXPECT_GE(Gather(1, 5000), 3.0);
}

// Indices that end with SRAM, and one index beyond.
TEST(HdLoadEngine, IndicesAtTheEndOfSram) {
  for (uint32_t count : {1u, 3u, 100u}) {
    for (uint32_t beyond : {0u, 1u}) {
      Bench bench(kCard);
      isa::LoadGather c;
      c.region = 1;
      c.elem_log2 = 2;
      c.n0 = 4;
      c.s1 = c.t1 = 16;
      c.count = count;
      c.bound = 64;
      c.index_addr = bench.sram.size() - 4 * (count - beyond);
      for (uint32_t j = 0; j < count - beyond; ++j) {
        const uint32_t index = j % 64;
        std::memcpy(bench.sram.data() + c.index_addr + 4 * j, &index, 4);
      }
      bench.Add(c);
      const DmaResult r = bench.Compare("count " + std::to_string(count));
      EXPECT_EQ(r.fault, beyond == 1);
      if (r.fault) {
        EXPECT_EQ(r.code, static_cast<uint32_t>(isa::Error::kSramBounds));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::rtl
