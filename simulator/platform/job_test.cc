// SPDX-License-Identifier: Apache-2.0
//
// Jobs by hand-made descriptors: rings, copies, streams, faults, abort, reset.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "simulator/platform/sim_client.h"
#include "simulator/platform/test_stream.h"

namespace heddle::platform {
namespace {

using isa::Error;

// Device addresses of the tests.
constexpr uint64_t kCode = 0x10000;
constexpr uint64_t kData = 0x100000;

uint32_t Code(Error error) { return static_cast<uint32_t>(error); }

std::vector<uint8_t> Pattern(size_t bytes, uint32_t seed = 1) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    out[i] = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

class JobTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(host_.Attach()); }
  void TearDown() override { EXPECT_TRUE(process_.Alive()); }

  // Writes a stream to device memory; the run step for it with region 2 = 1 MiB
  // at kData.
  desc::Step Load(TestStream stream, bool writable = true, bool end = true) {
    const std::vector<uint8_t> bytes = stream.Bytes(end);
    EXPECT_TRUE(host_.Store(kCode, bytes));
    return host_.Run(kCode, bytes.size(), Regions(writable));
  }
  std::vector<desc::Region> Regions(bool writable = true) {
    std::vector<desc::Region> regions(3);
    regions[2].base = kData;
    regions[2].size = 1 << 20;
    regions[2].flags = writable ? desc::kRegionFlagsWritableMask : 0;
    return regions;
  }
  // A command that runs for days.
  desc::Step Endless() {
    isa::MicroInstruction mov;
    mov.op = isa::MicroOp::kMov;
    mov.a = isa::Operand::kLane;
    EXPECT_TRUE(host_.Store(kData, Program({mov})));
    return Load(TestStream().Load(2, 0, 0, 16).Barrier().Spin(0, 6));
  }
  desc::Completion WaitForRecord() {
    desc::Completion record;
    if (!host_.Next(&record)) record.status = ~0u;
    return record;
  }

  SimProcess process_;
  SimHost host_{&process_};
};

TEST_F(JobTest, RecordTellsTheJob) {
  const uint64_t fence = host_.Queue(2, {host_.Fill(kData, 8192, 0x01020304)},
                                     desc::kJobDescriptorFlagsInterruptMask);
  host_.Doorbell(2);
  desc::Completion record;
  ASSERT_TRUE(host_.Next(&record));
  EXPECT_EQ(record.fence, fence);
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.ring, 2u);
  EXPECT_EQ(record.context_id, 7u);
  EXPECT_EQ(record.sequence, 1u);
  EXPECT_EQ(record.bytes_copied, 0u);
  EXPECT_EQ(host_.Interrupts(0, 2000), 1u);
  EXPECT_EQ(host_.Read(reg::kIntStatusOffset), reg::kIntStatusCompletionMask);
  EXPECT_EQ(host_.Read(reg::RingTailOffset(2)), 1u);
  EXPECT_EQ(host_.Read(reg::kCompletionTailOffset), 1u);
  EXPECT_EQ(host_.Read(reg::kCounterJobsOffset), 1u);
  EXPECT_EQ(host_.Read(reg::kProgressOffset), 2u) << "two pieces of 4 KiB";
}

TEST_F(JobTest, RingsWrapManyTimes) {
  constexpr uint32_t kJobs = 5 * SimHost::kRingEntries + 3;
  for (uint32_t i = 0; i < kJobs; ++i) {
    const uint64_t fence = host_.Queue(1, {host_.Fill(kData, 4, i)});
    host_.Doorbell(1);
    desc::Completion record;
    ASSERT_TRUE(host_.Next(&record)) << i;
    ASSERT_EQ(record.fence, fence);
    ASSERT_EQ(record.status, 0u);
  }
  EXPECT_EQ(host_.Read(reg::RingTailOffset(1)), kJobs);
  // And full in one go.
  uint64_t last = 0;
  for (uint32_t i = 0; i < SimHost::kRingEntries; ++i) {
    last = host_.Queue(1, {host_.Fill(kData, 4, i)});
  }
  host_.Doorbell(1);
  desc::Completion record;
  for (uint32_t i = 0; i < SimHost::kRingEntries; ++i)
    ASSERT_TRUE(host_.Next(&record));
  EXPECT_EQ(record.fence, last);
}

TEST_F(JobTest, DoorbellTooFarIsRefused) {
  host_.Write(reg::RingHeadOffset(0), SimHost::kRingEntries + 1);
  EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset),
            Code(Error::kIllegalDescriptor));
  EXPECT_EQ(host_.Read(reg::RingHeadOffset(0)), 0u);
  EXPECT_EQ(host_.Interrupts(3, 2000), 1u);
  host_.Write(reg::kDeviceErrorOffset, 0xffffffff);
  EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset), 0u);
  for (uint32_t size : {3u, 2 * isa::kRingEntriesMax, 0x80000000u}) {
    host_.Write(reg::RingSizeOffset(0), size);
    EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset),
              Code(Error::kIllegalDescriptor))
        << size;
    host_.Write(reg::kDeviceErrorOffset, 0xffffffff);
    host_.Write(reg::RingHeadOffset(0), 1);
    EXPECT_EQ(host_.Read(reg::RingHeadOffset(0)), 0u) << "the ring is off";
    host_.Write(reg::kDeviceErrorOffset, 0xffffffff);
  }
}

TEST_F(JobTest, PrioritiesAndRunningJob) {
  const uint64_t first = host_.Queue(2, {Endless()});
  host_.Doorbell(2);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  EXPECT_EQ(host_.Read(reg::kRunningLoOffset), static_cast<uint32_t>(first));
  EXPECT_EQ((host_.Read(reg::kStatusOffset) & reg::kStatusRingMask) >>
                reg::kStatusRingShift,
            2u);
  std::vector<uint64_t> fences(isa::kRings);
  for (uint32_t ring : {3u, 1u, 0u, 2u}) {
    fences[ring] = host_.Queue(ring, {host_.Fill(kData, 4, 0)});
    host_.Doorbell(ring);
  }
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  for (uint32_t ring = 0; ring < isa::kRings; ++ring) {
    EXPECT_EQ(WaitForRecord().fence, fences[ring]);
  }
}

TEST_F(JobTest, ScatterListsOfAllShapes) {
  const std::vector<uint8_t> data = Pattern(50000);
  const uint64_t source = host_.Put(data);
  std::vector<desc::SgEntry> list;
  for (uint64_t at = 0, n = 1; at < data.size();
       at += list.back().length, n = n * 3 + 1) {
    list.push_back({source + at, std::min<uint64_t>(n, data.size() - at)});
  }
  desc::Step in = host_.CopyIn(kData + 13, data);
  in.table_iova = host_.Put(list);
  in.sg_count = static_cast<uint32_t>(list.size());
  const uint64_t target = host_.Alloc(data.size());
  std::reverse(list.begin(), list.end());
  std::vector<desc::SgEntry> back;
  uint64_t filled = 0;
  for (const desc::SgEntry& entry : list) {
    back.push_back({target + filled, entry.length});
    filled += entry.length;
  }
  desc::Step out = host_.CopyOut(kData + 13, data.size(), target);
  out.table_iova = host_.Put(back);
  out.sg_count = static_cast<uint32_t>(back.size());
  const desc::Completion record = host_.RunJob({in, out});
  ASSERT_EQ(record.status, 0u);
  EXPECT_EQ(record.bytes_copied, 2 * data.size());
  EXPECT_EQ(std::memcmp(host_.At(target), data.data(), data.size()), 0);
}

TEST_F(JobTest, CopiesOverlap) {
  const std::vector<uint8_t> data = Pattern(30000);
  for (int64_t distance : {1, 4095, 4096, 10000, -1, -4097, -12345, 40000, 0}) {
    ASSERT_TRUE(host_.Store(kData + 65536, data));
    const uint64_t to = kData + 65536 + static_cast<uint64_t>(distance);
    ASSERT_EQ(host_.RunJob({host_.Copy(kData + 65536, to, data.size())}).status,
              0u);
    EXPECT_EQ(host_.Fetch(to, data.size()), data) << distance;
  }
}

TEST_F(JobTest, FillWritesThePatternAndNoMore) {
  ASSERT_TRUE(host_.Store(kData, std::vector<uint8_t>(10000, 9)));
  ASSERT_EQ(host_.RunJob({host_.Fill(kData + 4, 8192, 0x44332211)}).status, 0u);
  const std::vector<uint8_t> got = host_.Fetch(kData, 10000);
  ASSERT_EQ(got.size(), 10000u);
  for (size_t i = 0; i < got.size(); ++i) {
    const uint8_t want =
        i < 4 || i >= 8196 ? 9 : static_cast<uint8_t>(0x11 * (1 + i % 4));
    ASSERT_EQ(got[i], want) << i;
  }
}

TEST_F(JobTest, CopyErrors) {
  const uint64_t size = isa::kDramBytesDefault;
  auto status = [&](const desc::Step& step) { return host_.RunJob({step}); };
  desc::Completion record = status(host_.Fill(size - 4096, 8192, 0));
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, size);
  EXPECT_EQ(status(host_.Copy(0, size, 1)).status, Code(Error::kCopyBounds));
  EXPECT_EQ(status(host_.Copy(UINT64_MAX, 0, 2)).status,
            Code(Error::kCopyBounds));
  EXPECT_EQ(status(host_.Fill(0, 6, 0)).status,
            Code(Error::kIllegalDescriptor));
  EXPECT_EQ(status(host_.Fill(0, 0, 0)).status,
            Code(Error::kIllegalDescriptor));
  record = status(host_.CopyOut(0, 4096, 0x5000));
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_address, 0x5000u);
  desc::Step step = host_.CopyIn(0, Pattern(100));
  step.length = 101;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor))
      << "list too short";
  step.length = 99;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor))
      << "list too long";
  step.length = 100;
  step.table_iova += 8;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor))
      << "list not aligned";
  step = host_.CopyIn(0, Pattern(100));
  step.sg_count = isa::kSgEntriesMax + 1;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor));
  step.sg_count = 1;
  step.reserved1[1] = 1;
  EXPECT_EQ(status(step).status, Code(Error::kIllegalDescriptor));
  record = host_.RunJob(
      {host_.Fill(0, 4, 0), host_.Fill(0, 4, 0), host_.Fill(size, 4, 0)});
  EXPECT_EQ(record.fault_step, 2u);
  EXPECT_EQ(host_.Interrupts(1, 2000) > 0, true) << "the fault interrupt";
}

TEST_F(JobTest, RunsAStream) {
  // out[i] = a[i] + b[i], int32, 64 elements.
  isa::MicroInstruction add;
  add.op = isa::MicroOp::kIadd;
  add.d = isa::Destination::kOut;
  add.a = isa::Operand::kStreamA;
  add.b = isa::Operand::kStreamB;
  std::vector<int32_t> a(64), b(64);
  std::iota(a.begin(), a.end(), -5);
  std::iota(b.begin(), b.end(), 1000);
  std::vector<uint8_t> input = Program({add});
  input.resize(16 + 512);
  std::memcpy(input.data() + 16, a.data(), 256);
  std::memcpy(input.data() + 272, b.data(), 256);

  isa::Vrun run;
  run.prog_addr = 0;
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
  code.Load(2, 0, 0, static_cast<uint32_t>(input.size()))
      .Barrier()
      .Add(run)
      .Barrier();
  code.Store(2, 8192, 4096, 256);
  const desc::Step step = Load(code);
  const uint64_t target = host_.Alloc(256);
  const desc::Completion record =
      host_.RunJob({host_.CopyIn(kData, input), step,
                    host_.CopyOut(kData + 8192, 256, target)});
  ASSERT_EQ(record.status, 0u) << "offset " << record.fault_offset;
  EXPECT_EQ(record.commands, 6u);
  EXPECT_EQ(record.bytes_loaded, input.size());
  EXPECT_EQ(record.bytes_stored, 256u);
  const bool timed = std::getenv("HEDDLE_SIM_CORE") != nullptr;
  EXPECT_EQ(record.cycles > 0, timed);
  const auto* out = static_cast<const int32_t*>(host_.At(target));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], a[i] + b[i]);
}

TEST_F(JobTest, SramIsClearedBetweenClients) {
  const std::vector<uint8_t> secret = Pattern(4096, 7);
  ASSERT_TRUE(host_.Store(kData, secret));
  ASSERT_EQ(host_.RunJob({Load(TestStream().Load(2, 0, 0, 4096))}).status, 0u);
  const desc::Step read = Load(TestStream().Store(2, 8192, 0, 4096));
  ASSERT_EQ(host_.RunJob({read}).status, 0u);
  EXPECT_EQ(host_.Fetch(kData + 8192, 4096), secret) << "the same client";
  ASSERT_EQ(
      host_.RunJob({read}, 0, desc::kJobDescriptorFlagsClearSramMask).status,
      0u);
  EXPECT_EQ(host_.Fetch(kData + 8192, 4096), std::vector<uint8_t>(4096, 0))
      << "another one";
}

TEST_F(JobTest, StreamFaultsAreTold) {
  isa::Load load;
  load.header.tag = 0x1234;
  load.region = 5;
  load.elem_log2 = 4;
  desc::Completion record =
      host_.RunJob({Load(TestStream().Barrier().Add(load))});
  EXPECT_EQ(record.status, Code(Error::kRegionBounds));
  EXPECT_EQ(record.fault_offset, isa::Barrier::kWords * 4);
  EXPECT_EQ(record.fault_tag, 0x1234u);
  EXPECT_EQ(record.fault_region, 5u);
  EXPECT_EQ(record.fault_engine, static_cast<uint32_t>(isa::Engine::kLoad));
  record = host_.RunJob({Load(TestStream().Load(2, (1 << 20) - 16, 0, 32))});
  EXPECT_EQ(record.status, Code(Error::kRegionBounds));
  record = host_.RunJob({Load(TestStream().Store(2, 0, 0, 16), false)});
  EXPECT_EQ(record.status, Code(Error::kRegionReadonly));
  record = host_.RunJob({Load(TestStream().Barrier(), true, false)});
  EXPECT_EQ(record.status, Code(Error::kStreamOverrun));
  ASSERT_TRUE(host_.Store(kCode, std::vector<uint8_t>(64, 0xee)));
  EXPECT_EQ(host_.RunJob({host_.Run(kCode, 64, {})}).status,
            Code(Error::kIllegalCommand));
  EXPECT_EQ(host_.Read(reg::kStatusOffset) & reg::kStatusHaltedMask, 0u)
      << "faults do not halt";
  EXPECT_EQ(host_.RunJob({Load(TestStream())}).status, 0u);
}

TEST_F(JobTest, RunStepsAreChecked) {
  const desc::Step good = Load(TestStream());
  auto status = [&](desc::Step step) { return host_.RunJob({step}).status; };
  desc::Step bad = good;
  bad.device_address += 16;
  EXPECT_EQ(status(bad), Code(Error::kIllegalDescriptor));
  bad = good;
  bad.length = isa::kStreamBytesMax + 16;
  EXPECT_EQ(status(bad), Code(Error::kIllegalDescriptor));
  bad = good;
  bad.device_address = isa::kDramBytesDefault;
  EXPECT_EQ(status(bad), Code(Error::kCopyBounds));
  bad = good;
  bad.table_iova = 64;
  EXPECT_EQ(status(bad), Code(Error::kHostDma));
  bad = good;
  bad.type = 77;
  EXPECT_EQ(status(bad), Code(Error::kIllegalDescriptor));
  for (auto change :
       {+[](desc::Region* r) { r->base = 17; },
        +[](desc::Region* r) { r->size = isa::kDramBytesDefault; },
        +[](desc::Region* r) { r->size = UINT64_MAX; },
        +[](desc::Region* r) { r->flags |= 2; },
        +[](desc::Region* r) { r->reserved1 = 1; }}) {
    std::vector<desc::Region> regions = Regions();
    change(&regions[2]);
    const desc::Completion record =
        host_.RunJob({host_.Run(kCode, 16, regions)});
    EXPECT_EQ(record.status, Code(Error::kIllegalDescriptor));
    EXPECT_EQ(record.fault_region, 2u);
  }
}

// Behind the run, in order, on a core without timing.
TEST_F(JobTest, StepsBesideARun) {
  const std::vector<uint8_t> data = Pattern(20000);
  const uint64_t target = host_.Alloc(data.size());
  auto beside = [](desc::Step step) {
    step.flags = desc::kStepFlagsOverlapMask;
    return step;
  };
  const desc::Step run = Load(TestStream().Load(2, 0, 0, 4096));
  desc::Completion record =
      host_.RunJob({run, beside(host_.CopyIn(kData, data)),
                    beside(host_.Copy(kData, kData + 30000, data.size())),
                    beside(host_.CopyOut(kData + 30000, data.size(), target))});
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.bytes_copied, 2 * data.size());
  EXPECT_EQ(std::memcmp(host_.At(target), data.data(), data.size()), 0);
  record = host_.RunJob({run, beside(host_.CopyOut(0, 4096, 0x5000)), run});
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_step, 1u);
  EXPECT_EQ(record.commands, 2u);
  EXPECT_EQ(host_.RunJob({beside(run)}).status,
            Code(Error::kIllegalDescriptor));
  EXPECT_EQ(
      host_.RunJob({run, host_.Fill(0, 4, 0), beside(host_.Fill(0, 4, 0))})
          .status,
      Code(Error::kIllegalDescriptor));
}

// With cycles on the RTL, else with estimates, and marked so.
TEST_F(JobTest, TraceOfCommands) {
  isa::Load load;
  load.header.tag = 0x77;
  load.region = 2;
  load.elem_log2 = 4;
  TestStream code;
  code.Load(2, 0, 0, 4096).Barrier().Store(2, 65536, 0, 4096).Barrier();
  code.Add(load);
  const desc::Step run = Load(code);
  const uint64_t bytes = 8 * sizeof(desc::TraceEntry);
  const uint64_t iova = host_.Alloc(bytes);
  auto traced = [&](std::vector<desc::Step> steps, uint32_t entries,
                    uint64_t to) {
    desc::JobDescriptor job;
    job.steps_iova = host_.Put(steps);
    job.step_count = static_cast<uint32_t>(steps.size());
    job.flags = desc::kJobDescriptorFlagsTraceMask;
    job.trace_iova = to;
    job.trace_entries = entries;
    std::memset(host_.At(iova), 0, bytes);
    host_.QueueRaw(0, job);
    host_.Doorbell(0);
    return WaitForRecord();
  };
  auto entry = [&](uint32_t i) {
    desc::TraceEntry e;
    std::memcpy(&e, static_cast<uint8_t*>(host_.At(iova)) + i * sizeof(e),
                sizeof(e));
    return e;
  };
  desc::Completion record =
      traced({host_.Fill(kData, 4, 0), run, run}, 5, iova);
  ASSERT_EQ(record.status, 0u);
  EXPECT_EQ(record.trace_count, 6u);
  const bool rtl = host_.Read(reg::kCoreKindOffset) ==
                   static_cast<uint32_t>(isa::CoreKind::kRtl);
  uint32_t last = 0;
  for (uint32_t i = 0; i < 5; ++i) {
    const desc::TraceEntry e = entry(i);
    const bool first = i < 3;
    EXPECT_EQ(e.flags & ~desc::kTraceEntryFlagsEstimatedMask,
              desc::kTraceEntryFlagsValidMask |
                  (first ? 1u : 2u) << desc::kTraceEntryFlagsStepShift |
                  (i % 3 == 1 ? 2u : 1u));
    EXPECT_EQ((e.flags & desc::kTraceEntryFlagsEstimatedMask) == 0, rtl);
    EXPECT_GT(e.begin, last);
    EXPECT_GT(e.end, e.begin);
    EXPECT_GT(e.stall[0], 0u) << "of device memory's latency";
    EXPECT_LE(e.stall[0] + e.stall[1] + e.stall[2], e.end - e.begin);
    if (rtl) {
      EXPECT_LT(e.end, record.cycles);
    }
    last = e.end;
  }
  EXPECT_EQ(entry(0).offset, 0u);
  EXPECT_EQ(entry(1).offset, 4 * (isa::Load::kWords + isa::Barrier::kWords));
  EXPECT_EQ(entry(2).tag, 0x77u);
  EXPECT_EQ(entry(5).flags, 0u) << "no room";
  // What failed has no entry, what went before it has.
  record = traced(
      {Load(TestStream().Load(2, 0, 0, 64).Barrier().Store(5, 0, 0, 64))}, 8,
      iova);
  EXPECT_EQ(record.status, Code(Error::kRegionBounds));
  EXPECT_EQ(record.trace_count, 1u);
  EXPECT_EQ(entry(1).flags, 0u);
  // Memory that is not there.
  record =
      traced({host_.Fill(kData, 4, 0), Load(TestStream().Load(2, 0, 0, 64)),
              host_.Fill(kData, 4, 1)},
             8, 0x4000);
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_step, 1u);
  EXPECT_EQ(record.fault_address, 0x4000u);
  EXPECT_EQ(record.trace_count, 1u);
  // Without the flag.
  record = host_.RunJob({Load(TestStream().Load(2, 0, 0, 64))});
  EXPECT_EQ(record.trace_count, 0u);
}

TEST_F(JobTest, MalformedJobs) {
  desc::JobDescriptor good;
  good.steps_iova = host_.Put(std::vector<desc::Step>{host_.Fill(0, 4, 0)});
  good.step_count = 1;
  auto status = [&](const desc::JobDescriptor& job) {
    host_.QueueRaw(0, job);
    host_.Doorbell(0);
    return WaitForRecord().status;
  };
  EXPECT_EQ(status(good), 0u);
  for (auto change :
       {+[](desc::JobDescriptor* j) { j->step_count = isa::kStepsMax + 1; },
        +[](desc::JobDescriptor* j) { j->step_count = 0; },
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
}

TEST_F(JobTest, AbortEndsAtACommandBoundary) {
  isa::Fill fill;
  fill.elem_log2 = 2;
  fill.n0 = fill.n1 = 256;
  fill.t0 = 4;
  fill.t1 = 1024;
  TestStream code;
  for (int i = 0; i < 40000; ++i) code.Add(fill);
  const uint64_t fence = host_.Queue(0, {Load(code)});
  host_.Doorbell(0);
  const uint32_t start = host_.Read(reg::kProgressOffset);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  for (int i = 0; i < 1000 && host_.Read(reg::kProgressOffset) == start; ++i)
    usleep(1000);
  EXPECT_NE(host_.Read(reg::kProgressOffset), start)
      << "PROGRESS moves while the job runs";
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence) + 1);
  EXPECT_NE(host_.Read(reg::kStatusOffset) & reg::kStatusBusyMask, 0u)
      << "another job's fence";
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  const desc::Completion record = WaitForRecord();
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_GT(record.commands, 0u);
  EXPECT_LT(record.commands, 40000u);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                 reg::kStatusHaltedMask));
  // Halted: the next job waits for RESET.engine.
  host_.Queue(0, {host_.Fill(kData, 4, 0)});
  host_.Doorbell(0);
  desc::Completion next;
  EXPECT_FALSE(host_.Next(&next, 50));
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, 0u);
  EXPECT_EQ(host_.Read(reg::kCounterResetsOffset), 1u);
}

TEST_F(JobTest, HungEngineNeedsAReset) {
  ASSERT_TRUE(host_.Store(kData + 4096, Pattern(100)));
  const uint64_t fence = host_.Queue(0, {Endless()});
  host_.Doorbell(0);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  usleep(30000);
  const uint32_t progress = host_.Read(reg::kProgressOffset);
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  usleep(30000);
  EXPECT_EQ(host_.Read(reg::kProgressOffset), progress);
  EXPECT_EQ(host_.Read(reg::kStatusOffset) & reg::kStatusHaltedMask, 0u);
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  ASSERT_TRUE(
      host_.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
  EXPECT_EQ(host_.Fetch(kData + 4096, 100), Pattern(100))
      << "device memory is kept";
  ASSERT_EQ(host_.RunJob({Load(TestStream().Store(2, 8192, 0, 4096))}).status,
            0u);
  EXPECT_EQ(host_.Fetch(kData + 8192, 4096), std::vector<uint8_t>(4096, 0))
      << "SRAM is not";
}

TEST_F(JobTest, CardResetClearsTheRest) {
  host_.Write(reg::kScratchOffset, 5);
  host_.Queue(3, {Endless()});
  host_.Doorbell(3);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  host_.Write(reg::kResetOffset, reg::kResetCardMask);
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  ASSERT_TRUE(
      host_.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0u);
  EXPECT_EQ(host_.Read(reg::RingSizeOffset(3)), 0u);
  EXPECT_EQ(host_.Read(reg::kIntEnableOffset), 0u);
  EXPECT_EQ(host_.Read(reg::kCounterJobsOffset), 0u);
  EXPECT_EQ(host_.Read(reg::kCounterResetsOffset), 1u);
  host_.Write(reg::RingHeadOffset(0), 1);
  EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset),
            Code(Error::kIllegalDescriptor));
}

TEST_F(JobTest, LongCopyCanBeAborted) {
  const uint64_t fence =
      host_.Queue(0, {host_.Fill(0, isa::kDramBytesDefault, 1),
                      host_.Fill(0, isa::kDramBytesDefault, 2)});
  host_.Doorbell(0);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  EXPECT_EQ(WaitForRecord().status, Code(Error::kAborted));
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_TRUE(host_.Store(0, Pattern(10)));
}

}  // namespace
}  // namespace heddle::platform
