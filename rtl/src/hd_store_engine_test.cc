// SPDX-License-Identifier: Apache-2.0
// Stores and scatters against the functional model, byte for byte: random
// boxes, planes, faults; and cycles.
#include "Vhd_store_engine.h"
#include "gtest/gtest.h"
#include "rtl/testbench/dma_bench.h"
#include "rtl/testbench/dma_commands.h"
#include "simulator/model/random_command.h"

namespace heddle::rtl {
namespace {

using Bench = DmaBench<Vhd_store_engine, true>;
using testbench::MemoryTiming;

constexpr MemoryTiming kQuick = {1, 0, 0};
constexpr MemoryTiming kRough = {1, 30, 30};
constexpr MemoryTiming kCard = {100, 0, 0};

MemoryTiming TimingFor(uint64_t seed) {
  return seed % 3 == 0 ? kQuick : seed % 3 == 1 ? kRough : kCard;
}

TEST(HdStoreEngine, RandomBoxes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 12; ++i) bench.commands.push_back(commands.Store());
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdStoreEngine, RandomCommandsOfTheModel) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    model::CommandGenerator generator(isa::kH256, 1 << 16, seed + 1);
    bench.regions[1] = {1 << 16, 1 << 16, true};
    const std::vector<uint8_t> initial = generator.InitialSram();
    std::copy(initial.begin(), initial.end(), bench.sram.data());
    while (bench.commands.size() < 20) {
      const size_t kind = generator.Below(generator.kinds());
      const model::RandomCommand c = generator.Make(kind);
      if (c.kind == "store" || c.kind == "store.scatter") {
        bench.commands.push_back(c.command);
      }
      if (generator.OneIn(40)) bench.Add(isa::SyncStore());
    }
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdStoreEngine, InterleavedToPlanar) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 6; ++i) {
      bench.commands.push_back(commands.StorePlanes());
    }
    bench.Compare("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(HdStoreEngine, FaultsAreThoseOfTheModel) {
  int faults = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    DmaCommands commands(seed);
    for (int i = 0; i < 4; ++i) {
      bench.commands.push_back(i == 2 ? commands.BadStore() : commands.Store());
    }
    faults += bench.Compare("seed " + std::to_string(seed)).fault;
    if (HasFailure()) return;
  }
  EXPECT_GT(faults, 50);
}

TEST(HdStoreEngine, BusErrorIsOfItsCommand) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    bench.regions[2] = {0x3000, 0x10000, true};
    for (uint32_t i = 0; i < 4; ++i) {
      isa::Store c;
      c.region = 2;
      c.elem_log2 = 4;
      c.dram_offset = 0x1000 * i;
      c.n0 = 64;
      c.s0 = c.t0 = 16;
      bench.Add(c);
    }
    bench.memory.set_error_range(0x5000, 0x5010);
    const DmaResult r = bench.Run();
    EXPECT_TRUE(r.fault);
    EXPECT_EQ(r.code, static_cast<uint32_t>(isa::Error::kBusError));
    EXPECT_EQ(r.address, 0x5000u);
    EXPECT_EQ(r.dones, 2u);
  }
}

TEST(HdStoreEngine, BadIndex) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Bench bench(TimingFor(seed), seed % 2 == 0 ? 0 : 40, seed);
    isa::StoreScatter c;
    c.region = 1;
    c.elem_log2 = 2;
    c.n0 = 5;
    c.count = 9;
    c.index_addr = 1000;
    c.bound = 100;
    c.s1 = 20;
    c.t1 = 20;
    for (int32_t j = 0; j < 9; ++j) {
      const int32_t v = j == 6 ? (seed % 2 ? -1 : 100) : 11 * j;
      std::memcpy(bench.sram.data() + 1000 + 4 * j, &v, 4);
    }
    bench.Add(isa::SyncStore());
    bench.Add(c);
    EXPECT_TRUE(bench.Compare("index").fault);
  }
}

// ---- Cycles, with a latency of 100 and one beat per cycle.

constexpr uint64_t kLatency = 80;  // preparation, ways, last answer

double BytesPerCycle(const DmaResult& r) {
  const double rate =
      static_cast<double>(r.bytes) / static_cast<double>(r.cycles - kLatency);
  printf("[ cycles   ] %s: %llu bytes, %llu cycles, %.2f bytes/cycle\n",
         ::testing::UnitTest::GetInstance()->current_test_info()->name(),
         static_cast<unsigned long long>(r.bytes),
         static_cast<unsigned long long>(r.cycles), rate);
  return rate;
}

TEST(HdStoreEngine, ContiguousRate) {
  for (uint32_t skew : {0, 5}) {
    Bench bench(kCard);
    isa::Store c;
    c.region = 1;
    c.dram_offset = skew;
    c.sram_addr = 3 * skew;
    c.n0 = 65535;
    c.s0 = c.t0 = 1;
    bench.Add(c);
    EXPECT_GE(BytesPerCycle(bench.Compare("contiguous")), 15.0);
  }
}

double Rows(uint32_t bytes, uint32_t rows, uint32_t s1, uint32_t t1,
            uint32_t offset) {
  Bench bench(kCard);
  isa::Store c;
  c.region = 1;
  c.dram_offset = offset;
  c.n0 = bytes;
  c.s0 = c.t0 = 1;
  c.n1 = rows;
  c.s1 = s1;
  c.t1 = t1;
  bench.Add(c);
  return BytesPerCycle(bench.Compare("rows"));
}

TEST(HdStoreEngine, RowRate) {
  EXPECT_GE(Rows(112, 64, 128, 112, 0), 14.5);
  EXPECT_GE(Rows(112, 64, 112, 128, 0), 14.5);
  EXPECT_GE(Rows(112, 64, 113, 112, 3), 12.5);
  EXPECT_GE(Rows(112, 64, 117, 119, 3), 12.0);
  EXPECT_GE(Rows(16, 256, 64, 16, 0), 14.0);
  EXPECT_GE(Rows(16, 256, 64, 16, 5), 7.0);
  EXPECT_GE(Rows(7, 512, 7, 16, 0), 4.9);
}

double Planes(uint32_t xstep, uint32_t planes, uint32_t width, uint32_t height,
              uint32_t offset) {
  Bench bench(kCard);
  isa::Store c;
  c.region = 1;
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

TEST(HdStoreEngine, PlaneRate) {
  EXPECT_GE(Planes(16, 16, 56, 16, 0), 11.0);
  EXPECT_GE(Planes(16, 16, 56, 56, 0), 11.0);
  EXPECT_GE(Planes(16, 4, 56, 16, 0), 3.5);
  EXPECT_GE(Planes(3, 3, 224, 32, 0), 12.0);
  EXPECT_GE(Planes(4, 4, 224, 32, 0), 12.0);
  EXPECT_GE(Planes(16, 16, 7, 7, 0), 3.0);
}

TEST(HdStoreEngine, CommandRate) {
  Bench bench(kCard);
  for (uint32_t i = 0; i < 64; ++i) {
    isa::Store c;
    c.region = 1;
    c.elem_log2 = 4;
    c.dram_offset = 4096 * i;
    c.sram_addr = 512 * i;
    c.n0 = 32;
    c.s0 = c.t0 = 16;
    bench.Add(c);
  }
  EXPECT_GE(BytesPerCycle(bench.Compare("commands")), 14.0);
}

}  // namespace
}  // namespace heddle::rtl
