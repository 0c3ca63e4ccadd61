// SPDX-License-Identifier: Apache-2.0
//
// The card as a whole: streams that compute, fault, are aborted, hang and are
// reset at any time, among copies. What each unit does is tested beside it.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "Vhd_card.h"
#include "rtl/testbench/front_bench.h"
#include "simulator/platform/test_stream.h"

namespace heddle::rtl {
namespace {

using isa::Error;
using platform::Program;
using platform::TestStream;
using Bench = FrontBench<Vhd_card>;

constexpr uint64_t kCode = 0x10000;
constexpr uint64_t kData = 0x80000;
constexpr uint32_t kRegion = 1 << 20;

std::vector<uint8_t> Pattern(size_t bytes, uint32_t seed = 1) {
  std::vector<uint8_t> out(bytes);
  for (uint8_t &b : out) {
    seed = seed * 1664525 + 1013904223;
    b = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

class CardTest : public testing::Test {
 protected:
  void SetUp() override { b.SetUpRings(); }
  // Puts a stream into device memory; region 2 is 1 MiB at kData.
  desc::Step Load(TestStream stream, bool writable = true) {
    const std::vector<uint8_t> bytes = stream.Bytes();
    std::memcpy(b.Device(kCode), bytes.data(), bytes.size());
    std::vector<desc::Region> regions(3);
    regions[2].base = kData;
    regions[2].size = kRegion;
    regions[2].flags = writable ? desc::kRegionFlagsWritableMask : 0;
    return b.Run(kCode, bytes.size(), regions);
  }
  // Loads and stores for a long time.
  desc::Step Busy() {
    TestStream code;
    for (int i = 0; i < 100; ++i) {
      code.Load(2, 0, 0, 8192).Barrier();
      code.Store(2, 65536, 0, 8192).Barrier();
    }
    return Load(code);
  }
  // A command that runs for days.
  desc::Step Endless() {
    isa::MicroInstruction mov;
    mov.op = isa::MicroOp::kMov;
    mov.a = isa::Operand::kLane;
    const std::vector<uint8_t> program = Program({mov});
    std::memcpy(b.Device(kData), program.data(), program.size());
    return Load(TestStream().Load(2, 0, 0, 16).Barrier().Spin(0, 6));
  }
  desc::Completion WaitForRecord() {
    desc::Completion record;
    if (!b.Next(&record)) record.status = ~0u;
    return record;
  }
  bool Zero(uint64_t address, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      if (*b.Device(address + i) != 0) return false;
    }
    return true;
  }
  // SRAM, as a stream sees it, is zero.
  void ExpectSramZero() {
    std::memset(b.Device(kData + 65536), 9, 8192);
    EXPECT_EQ(b.RunJob({Load(TestStream().Store(2, 65536, 0, 8192))}).status,
              0u);
    EXPECT_TRUE(Zero(kData + 65536, 8192));
  }

  Bench b;
};

TEST_F(CardTest, ComputesBetweenCopies) {
  // out[i] = a[i] + b[i], int32, 64 elements.
  isa::MicroInstruction add;
  add.op = isa::MicroOp::kIadd;
  add.d = isa::Destination::kOut;
  add.a = isa::Operand::kStreamA;
  add.b = isa::Operand::kStreamB;
  std::vector<int32_t> x(64), y(64);
  std::iota(x.begin(), x.end(), -5);
  std::iota(y.begin(), y.end(), 1000);
  std::vector<uint8_t> input = Program({add});
  input.resize(16 + 512);
  std::memcpy(input.data() + 16, x.data(), 256);
  std::memcpy(input.data() + 272, y.data(), 256);
  isa::Vrun run;
  run.body = 1;
  run.lanes = 64;
  run.store = isa::StoreMode::kBody;
  run.enable_a = run.enable_b = true;
  isa::Stream stream;
  stream.type = isa::ElementType::kS32;
  stream.lane_stride = 4;
  stream.base = 16;
  run.SetA(stream);
  stream.base = 272;
  run.SetB(stream);
  stream.base = 4096;
  run.SetD(stream);
  TestStream code;
  code.Load(2, 0, 0, static_cast<uint32_t>(input.size())).Barrier();
  code.Add(run).Barrier();
  code.Store(2, 8192, 4096, 256);
  const desc::Step step = Load(code);
  const uint64_t target = b.Alloc(256);
  const desc::Completion record = b.RunJob(
      {b.CopyIn(kData, input), step, b.CopyOut(kData + 8192, 256, target)}, 1,
      desc::kJobDescriptorFlagsInterruptMask);
  ASSERT_EQ(record.status, 0u) << "offset " << record.fault_offset;
  EXPECT_EQ(record.commands, 6u);
  EXPECT_EQ(record.bytes_loaded, input.size());
  EXPECT_EQ(record.bytes_stored, 256u);
  EXPECT_EQ(record.bytes_copied, input.size() + 256);
  EXPECT_GT(record.cycles, 500u);
  EXPECT_GT(record.vector_busy, 4u);
  EXPECT_GT(record.dma_busy, 40u);
  int32_t out[64];
  std::memcpy(out, b.At(target), sizeof(out));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], x[i] + y[i]);
  EXPECT_EQ(b.TakeInterrupts(0), 1u);
  EXPECT_EQ(b.Read(reg::kProgressOffset), 6u + 2u);
  EXPECT_EQ(b.Read(reg::kConfigOffset), isa::kConfigs[0].id);
}

// Copies beside a stream that moves data itself: both need the memory port, so
// only waits are hidden.
TEST_F(CardTest, CopiesBesideAStream) {
  const std::vector<uint8_t> data = Pattern(100000), own = Pattern(8192, 3);
  const uint64_t target = b.Alloc(data.size());
  uint64_t cycles[2];
  for (const bool overlap : {false, true}) {
    std::memset(b.At(target), 0, data.size());
    std::memset(b.Device(kData + 65536), 0, 500000);
    std::memcpy(b.Device(kData), own.data(), own.size());
    std::vector<desc::Step> steps = {
        Busy(), b.CopyIn(kData + 200000, data),
        b.Copy(kData + 200000, kData + 400000, data.size()),
        b.CopyOut(kData + 400000, data.size(), target),
        b.Fill(kData + 200000, 4096, 0)};
    if (overlap) {
      for (size_t i = 1; i < steps.size(); ++i)
        steps[i] = Bench::Beside(steps[i]);
    }
    const desc::Completion record = b.RunJob(steps);
    ASSERT_EQ(record.status, 0u);
    EXPECT_EQ(record.commands, 401u);
    EXPECT_EQ(record.bytes_copied, 2 * data.size());
    EXPECT_EQ(std::memcmp(b.At(target), data.data(), data.size()), 0);
    EXPECT_EQ(std::memcmp(b.Device(kData + 65536), own.data(), own.size()), 0);
    EXPECT_TRUE(Zero(kData + 200000, 4096));
    EXPECT_EQ(*b.Device(kData + 204096), data[4096]);
    cycles[overlap] = record.cycles;
  }
  EXPECT_LT(cycles[1] + 5000, cycles[0]);
}

// The copies' requests go through the core that is reset.
TEST_F(CardTest, ResetWithCopiesBesideAStream) {
  const std::vector<uint8_t> data = Pattern(8192), in = Pattern(30000, 5);
  for (uint64_t when = 300; when < 5000; when += 89) {
    b.FreeAll();
    b.dut->hang_i = when % 2;
    std::memcpy(b.Device(kData), data.data(), data.size());
    b.Queue(1, {Busy(), Bench::Beside(b.CopyIn(kData + 200000, in)),
                Bench::Beside(b.Copy(kData + 200000, kData + 400000, 30000))});
    b.Doorbell(1);
    b.Cycles(when);
    b.dut->hang_i = 0;
    b.Write(reg::kResetOffset, reg::kResetEngineMask);
    ASSERT_EQ(WaitForRecord().status, Code(Error::kAborted)) << when;
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    ASSERT_TRUE(b.quiet());
    ASSERT_EQ(b.RunJob({Load(TestStream()
                                 .Load(2, 0, 4096, 4096)
                                 .Barrier()
                                 .Store(2, 131072, 4096, 4096)),
                        Bench::Beside(b.CopyIn(kData + 200000, in))})
                  .status,
              0u);
    EXPECT_EQ(std::memcmp(b.Device(kData + 131072), data.data(), 4096), 0);
    EXPECT_EQ(std::memcmp(b.Device(kData + 200000), in.data(), in.size()), 0);
  }
}

TEST_F(CardTest, FaultsAreTold) {
  isa::Load load;
  load.header.tag = 0x1234;
  load.region = 5;
  load.elem_log2 = 4;
  desc::Completion record = b.RunJob({Load(TestStream().Barrier().Add(load))});
  EXPECT_EQ(record.status, Code(Error::kRegionBounds));
  EXPECT_EQ(record.fault_offset, isa::Barrier::kWords * 4);
  EXPECT_EQ(record.fault_tag, 0x1234u);
  EXPECT_EQ(record.fault_region, 5u);
  EXPECT_EQ(record.fault_engine, static_cast<uint32_t>(isa::Engine::kLoad));
  record = b.RunJob({Load(TestStream().Store(2, 0, 0, 16), false)});
  EXPECT_EQ(record.status, Code(Error::kRegionReadonly));
  b.device()->set_error_range(kData + 4096, kData + 4112);
  record = b.RunJob({Load(TestStream().Load(2, 0, 0, 8192))});
  EXPECT_EQ(record.status, Code(Error::kBusError));
  b.device()->set_error_range(0, 0);
  EXPECT_EQ(b.RunJob({Load(TestStream())}).status, 0u) << "faults do not halt";
}

// An entry per command of an engine, in order, and what is counted otherwise is
// the same: the trace changes no cycle of a stream.
TEST_F(CardTest, TraceOfAStream) {
  const desc::Step step = Busy();
  ASSERT_EQ(b.RunJob({step}).status, 0u);
  const desc::Completion without = b.RunJob({step});
  const uint64_t iova = b.Alloc(201 * sizeof(desc::TraceEntry));
  std::memset(b.At(iova), 0, 201 * sizeof(desc::TraceEntry));
  desc::JobDescriptor job;
  job.steps_iova = b.Put(std::vector<desc::Step>{b.Fill(0, 4, 0), step});
  job.step_count = 2;
  job.flags = desc::kJobDescriptorFlagsTraceMask;
  job.trace_iova = iova;
  job.trace_entries = 201;
  b.QueueRaw(0, job);
  b.Doorbell(0);
  const desc::Completion record = WaitForRecord();
  ASSERT_EQ(record.status, 0u);
  EXPECT_EQ(record.commands, without.commands);
  EXPECT_EQ(record.dma_busy, without.dma_busy);
  EXPECT_EQ(record.trace_count, 200u);
  uint32_t end = 0;
  for (uint32_t i = 0; i <= 200; ++i) {
    desc::TraceEntry e;
    std::memcpy(&e, b.At(iova + i * sizeof(e)), sizeof(e));
    if (i == 200) {
      EXPECT_EQ(e.flags, 0u) << "there is no more";
      break;
    }
    ASSERT_EQ(e.flags, desc::kTraceEntryFlagsValidMask |
                           1u << desc::kTraceEntryFlagsStepShift | (1 + i % 2));
    EXPECT_EQ(e.offset % 16, 0u);
    EXPECT_GT(e.begin, end) << "after the barrier";
    EXPECT_GE(e.end - e.begin, 512u) << "8 KiB";
    EXPECT_GT(e.stall[0], 50u) << "memory's latency";
    EXPECT_LT(e.stall[0] + e.stall[1], e.end - e.begin);
    EXPECT_EQ(e.stall[2], 0u);
    end = e.end;
  }
  EXPECT_LT(end, record.cycles);
}

TEST_F(CardTest, SramIsClearedBetweenClients) {
  ExpectSramZero();  // after power-up
  const std::vector<uint8_t> secret = Pattern(8192, 7);
  std::memcpy(b.Device(kData), secret.data(), secret.size());
  ASSERT_EQ(b.RunJob({Load(TestStream().Load(2, 0, 0, 8192))}).status, 0u);
  const desc::Step read = Load(TestStream().Store(2, 65536, 0, 8192));
  ASSERT_EQ(b.RunJob({read}).status, 0u);
  EXPECT_EQ(std::memcmp(b.Device(kData + 65536), secret.data(), 8192), 0)
      << "the same client";
  ASSERT_EQ(b.RunJob({read}, 0, desc::kJobDescriptorFlagsClearSramMask).status,
            0u);
  EXPECT_TRUE(Zero(kData + 65536, 8192)) << "another one";
}

TEST_F(CardTest, AbortEndsAtACommandBoundary) {
  const uint64_t fence = b.Queue(0, {Busy()});
  b.Doorbell(0);
  b.Cycles(20000);
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  const desc::Completion record = WaitForRecord();
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_GT(record.commands, 1u);
  EXPECT_LT(record.commands, 400u);
  b.Write(reg::kResetOffset, reg::kResetEngineMask);
  ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
  EXPECT_TRUE(b.quiet());
  ExpectSramZero();
}

TEST_F(CardTest, HungEngineNeedsAReset) {
  for (const bool endless : {true, false}) {
    b.dut->hang_i = !endless;
    std::memset(b.Device(0), 7, 100);
    const uint64_t fence = b.Queue(0, {endless ? Endless() : Busy()});
    b.Doorbell(0);
    b.Cycles(10000);
    const uint32_t progress = b.Read(reg::kProgressOffset);
    b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
    b.Cycles(10000);
    EXPECT_EQ(b.Read(reg::kProgressOffset), progress);
    EXPECT_EQ(b.Read(reg::kStatusOffset) & reg::kStatusHaltedMask, 0u);
    b.dut->hang_i = 0;
    b.Write(reg::kResetOffset, reg::kResetEngineMask);
    EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    EXPECT_EQ(b.Read(reg::kProgressOffset), progress) << "it goes on";
    EXPECT_EQ(*b.Device(50), 7) << "device memory is kept";
    ExpectSramZero();
  }
}

// With bursts of the DMA engines under way. The bench's memories complain about
// any transfer that breaks.
TEST_F(CardTest, ResetAtAnyTime) {
  const std::vector<uint8_t> data = Pattern(8192);
  for (uint64_t when = 300; when < 6000; when += 97) {
    b.FreeAll();
    std::memcpy(b.Device(kData), data.data(), data.size());
    b.Queue(1, {Busy()});
    b.Doorbell(1);
    b.Cycles(when);
    b.Write(reg::kResetOffset, reg::kResetEngineMask);
    ASSERT_EQ(WaitForRecord().status, Code(Error::kAborted)) << when;
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    ASSERT_TRUE(b.quiet());
    EXPECT_EQ(std::memcmp(b.Device(kData), data.data(), data.size()), 0);
    ASSERT_EQ(b.RunJob({Load(TestStream()
                                 .Load(2, 0, 4096, 4096)
                                 .Barrier()
                                 .Store(2, 131072, 4096, 4096))})
                  .status,
              0u);
    EXPECT_EQ(std::memcmp(b.Device(kData + 131072), data.data(), 4096), 0);
  }
}

}  // namespace
}  // namespace heddle::rtl
