// SPDX-License-Identifier: Apache-2.0
// The wrapper around a verilated core, with a core that only reads its stream
// (testdata/hd_core.sv): phases of a run, memory timing, faults, observation.
#include "simulator/rtl/verilated_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "Vhd_core_probe.h"

namespace heddle::rtl {
namespace {

using isa::Error;
using ProbeCore = VerilatedCore<Vhd_core_probe>;

class Recorder : public CoreObserver {
 public:
  void OnAccept(isa::Engine engine) override { log += "a" + Name(engine); }
  void OnDone(isa::Engine engine) override { log += "d" + Name(engine); }
  void OnSramWrite(isa::Engine engine, uint32_t word, const uint8_t* data,
                   uint32_t strobe) override {
    log += "w" + Name(engine);
    sram_word = word;
    sram_strobe = strobe;
    std::memcpy(&sram_data, data, sizeof(sram_data));
  }
  void OnSramRead(isa::Engine engine, uint32_t word) override {
    log += "r" + Name(engine);
    read_word = word;
  }
  void OnInputRead(isa::Engine engine) override { log += "i" + Name(engine); }
  void OnMatrixStep() override { ++steps; }
  void OnMemoryRead(uint64_t address) override {
    read_addresses.push_back(address);
  }
  void OnMemoryWrite(uint64_t address, uint32_t strobe) override {
    log += "m ";
    memory_address = address;
    memory_strobe = strobe;
  }
  bool WantsTrace() const override { return trace; }
  void OnTraceEntry(uint32_t index, const desc::TraceEntry& entry) override {
    log += "t" + std::to_string(index) + " ";
    begin = entry.begin;
  }
  static std::string Name(isa::Engine engine) {
    return std::to_string(static_cast<int>(engine)) + " ";
  }
  std::string log;
  uint32_t sram_word = 0, sram_strobe = 0, sram_data = 0, memory_strobe = 0;
  uint32_t read_word = 0, steps = 0;
  uint64_t memory_address = 0;
  std::vector<uint64_t> read_addresses;
  bool trace = false;
  uint32_t begin = 0;
};

class VerilatedCoreTest : public testing::Test {
 protected:
  VerilatedCoreTest() : dram_(4 << 20) {
    for (size_t i = 0; i < dram_.size(); ++i) {
      dram_[i] = static_cast<uint8_t>(i * 11 + (i >> 9));
    }
    Make();
  }
  void Make(const MemoryOptions& options = {}) {
    core_ = std::make_unique<ProbeCore>(isa::kH256, options);
    core_->memory()->Attach(dram_.data(), dram_.size());
  }
  uint32_t Sum(uint64_t at, uint64_t bytes) const {
    uint32_t sum = 0;
    for (uint64_t i = 0; i < bytes; i += 16) {
      uint32_t word;
      std::memcpy(&word, &dram_[at + i], 4);
      sum += word;
    }
    return sum;
  }
  platform::CoreRequest Request(uint64_t address, uint64_t bytes) {
    platform::CoreRequest request;
    request.stream_address = address;
    request.stream_bytes = bytes;
    request.regions[1] = {0x300000, 4096, true};
    return request;
  }
  // Cycles the core was clocked.
  uint64_t Run(const platform::CoreRequest& request, uint64_t quantum = 1000) {
    core_->Start(request);
    uint64_t cycles = 0;
    while (core_->busy() && cycles < 10000000) cycles += core_->Step(quantum);
    EXPECT_FALSE(core_->busy());
    return cycles;
  }

  std::vector<uint8_t> dram_;
  std::unique_ptr<ProbeCore> core_;
};

TEST_F(VerilatedCoreTest, MemoryTiming) {
  const uint32_t sum = Sum(0x1000, 1 << 20);
  Run(Request(0x1000, 1 << 20));
  EXPECT_EQ(core_->result().run.status, Error::kOk);
  EXPECT_EQ(core_->result().run.bytes_loaded, uint64_t{1} << 20);
  EXPECT_EQ(core_->result().dma_busy, 65536u);
  EXPECT_GE(core_->result().cycles, 65536u + 200);
  EXPECT_LE(core_->result().cycles, 65536u + 220) << "no cycle is lost";
  uint32_t stored;
  std::memcpy(&stored, &dram_[0x300000], 4);
  EXPECT_EQ(stored, sum);
  EXPECT_EQ(core_->memory()->violation(), "");
  // One beat.
  platform::CoreRequest one = Request(0x1000, 16);
  one.regions[1] = {};
  Run(one);
  EXPECT_GE(core_->result().cycles, 100u);
  EXPECT_LE(core_->result().cycles, 105u);
}

TEST_F(VerilatedCoreTest, TraceEntries) {
  Recorder recorder;
  ASSERT_TRUE(core_->Observe(&recorder));
  Run(Request(0x1000, 64));
  EXPECT_EQ(recorder.log.find('t'), std::string::npos);
  recorder.trace = true;
  Run(Request(0x1000, 64));
  EXPECT_NE(recorder.log.find("t7 "), std::string::npos);
  EXPECT_GT(recorder.begin, 100u);
  EXPECT_LT(recorder.begin, core_->cycles());
}

TEST_F(VerilatedCoreTest, CyclesDoNotDependOnTheQuantum) {
  MemoryOptions options;
  options.jitter = 60;
  options.stall_percent = 10;
  std::vector<uint64_t> stream, clocked;
  for (uint64_t quantum : {1, 10, 100, 1000000}) {
    Make(options);
    for (uint64_t bytes : {16, 4096, 50000}) {
      Run(Request(0x2000, bytes), quantum);
      stream.push_back(core_->result().cycles);
    }
    clocked.push_back(core_->cycles());
  }
  for (size_t i = 3; i < stream.size(); ++i) {
    EXPECT_EQ(stream[i], stream[i % 3]);
  }
  for (uint64_t c : clocked) EXPECT_EQ(c, clocked[0]);
}

TEST_F(VerilatedCoreTest, AnIdleCoreIsNotClocked) {
  const uint64_t before = core_->cycles();
  EXPECT_EQ(core_->Step(1000), 0u);
  EXPECT_EQ(core_->cycles(), before);
}

TEST_F(VerilatedCoreTest, ClearsOnceAndBeforeTheStream) {
  const uint64_t first = Run(Request(0x2000, 64));
  const uint64_t cycles = core_->result().cycles;
  const uint64_t second = Run(Request(0x2000, 64));
  EXPECT_EQ(core_->result().cycles, cycles);
  EXPECT_GT(first, second + 1000) << "after power-up the SRAM is cleared";
  core_->ClearSram();
  EXPECT_EQ(Run(Request(0x2000, 64)), first);
  EXPECT_EQ(core_->result().cycles, cycles);
}

TEST_F(VerilatedCoreTest, Faults) {
  // Beyond the end of memory.
  core_->memory()->Resize(0x100000);
  Run(Request(0x100000 - 64, 128));
  EXPECT_EQ(core_->result().run.status, Error::kBusError);
  EXPECT_EQ(core_->result().run.fault_tag, 5u);
  EXPECT_EQ(core_->result().run.fault_engine, isa::Engine::kLoad);
  core_->memory()->Resize(dram_.size());
  core_->memory()->InjectError();
  Run(Request(0, 4096));
  EXPECT_EQ(core_->result().run.status, Error::kBusError);
  Run(Request(0, 4096));
  EXPECT_EQ(core_->result().run.status, Error::kOk);
  EXPECT_EQ(core_->result().run.fault_tag, 0u);
}

TEST_F(VerilatedCoreTest, AbortEndsTheStream) {
  dram_[0] = 1;
  dram_[1] = dram_[2] = dram_[3] = 0;
  core_->Start(Request(0, 64));
  core_->Step(5000);
  ASSERT_TRUE(core_->busy());
  core_->Abort();
  core_->Step(5000);
  ASSERT_FALSE(core_->busy());
  EXPECT_EQ(core_->result().run.status, Error::kAborted);
  EXPECT_EQ(core_->progress(), 1u);
  Run(Request(4096, 64));
  EXPECT_EQ(core_->result().run.status, Error::kOk);
  EXPECT_EQ(core_->progress(), 2u);
}

TEST_F(VerilatedCoreTest, ResetInTheMiddle) {
  Run(Request(0x2000, 64));
  const uint64_t cycles = core_->result().cycles;
  for (uint64_t after : {1, 3, 50, 150, 400}) {
    core_->Start(Request(0x2000, 100000));
    core_->Step(1200 + after);
    ASSERT_TRUE(core_->busy());
    core_->Reset();
    EXPECT_FALSE(core_->busy());
    EXPECT_TRUE(core_->memory()->idle());
    Run(Request(0x2000, 64));
    EXPECT_EQ(core_->result().run.status, Error::kOk);
    EXPECT_EQ(core_->result().cycles, cycles);
  }
  EXPECT_EQ(core_->progress(), 6u) << "counts on over resets";
}

TEST_F(VerilatedCoreTest, AHungStreamNeedsAReset) {
  core_->HangNext();
  core_->Start(Request(0x2000, 64));
  core_->Step(5000);
  core_->Abort();
  core_->Step(5000);
  ASSERT_TRUE(core_->busy());
  core_->Reset();
  Run(Request(0x2000, 64));
  EXPECT_EQ(core_->result().run.status, Error::kOk);
}

TEST_F(VerilatedCoreTest, ObserverAndSram) {
  Recorder recorder;
  ASSERT_TRUE(core_->Observe(&recorder));
  const uint32_t sum = Sum(0x2000, 160);
  Run(Request(0x2000, 160));
  EXPECT_EQ(recorder.log, "a1 m r1 i1 w1 d1 ");
  EXPECT_EQ(recorder.read_word, 5u);
  EXPECT_EQ(recorder.steps, 10u);
  ASSERT_EQ(recorder.read_addresses.size(), 10u);
  EXPECT_EQ(recorder.read_addresses.front(), 0x2000u);
  EXPECT_EQ(recorder.read_addresses.back(), 0x2090u);
  EXPECT_EQ(recorder.sram_word, 3u);
  EXPECT_EQ(recorder.sram_strobe, 15u);
  EXPECT_EQ(recorder.sram_data, sum);
  EXPECT_EQ(recorder.memory_address, 0x300000u);
  EXPECT_EQ(recorder.memory_strobe, 15u);
  std::vector<uint8_t> sram(isa::kH256.sram_bytes);
  ASSERT_TRUE(core_->ReadSram(sram.data()));
  uint32_t word;
  std::memcpy(&word, &sram[3 * 16], 4);
  EXPECT_EQ(word, sum);
  // Before a clear that is due, a flip waits for it.
  core_->ClearSram();
  ASSERT_TRUE(core_->FlipSram(160, 1));
  platform::CoreRequest no_write = Request(0x2000, 160);
  Run(no_write);
  ASSERT_TRUE(core_->ReadSram(sram.data()));
  EXPECT_EQ(sram[160], 2);
  std::vector<uint8_t> want = sram;
  for (uint64_t byte :
       {uint64_t{0}, uint64_t{51}, uint64_t{524287}, uint64_t{524288 + 777}}) {
    ASSERT_TRUE(core_->FlipSram(byte, 9));
    want[byte % want.size()] ^= 2;
  }
  ASSERT_TRUE(core_->ReadSram(sram.data()));
  EXPECT_EQ(sram, want);
}

}  // namespace
}  // namespace heddle::rtl
