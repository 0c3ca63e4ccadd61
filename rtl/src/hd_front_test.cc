// SPDX-License-Identifier: Apache-2.0
//
// Jobs by hand-made descriptors against the whole front end: rings, copies,
// streams, malformed descriptors, faults of the host and of device memory,
// abort, resets. The scenarios are those of the simulator's job_test.cc, which
// its C++ job engine passes; the core is a fake.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "rtl/testbench/front_fixture.h"
#include "rtl/testbench/front_overlap_cases.h"
#include "rtl/testbench/front_trace_cases.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

namespace heddle::rtl {
namespace {

TEST_F(FrontTest, Identity) {
  EXPECT_EQ(b.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_EQ(b.Read(reg::kVersionOffset), reg::kVersionReset);
  EXPECT_EQ(b.Read(reg::kConfigOffset), 2u);
  EXPECT_EQ(b.Read(reg::kCoreKindOffset), 1u);
  EXPECT_EQ(b.Read(reg::kDramLoOffset), Bench::kDeviceBytes);
  EXPECT_EQ(b.Read(reg::kDramHiOffset), 0u);
  EXPECT_EQ(b.Read(reg::kUniqueLoOffset), 0x55667788u);
  EXPECT_EQ(b.Read(reg::kUniqueHiOffset), 0x11223344u);
  b.dut->dram_bytes_i = uint64_t{6} << 32;
  EXPECT_EQ(b.Read(reg::kDramHiOffset), 6u);
  EXPECT_EQ(b.Read(reg::kIntStatusOffset), reg::kIntStatusMemoryMask);
  EXPECT_EQ(b.TakeInterrupts(2), 1u);
}

TEST_F(FrontTest, RecordTellsTheJob) {
  const uint64_t start = b.cycles();
  const uint64_t fence = b.Queue(2, {b.Fill(kData, 8192, 0x01020304)},
                                 desc::kJobDescriptorFlagsInterruptMask);
  b.Doorbell(2);
  const desc::Completion record = WaitForRecord();
  EXPECT_EQ(b.Read(reg::RingTailOffset(2)), 1u);
  EXPECT_EQ(b.Read(reg::kStatusOffset), reg::kStatusReadyMask);
  EXPECT_EQ(b.Read(reg::kCounterJobsOffset), 1u);
  EXPECT_EQ(record.fence, fence);
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.ring, 2u);
  EXPECT_EQ(record.context_id, 7u);
  EXPECT_EQ(record.sequence, 1u);
  EXPECT_EQ(record.fault_step, 0u);
  EXPECT_EQ(record.bytes_copied, 0u);
  EXPECT_GT(record.cycles, 512u) << "512 words and some latencies";
  EXPECT_LT(record.cycles, b.cycles() - start);
  EXPECT_EQ(b.TakeInterrupts(0), 1u);
  EXPECT_EQ(b.TakeInterrupts(1), 0u);
  EXPECT_EQ(b.Read(reg::kIntStatusOffset), reg::kIntStatusCompletionMask);
  EXPECT_EQ(b.Read(reg::kCompletionTailOffset), 1u);
  EXPECT_EQ(b.Read(reg::kCounterFaultsOffset), 0u);
  EXPECT_EQ(b.Read(reg::kProgressOffset), 2u) << "two pieces of 4 KiB";
  EXPECT_EQ(b.RunJob({b.Fill(kData, 4, 0)}).status, 0u);
  EXPECT_EQ(b.TakeInterrupts(0), 0u) << "not asked for";
  EXPECT_GT(b.stood_still(), 500u) << "an idle card needs no clock";
}

TEST_F(FrontTest, RingsWrapManyTimes) {
  constexpr uint32_t kJobs = 5 * Bench::kRingEntries + 3;
  for (uint32_t i = 0; i < kJobs; ++i) {
    b.FreeAll();
    ASSERT_EQ(b.RunJob({b.Fill(kData, 4, i)}, 1).status, 0u) << i;
  }
  EXPECT_EQ(b.Read(reg::RingTailOffset(1)), kJobs);
  // And full in one go.
  uint64_t last = 0;
  for (uint32_t i = 0; i < Bench::kRingEntries; ++i)
    last = b.Queue(1, {b.Fill(kData, 4, i)});
  b.Doorbell(1);
  desc::Completion record;
  for (uint32_t i = 0; i < Bench::kRingEntries; ++i) record = WaitForRecord();
  EXPECT_EQ(record.fence, last);
  EXPECT_EQ(record.sequence, kJobs + Bench::kRingEntries);
}

TEST_F(FrontTest, DoorbellTooFarIsRefused) {
  b.Write(reg::RingHeadOffset(0), Bench::kRingEntries + 1);
  EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor));
  EXPECT_EQ(b.Read(reg::RingHeadOffset(0)), 0u);
  EXPECT_EQ(b.TakeInterrupts(3), 1u);
  b.Write(reg::kDeviceErrorOffset, 0xffffffff);
  EXPECT_EQ(DeviceError(), 0u);
  for (uint32_t size : {3u, 2 * isa::kRingEntriesMax, 0x80000000u}) {
    b.Write(reg::RingSizeOffset(0), size);
    EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor)) << size;
    EXPECT_EQ(b.Read(reg::RingSizeOffset(0)), size) << "holds what was written";
    b.Write(reg::kDeviceErrorOffset, 0xffffffff);
    b.Write(reg::RingHeadOffset(0), 1);
    EXPECT_EQ(b.Read(reg::RingHeadOffset(0)), 0u) << "the ring is off";
    b.Write(reg::kDeviceErrorOffset, 0xffffffff);
  }
  // Without a completion ring no doorbell is taken.
  b.Write(reg::kCompletionSizeOffset, 0);
  b.Write(reg::RingHeadOffset(1), 1);
  EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor));
}

// Words of SRAM that the core has repaired: it does so while a stream runs, in
// which the front end has no clock otherwise.
TEST_F(FrontTest, CountsCorrectedWords) {
  b.core.duration = 20000;
  b.Queue(0, {Stream()});
  b.Doorbell(0);
  WaitBusy();
  b.Cycles(1000);
  const auto corrected = [this](int words) {
    b.dut->core_sram_corrected_i = static_cast<uint8_t>(words);
    b.Cycles(1);
    b.dut->core_sram_corrected_i = 0;
    b.Cycles(4);
  };
  const auto count = [this] {
    return b.Read(reg::kCounterSramCorrectedOffset);
  };
  corrected(1);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(b.TakeInterrupts(3), 1u);
  EXPECT_EQ(DeviceError(), Code(Error::kSramCorrected));
  b.Write(reg::kIntStatusOffset, reg::kIntStatusErrorMask);
  b.Write(reg::kDeviceErrorOffset, ~0u);
  EXPECT_EQ(DeviceError(), 0u);
  corrected(32);
  EXPECT_EQ(count(), 33u);
  EXPECT_EQ(b.TakeInterrupts(3), 1u);
  EXPECT_EQ(DeviceError(), Code(Error::kSramCorrected));
  b.Write(reg::kDeviceErrorOffset, ~0u);

  // It does not take the place of another.
  b.Write(reg::RingHeadOffset(1), Bench::kRingEntries + 1);
  EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor));
  corrected(1);
  EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor));
  EXPECT_EQ(count(), 34u);
  b.Write(reg::kDeviceErrorOffset, ~0u);

  corrected(2);
  EXPECT_EQ(count(), 36u);
  ASSERT_TRUE(b.dut->active_o);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kOk));
  EXPECT_EQ(DeviceError(), Code(Error::kSramCorrected));

  // RESET.engine leaves it.
  ResetEngine();
  EXPECT_EQ(count(), 36u);
}

TEST_F(FrontTest, CounterOfCorrectedWordsStaysAtItsLargest) {
  uint32_t* counter = nullptr;
  for (const auto& [path, scope] :
       *Verilated::threadContextp()->scopeNameMap()) {
    const VerilatedVar* var = scope->varFind("corrected_q");
    if (var != nullptr) counter = static_cast<uint32_t*>(var->datap());
  }
  if (counter == nullptr) GTEST_SKIP() << "a netlist has no such name";
  b.core.duration = ~uint64_t{0};
  b.Queue(0, {Stream()});
  b.Doorbell(0);
  WaitBusy();
  *counter = ~0u - 40;
  for (uint32_t want : {~0u - 8, ~0u, ~0u}) {
    b.dut->core_sram_corrected_i = 32;
    b.Cycles(1);
    b.dut->core_sram_corrected_i = 0;
    EXPECT_EQ(b.Read(reg::kCounterSramCorrectedOffset), want);
  }
}

TEST_F(FrontTest, PrioritiesAndRunningJob) {
  b.core.duration = ~uint64_t{0};
  const uint64_t first = b.Queue(2, {Stream()});
  b.Doorbell(2);
  WaitBusy();
  EXPECT_EQ(b.Read(reg::kRunningLoOffset), static_cast<uint32_t>(first));
  EXPECT_EQ(b.Read(reg::kRunningHiOffset), first >> 32);
  EXPECT_EQ((b.Read(reg::kStatusOffset) & reg::kStatusRingMask) >>
                reg::kStatusRingShift,
            2u);
  std::vector<uint64_t> fences(isa::kRings);
  for (uint32_t ring : {3u, 1u, 0u, 2u}) {
    fences[ring] = b.Queue(ring, {b.Fill(kData, 4, 0)});
    b.Doorbell(ring);
  }
  b.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  for (uint32_t ring = 0; ring < isa::kRings; ++ring)
    EXPECT_EQ(WaitForRecord().fence, fences[ring]);
  EXPECT_EQ(b.Read(reg::kRunningLoOffset), 0u);
}

TEST_F(FrontTest, ScatterListsOfAllShapes) {
  const std::vector<uint8_t> data = Pattern(50000);
  const uint64_t source = b.Put(data, 5);
  std::vector<desc::SgEntry> list;
  for (uint64_t at = 0, n = 1; at < data.size();
       at += list.back().length, n = n * 3 + 1) {
    list.push_back({source + at, std::min<uint64_t>(n, data.size() - at)});
  }
  const desc::Step in = b.HostCopy(isa::StepType::kCopyIn, kData + 13, list);
  const uint64_t target = b.Alloc(data.size() + 7) + 7;
  std::reverse(list.begin(), list.end());
  std::vector<desc::SgEntry> back;
  uint64_t filled = 0;
  for (const desc::SgEntry& entry : list) {
    back.push_back({target + filled, entry.length});
    filled += entry.length;
  }
  const desc::Step out = b.HostCopy(isa::StepType::kCopyOut, kData + 13, back);
  const desc::Completion record = b.RunJob({in, out});
  ASSERT_EQ(record.status, 0u);
  EXPECT_EQ(record.bytes_copied, 2 * data.size());
  EXPECT_EQ(std::memcmp(b.At(target), data.data(), data.size()), 0);
}

TEST_F(FrontTest, CopyErrors) {
  const uint64_t size = Bench::kDeviceBytes;
  auto status = [&](const desc::Step& step) { return b.RunJob({step}); };
  desc::Completion record = status(b.Fill(size - 4096, 8192, 0));
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, size);
  record = status(b.Copy(0, size + 5, 1));
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, size + 5);
  EXPECT_EQ(status(b.Copy(UINT64_MAX, 0, 2)).status, Code(Error::kCopyBounds));
  EXPECT_EQ(status(b.Copy(0, UINT64_MAX, 2)).status, Code(Error::kCopyBounds));
  EXPECT_EQ(status(b.Fill(0, 6, 0)).status, Code(Error::kIllegalDescriptor));
  EXPECT_EQ(status(b.Fill(0, 0, 0)).status, Code(Error::kIllegalDescriptor));
  EXPECT_EQ(status(b.Fill(0, isa::kFillBytesMax + 4, 0)).status,
            Code(Error::kIllegalDescriptor));
  record = status(b.CopyOut(0, 4096, 0x5000));
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_address, 0x5000u);
  EXPECT_EQ(record.bytes_copied, 0u);
  desc::Step step = b.CopyIn(0, Pattern(100));
  step.length = 101;
  record = status(step);
  EXPECT_EQ(record.status, Code(Error::kIllegalDescriptor)) << "too short";
  EXPECT_EQ(record.fault_address, step.table_iova);
  step.length = 99;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor)) << "too long";
  step.length = 100;
  step.table_iova += 8;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor))
      << "list not aligned";
  step.table_iova -= 8;
  EXPECT_EQ(status(step).status, 0u);
  for (uint32_t count : {0u, isa::kSgEntriesMax + 1, 0x80000001u}) {
    step.sg_count = count;
    EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor)) << count;
  }
  step.sg_count = 1;
  step.reserved1[1] = 1;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor));
  b.TakeInterrupts(1);
  record = b.RunJob({b.Fill(0, 4, 0), b.Fill(0, 4, 0), b.Fill(size, 4, 0)});
  EXPECT_EQ(record.fault_step, 2u);
  EXPECT_EQ(b.TakeInterrupts(1), 1u) << "the fault interrupt";
  EXPECT_EQ(b.TakeInterrupts(0), 0u);
}

TEST_F(FrontTest, RunsStreams) {
  b.core.counts = 1000;
  const desc::Step first = b.Run(kCode, 16, Regions(), 9);  // misaligned table
  const desc::Step second = Stream();
  const desc::Completion record = b.RunJob({first, second});
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.commands, 2000u);
  EXPECT_EQ(record.macs, 4000u);
  EXPECT_EQ(record.bytes_loaded, 6000u);
  EXPECT_EQ(record.bytes_stored, 10000u);
  EXPECT_EQ(record.matrix_busy, 14000u);
  EXPECT_EQ(record.vector_busy, 22000u);
  EXPECT_EQ(record.dma_busy, 26000u);
  EXPECT_EQ(record.fault_address, 0u);
  EXPECT_GT(record.cycles, 100u);
  EXPECT_EQ(b.Read(reg::kCounterMacsLoOffset), 4000u);
  ASSERT_EQ(b.core.streams.size(), 2u);
  EXPECT_EQ(b.core.streams[0].address, kCode);
  EXPECT_EQ(b.core.streams[0].bytes, 16u);
  EXPECT_EQ(b.core.streams[1].bytes, 4096u);
  std::array<FakeCore::Region, isa::kRegions> want = {};
  want[0] = {64, 100, false};
  want[2] = {kData, 1 << 20, true};
  for (const FakeCore::Stream& s : b.core.streams) EXPECT_EQ(s.regions, want);
}

TEST_F(FrontTest, SramIsClearedBetweenClients) {
  EXPECT_EQ(b.RunJob({Stream(), Stream()}).status, 0u);
  EXPECT_EQ(b.core.clears, 1) << "after power-up";
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
  EXPECT_EQ(b.core.clears, 1) << "the same client";
  EXPECT_EQ(
      b.RunJob({Stream(), Stream()}, 0, desc::kJobDescriptorFlagsClearSramMask)
          .status,
      0u);
  EXPECT_EQ(b.core.clears, 2) << "another one";
  ResetEngine();
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
  EXPECT_EQ(b.core.clears, 3) << "after a reset";
}

TEST_F(FrontTest, StreamFaultsAreTold) {
  b.core.status = Code(Error::kIndexBounds);
  desc::Completion record =
      b.RunJob({b.Fill(0, 4, 0), Stream(), b.Fill(0, 4, 0)});
  EXPECT_EQ(record.status, Code(Error::kIndexBounds));
  EXPECT_EQ(record.fault_step, 1u);
  EXPECT_EQ(record.fault_offset, 0x111u);
  EXPECT_EQ(record.fault_tag, 0x222u);
  EXPECT_EQ(record.fault_engine, 3u);
  EXPECT_EQ(record.fault_region, 4u);
  EXPECT_EQ(record.fault_address, 0x5555555566666666u);
  EXPECT_EQ(record.commands, 1u);
  EXPECT_FALSE(Halted()) << "faults do not halt";
  EXPECT_EQ(b.Read(reg::kCounterFaultsOffset), 1u);
  b.core.status = 0;
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
}

TEST_F(FrontTest, RunStepsAreChecked) {
  const desc::Step good = Stream();
  auto run = [&](desc::Step step) { return b.RunJob({good, step}); };
  desc::Step bad = good;
  bad.device_address += 16;
  EXPECT_EQ(run(bad).status, Code(Error::kIllegalDescriptor));
  for (uint64_t length :
       {uint64_t{0}, uint64_t{8}, uint64_t{isa::kStreamBytesMax} + 16,
        uint64_t{1} << 32}) {
    bad = good;
    bad.length = length;
    EXPECT_EQ(run(bad).status, Code(Error::kIllegalDescriptor)) << length;
  }
  for (uint32_t type : {0u, 6u, 77u, 0x80000002u, 0x102u}) {
    bad = good;
    bad.type = type;
    EXPECT_EQ(run(bad).status, Code(Error::kIllegalDescriptor)) << type;
  }
  EXPECT_EQ(run(Bench::Beside(good)).status, Code(Error::kIllegalDescriptor));
  EXPECT_EQ(b.RunJob({Bench::Beside(b.Fill(0, 4, 0)), good}).status,
            Code(Error::kIllegalDescriptor))
      << "beside no run";
  EXPECT_EQ(b.core.streams.size(), 0u) << "nothing of a malformed job runs";
  bad = good;
  bad.device_address = Bench::kDeviceBytes;
  desc::Completion record = run(bad);
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, Bench::kDeviceBytes);
  EXPECT_EQ(record.fault_step, 1u);
  // Begins inside.
  bad.device_address = Bench::kDeviceBytes - 64;
  bad.length = 128;
  record = run(bad);
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, Bench::kDeviceBytes);
  bad = good;
  bad.table_iova = 64;
  record = run(bad);
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_address, 64u);
  for (auto change : {+[](desc::Region* r) { r->base = 17; },
                      +[](desc::Region* r) { r->size = Bench::kDeviceBytes; },
                      +[](desc::Region* r) { r->size = UINT64_MAX; },
                      +[](desc::Region* r) { r->base = 0 - uint64_t{64}; },
                      +[](desc::Region* r) { r->flags |= 2; },
                      +[](desc::Region* r) { r->reserved0 = 1; },
                      +[](desc::Region* r) { r->reserved1 = 1; }}) {
    std::vector<desc::Region> regions = Regions();
    change(&regions[2]);
    regions.resize(isa::kRegions);
    regions[9].flags = 2;
    const desc::Step step = b.Run(kCode, 16, regions, 8);
    const size_t streams = b.core.streams.size();
    record = b.RunJob({step});
    EXPECT_EQ(record.status, Code(Error::kIllegalDescriptor));
    EXPECT_EQ(record.fault_region, 2u);
    EXPECT_EQ(record.fault_address, step.table_iova + 64);
    EXPECT_EQ(b.core.streams.size(), streams);
  }
  // A region of size 0 may say anything else that is legal.
  std::vector<desc::Region> regions = Regions();
  regions[1].base = 17;
  EXPECT_EQ(b.RunJob({b.Run(kCode, 16, regions)}).status, 0u);
}

TEST_F(FrontTest, MalformedJobs) {
  desc::JobDescriptor good;
  good.steps_iova = b.Put(std::vector<desc::Step>(64, b.Fill(0, 4, 0)), 192);
  good.step_count = isa::kStepsMax;
  auto status = [&](const desc::JobDescriptor& job) {
    b.QueueRaw(0, job);
    b.Doorbell(0);
    return WaitForRecord().status;
  };
  EXPECT_EQ(status(good), 0u) << "64 steps across a page boundary";
  for (auto change :
       {+[](desc::JobDescriptor* j) { j->step_count = isa::kStepsMax + 1; },
        +[](desc::JobDescriptor* j) { j->step_count = 0; },
        +[](desc::JobDescriptor* j) { j->step_count = 0x80000001; },
        +[](desc::JobDescriptor* j) { j->flags = 8; },
        +[](desc::JobDescriptor* j) { j->flags = 0x80000000; },
        +[](desc::JobDescriptor* j) { j->reserved0 = 1; },
        +[](desc::JobDescriptor* j) { j->reserved1 = 1; },
        +[](desc::JobDescriptor* j) { j->reserved2[0] = 1; },
        +[](desc::JobDescriptor* j) { j->reserved2[1] = uint64_t{1} << 63; },
        +[](desc::JobDescriptor* j) { j->trace_iova = 32; },
        +[](desc::JobDescriptor* j) { j->trace_entries = 1; },
        +[](desc::JobDescriptor* j) {
          j->flags = desc::kJobDescriptorFlagsTraceMask;
          j->trace_iova = 16;
        },
        +[](desc::JobDescriptor* j) { j->steps_iova += 32; }}) {
    desc::JobDescriptor job = good;
    change(&job);
    EXPECT_EQ(status(job), Code(Error::kIllegalDescriptor));
  }
  // Which step is wrong is told, and none runs.
  std::memset(b.Device(0), 9, 4);
  for (uint32_t wrong : {0u, 1u, 17u, 63u}) {
    std::vector<desc::Step> steps(64, b.Fill(0, 4, 0));
    steps[wrong].reserved1[0] = 1;
    if (wrong < 62) steps[wrong + 2].type = 0;
    const desc::Completion record = b.RunJob(steps);
    EXPECT_EQ(record.status, Code(Error::kIllegalDescriptor));
    EXPECT_EQ(record.fault_step, wrong);
    EXPECT_EQ(*b.Device(0), 9);
  }
}

TEST_F(FrontTest, AbortEndsAtACommandBoundary) {
  b.core.duration = ~uint64_t{0};
  const uint64_t fence = b.Queue(0, {Stream(), Stream()});
  b.Doorbell(0);
  const uint32_t start = b.Read(reg::kProgressOffset);
  WaitBusy();
  b.Cycles(1000);
  EXPECT_NE(b.Read(reg::kProgressOffset), start)
      << "PROGRESS moves while the job runs";
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence) + 1);
  b.Cycles(1000);
  EXPECT_NE(b.Read(reg::kStatusOffset) & reg::kStatusBusyMask, 0u)
      << "another job's fence";
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  const desc::Completion record = WaitForRecord();
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_EQ(record.commands, 1u);
  EXPECT_TRUE(Halted());
  EXPECT_EQ(b.core.aborts, 1);
  // Halted: the next job waits for RESET.engine.
  b.Queue(0, {b.Fill(kData, 4, 0)});
  b.Doorbell(0);
  desc::Completion next;
  EXPECT_FALSE(b.Next(&next, 5000));
  b.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, 0u);
  EXPECT_FALSE(Halted());
  EXPECT_EQ(b.Read(reg::kCounterResetsOffset), 1u);
}

// At whatever time the abort comes: the job ends, as done or as aborted, and
// the card is halted exactly if it was aborted.
TEST_F(FrontTest, AbortAtAnyTime) {
  int aborted = 0, done = 0;
  for (uint64_t when = 0; when < 1500; when += 13) {
    b.FreeAll();
    b.core = FakeCore();
    const uint64_t fence = b.Queue(
        1, {b.CopyIn(kData, Pattern(300)), Stream(), b.Fill(kData, 4096, 1),
            b.CopyOut(kData, 200, b.Alloc(200))});
    b.Doorbell(1);
    b.Cycles(when);
    b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
    const desc::Completion record = WaitForRecord();
    ASSERT_EQ(record.fence, fence);
    const bool was = record.status == Code(Error::kAborted);
    ASSERT_EQ(record.status, was ? Code(Error::kAborted) : 0u) << when;
    EXPECT_EQ(Halted(), was) << when;
    (was ? aborted : done) += 1;
    ResetEngine();
    EXPECT_TRUE(b.quiet());
  }
  EXPECT_GT(aborted, 20);
  EXPECT_GT(done, 5) << "too early or too late";
}

TEST_F(FrontTest, HungEngineNeedsAReset) {
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
  b.dut->hang_i = 1;
  const uint64_t fence = b.Queue(0, {Stream()});
  b.Doorbell(0);
  WaitBusy();
  b.Cycles(3000);
  const uint32_t progress = b.Read(reg::kProgressOffset);
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  b.Cycles(3000);
  EXPECT_EQ(b.Read(reg::kProgressOffset), progress);
  EXPECT_FALSE(Halted());
  b.dut->hang_i = 0;
  b.Cycles(1000);
  EXPECT_EQ(b.Read(reg::kProgressOffset), progress) << "it began with it";
  b.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
}

TEST_F(FrontTest, CardResetClearsTheRest) {
  EXPECT_EQ(b.RunJob({b.Fill(kData, 4, 0)}).status, 0u);
  b.core.duration = ~uint64_t{0};
  b.Write(reg::kScratchOffset, 5);
  b.Queue(3, {Stream()});
  b.Doorbell(3);
  WaitBusy();
  b.Cycles(500);
  b.Write(reg::kResetOffset, reg::kResetCardMask | reg::kResetEngineMask);
  EXPECT_EQ(b.Read(reg::kStatusOffset) & reg::kStatusReadyMask, 0u);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
  for (uint32_t offset :
       {reg::kScratchOffset, reg::RingSizeOffset(3), reg::RingBaseHiOffset(1),
        reg::RingHeadOffset(3), reg::RingTailOffset(3),
        reg::kCompletionBaseLoOffset, reg::kCompletionSizeOffset,
        reg::kCompletionTailOffset, reg::kIntEnableOffset,
        reg::kIntStatusOffset, reg::kCounterJobsOffset,
        reg::kCounterFaultsOffset, reg::kCounterMacsLoOffset,
        reg::kCounterSramCorrectedOffset, reg::kProgressOffset,
        reg::kDeviceErrorOffset}) {
    EXPECT_EQ(b.Read(offset), 0u) << offset;
  }
  EXPECT_LT(b.Read(reg::kCounterCyclesLoOffset), 500u);
  EXPECT_EQ(b.Read(reg::kCounterResetsOffset), 1u);
  b.Write(reg::RingHeadOffset(0), 1);
  EXPECT_EQ(DeviceError(), Code(Error::kIllegalDescriptor));
  b.core = FakeCore();
  b.SetUpRings();
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
}

TEST_F(FrontTest, FunctionResetSaysNothing) {
  for (uint64_t when = 0; when < 900; when += 7) {
    b.SetUpRings();
    b.core = FakeCore();
    b.Queue(1, {b.CopyIn(kData, Pattern(300)), Stream(),
                b.CopyOut(kData, 200, b.Alloc(200))});
    b.Doorbell(1);
    b.Cycles(when);
    desc::Completion record;
    if (b.Read(reg::kCompletionTailOffset) != 0) break;
    b.dut->function_reset_i = 1;
    b.Cycle();
    EXPECT_EQ(b.Read(reg::RingSizeOffset(1)), 0u) << "at once";
    ASSERT_FALSE(b.Next(&record, 1500)) << when;
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    EXPECT_TRUE(b.quiet());
    EXPECT_EQ(b.Read(reg::kCounterJobsOffset), 0u);
    EXPECT_EQ(b.Read(reg::kProgressOffset), 0u);
    EXPECT_EQ(DeviceError(), 0u);
  }
}

TEST_F(FrontTest, ResetAtAnyTime) {
  for (uint32_t bit : {reg::kResetEngineMask, reg::kResetCardMask}) {
    for (uint64_t when = 0; when < 1800; when += 19) {
      b.SetUpRings();
      b.core = FakeCore();
      const uint64_t fence =
          b.Queue(1, {b.CopyIn(kData, Pattern(3000)), Stream(),
                      b.Copy(kData, kData + 100, 3000),
                      b.CopyOut(kData, 200, b.Alloc(200))});
      b.Doorbell(1);
      b.Cycles(when);
      b.Write(reg::kResetOffset, bit);
      desc::Completion record;
      const bool told = b.Next(&record, 30000);
      if (told) {
        ASSERT_EQ(record.fence, fence);
        ASSERT_TRUE(record.status == 0 ||
                    record.status == Code(Error::kAborted));
      } else {
        ASSERT_EQ(bit, reg::kResetCardMask) << "only if it had not begun";
        ASSERT_LT(when, 10u);
      }
      ASSERT_TRUE(
          b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
      ASSERT_TRUE(b.quiet());
      ASSERT_GT(b.core.resets, 0);
      if (bit == reg::kResetEngineMask) b.Write(reg::RingSizeOffset(1), 0);
    }
  }
}

TEST_F(FrontTest, LongCopyCanBeAborted) {
  const uint64_t fence = b.Queue(0, {b.Fill(0, Bench::kDeviceBytes, 1),
                                     b.Fill(0, Bench::kDeviceBytes, 2)});
  b.Doorbell(0);
  WaitBusy();
  b.Cycles(3000);
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  desc::Completion record;
  ASSERT_TRUE(b.Next(&record, 3000));
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_EQ(record.fault_step, 0u);
  // Whole pieces, as many as PROGRESS says.
  const uint32_t pieces = b.Read(reg::kProgressOffset);
  EXPECT_GT(pieces, 5u);
  EXPECT_LT(pieces, Bench::kDeviceBytes / 4096);
  EXPECT_EQ(*b.Device(pieces * 4096 - 4), 1);
  EXPECT_EQ(*b.Device(pieces * 4096), 0);
}

// A job that touches everything; each of its host accesses fails once.
TEST_F(FrontTest, EveryHostAccessMayFail) {
  uint64_t accesses = 0;
  for (uint64_t n = 0; n == 0 || n <= accesses; ++n) {
    b.FreeAll();
    const std::vector<uint8_t> data = Pattern(6000);
    const uint64_t target = b.Alloc(6000);
    const desc::Step run = Stream();
    const uint64_t source = b.Put(data);
    const desc::Step in =
        b.HostCopy(isa::StepType::kCopyIn, kData, {{source, data.size()}});
    const desc::Step out = b.CopyOut(kData, data.size(), target);
    const uint64_t before = b.host_accesses();
    if (n > 0) b.FailHostAccess(n - 1);
    const uint32_t tail = b.Read(reg::RingTailOffset(0));
    const uint64_t fence = b.Queue(0, {run, in, out});
    const uint64_t steps_iova = b.Alloc(0, 1) - 3 * sizeof(desc::Step);
    b.Doorbell(0);
    desc::Completion record;
    const bool told = b.Next(&record, 20000);
    if (n == 0) {
      ASSERT_TRUE(told);
      ASSERT_EQ(record.status, 0u);
      accesses = b.host_accesses() - before;
      ASSERT_GT(accesses, 20u);
      continue;
    }
    if (n == 1) {  // the descriptor
      EXPECT_FALSE(told);
      EXPECT_TRUE(Halted());
      EXPECT_EQ(DeviceError(), Code(Error::kHostDma));
      EXPECT_EQ(b.Read(reg::RingTailOffset(0)), tail);
      EXPECT_EQ(b.TakeInterrupts(3), 1u);
      b.Write(reg::kResetOffset, reg::kResetEngineMask);
      record = WaitForRecord();
      EXPECT_EQ(record.status, 0u) << "fetched again";
      EXPECT_EQ(record.fence, fence);
    } else if (n >= accesses - 1) {  // the record
      EXPECT_TRUE(n == accesses || !told);
      EXPECT_TRUE(b.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                 reg::kStatusHaltedMask));
      EXPECT_EQ(DeviceError(), Code(Error::kHostDma));
      EXPECT_EQ(b.Read(reg::RingTailOffset(0)), tail + 1);
      EXPECT_EQ(b.TakeInterrupts(3), 1u);
      // It is lost: the next one follows it in the ring.
      b.SetUpRings();
      ResetEngine();
    } else {
      ASSERT_TRUE(told) << n;
      EXPECT_EQ(record.status, Code(Error::kHostDma)) << n;
      EXPECT_FALSE(Halted());
      if (n == 2) {
        EXPECT_EQ(record.fault_address, steps_iova);
      } else if (n == 3) {
        EXPECT_EQ(record.fault_address, run.table_iova);
      } else if (record.fault_step == 1) {
        const uint64_t at = record.fault_address;
        EXPECT_TRUE(at == in.table_iova || at == source || at == source + 4096)
            << n;
        EXPECT_EQ(record.bytes_copied, at == source + 4096 ? 4096u : 0u);
      } else {
        EXPECT_EQ(record.fault_step, 2u);
        EXPECT_TRUE(record.fault_address == out.table_iova ||
                    record.fault_address == target ||
                    record.fault_address == target + 4096)
            << n;
        EXPECT_EQ(
            record.bytes_copied,
            data.size() + (record.fault_address == target + 4096 ? 4096 : 0));
      }
    }
    b.Write(reg::kDeviceErrorOffset, ~0u);
  }
}

TEST_F(FrontTest, DeviceMemoryMayFail) {
  // Nothing of a piece that could not be read is written.
  b.FailDeviceAccess(5);
  std::memset(b.Device(0), 3, 20000);
  desc::Completion record = b.RunJob({b.Copy(0, 100000, 12288)});
  EXPECT_EQ(record.status, Code(Error::kBusError));
  EXPECT_EQ(record.fault_address % 4096, 0u);
  EXPECT_EQ(b.Device(100000)[record.fault_address], 0);
  // Memory that is not there any more.
  b.device()->set_error_range(8192, 8192 + 16);
  b.dut->dram_bytes_i = 16384;
  record = b.RunJob({b.Fill(4096, 8192, 1)});
  EXPECT_EQ(record.status, Code(Error::kBusError));
  EXPECT_EQ(record.fault_address, 8192u);
  const uint64_t target = b.Alloc(8192);
  record = b.RunJob({b.CopyOut(4096, 8192, target)});
  EXPECT_EQ(record.status, Code(Error::kBusError));
  EXPECT_EQ(record.fault_address, 8192u);
  EXPECT_EQ(record.bytes_copied, 4096u);
  b.Queue(0, {b.Fill(0, 16384, 7)});
  b.Doorbell(0);
  WaitBusy();
  b.dut->dram_bytes_i = 8192;
  record = WaitForRecord();
  EXPECT_EQ(record.status, Code(Error::kCopyBounds)) << "shrunk meanwhile";
  EXPECT_EQ(record.fault_address, 8192u);
}

TEST_F(FrontTest, RingsMayGoMeanwhile) {
  b.core.duration = 3000;
  b.Queue(1, {Stream()});
  b.Queue(1, {Stream()});
  b.Doorbell(1);
  WaitBusy();
  b.Write(reg::RingSizeOffset(1), Bench::kRingEntries);
  EXPECT_EQ(WaitForRecord().status, 0u);
  EXPECT_EQ(b.Read(reg::RingTailOffset(1)), 0u) << "enabled anew";
  desc::Completion record;
  EXPECT_FALSE(b.Next(&record, 10000)) << "unstarted jobs are forgotten";
  // Without a completion ring at the end, the record is lost.
  b.Queue(2, {Stream()});
  b.Doorbell(2);
  WaitBusy();
  b.Write(reg::kCompletionSizeOffset, 0);
  EXPECT_TRUE(b.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                             reg::kStatusHaltedMask));
  EXPECT_EQ(DeviceError(), Code(Error::kHostDma));
  EXPECT_EQ(b.Read(reg::RingTailOffset(2)), 1u);
}

}  // namespace
}  // namespace heddle::rtl
