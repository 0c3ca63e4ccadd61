// SPDX-License-Identifier: Apache-2.0
//
// Cases of hd_front_test: jobs whose commands are traced (job flag trace). What
// the entries say is hd_trace's; here they are the fake core's.
#ifndef HEDDLE_RTL_TESTBENCH_FRONT_TRACE_CASES_H_
#define HEDDLE_RTL_TESTBENCH_FRONT_TRACE_CASES_H_

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "rtl/testbench/front_fixture.h"

namespace heddle::rtl {
namespace {

class FrontTraceTest : public FrontTest {
 protected:
  // Queues a job that is traced into room for `entries`, and a guard behind.
  uint64_t QueueTraced(const std::vector<desc::Step>& steps, uint32_t entries) {
    desc::JobDescriptor job;
    job.fence = ++fence_;
    job.steps_iova = b.Put(steps);
    job.step_count = static_cast<uint32_t>(steps.size());
    job.flags = desc::kJobDescriptorFlagsTraceMask;
    iova_ = b.Alloc((entries + 2) * sizeof(desc::TraceEntry));
    std::memset(b.At(iova_), 0, (entries + 2) * sizeof(desc::TraceEntry));
    job.trace_iova = iova_;
    job.trace_entries = entries;
    b.QueueRaw(0, job);
    b.Doorbell(0);
    return job.fence;
  }
  desc::TraceEntry Entry(uint32_t i) {
    desc::TraceEntry entry;
    std::memcpy(&entry, b.At(iova_ + i * sizeof(entry)), sizeof(entry));
    return entry;
  }
  // Entry i is whole and of that step, or all zero; which of them is returned.
  bool Whole(uint32_t i, uint32_t step) {
    const desc::TraceEntry entry = Entry(i);
    const desc::TraceEntry zero;
    if (std::memcmp(&entry, &zero, sizeof(entry)) == 0) return false;
    const uint32_t tag = 0x12345678 + i + 3;
    EXPECT_EQ(entry.offset, i * 16);
    EXPECT_EQ(entry.tag, tag);
    EXPECT_EQ(entry.end, ~entry.begin);
    EXPECT_EQ(entry.stall[0], tag - 2);
    EXPECT_EQ(entry.stall[2], tag);
    EXPECT_EQ(entry.flags & ~desc::kTraceEntryFlagsEngineMask,
              desc::kTraceEntryFlagsValidMask |
                  step << desc::kTraceEntryFlagsStepShift);
    return true;
  }

  uint64_t fence_ = 0x1000, iova_ = 0;
};

TEST_F(FrontTraceTest, EntriesOfAllRuns) {
  b.core.traced = 5;
  const uint64_t target = b.Alloc(4096);
  QueueTraced({b.Fill(kData, 4096, 5), Stream(), b.CopyOut(kData, 4096, target),
               Stream()},
              10);
  desc::Completion record = WaitForRecord();
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.trace_count, 10u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(Whole(i, i < 5 ? 1 : 3)) << i;
  EXPECT_FALSE(Whole(10, 0));
  EXPECT_GT(Entry(5).begin, Entry(4).begin + 256) << "a copy lies between";
  EXPECT_LT(Entry(9).begin, record.cycles);
  // The next job counts anew; without room it only counts.
  QueueTraced({Stream()}, 3);
  record = WaitForRecord();
  EXPECT_EQ(record.trace_count, 5u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(Whole(i, 0), i < 3) << i;
  QueueTraced({Stream()}, 0);
  record = WaitForRecord();
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.trace_count, 5u);
  EXPECT_FALSE(Whole(0, 0));
  // Without the flag nothing is written or counted.
  record = b.RunJob({Stream()});
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.trace_count, 0u);
  EXPECT_TRUE(b.core.entries.empty());
}

// Both copies and trace use the host's port; neither disturbs the other.
TEST_F(FrontTraceTest, BesideCopies) {
  const std::vector<uint8_t> data = Pattern(30000);
  const uint64_t target = b.Alloc(data.size());
  b.core.traced = 300;
  b.core.duration = 400;
  QueueTraced({Stream(), Bench::Beside(b.CopyIn(kData, data)),
               Bench::Beside(b.CopyOut(kData, data.size(), target)), Stream()},
              600);
  const desc::Completion record = WaitForRecord();
  EXPECT_EQ(record.status, 0u);
  EXPECT_EQ(record.trace_count, 600u);
  EXPECT_EQ(record.bytes_copied, 2 * data.size());
  EXPECT_EQ(std::memcmp(b.At(target), data.data(), data.size()), 0);
  for (uint32_t i = 0; i < 600; ++i)
    ASSERT_TRUE(Whole(i, i < 300 ? 0 : 3)) << i;
}

TEST_F(FrontTraceTest, EveryWriteMayFail) {
  for (uint64_t n = 0; n < 8; ++n) {
    const desc::Step run = Stream();
    b.core.traced = 8;
    b.core.status = 0;
    QueueTraced({b.Fill(kData, 4, 0), run, b.Fill(kData, 8, 1)}, 8);
    // Before: descriptor, steps, region table.
    b.FailHostAccess(3 + n);
    std::memset(b.Device(kData), 9, 8);
    desc::Completion record = WaitForRecord();
    EXPECT_EQ(record.status, Code(Error::kHostDma));
    EXPECT_EQ(record.fault_step, 1u);
    EXPECT_EQ(record.fault_address, iova_);
    EXPECT_EQ(record.commands, 1u) << "the run came to its end";
    EXPECT_EQ(record.trace_count, 8u);
    EXPECT_EQ(*b.Device(kData + 4), 9) << "nothing behind it started";
    EXPECT_FALSE(Halted());
    // What else fails stands before it.
    QueueTraced({run, Bench::Beside(b.CopyOut(0, 4096, 0x5000))}, 8);
    b.FailHostAccess(3 + n);
    record = WaitForRecord();
    EXPECT_EQ(record.status, Code(Error::kHostDma));
    EXPECT_EQ(record.fault_step, 1u);
    b.core.status = Code(Error::kIndexBounds);
    QueueTraced({run}, 8);
    b.FailHostAccess(3 + n);
    EXPECT_EQ(WaitForRecord().status, Code(Error::kIndexBounds));
    b.core.status = 0;
    // An error is not the next job's.
    QueueTraced({run}, 8);
    EXPECT_EQ(WaitForRecord().status, 0u);
    for (uint32_t i = 0; i < 8; ++i) EXPECT_TRUE(Whole(i, 0)) << i;
    b.FreeAll();
  }
}

TEST_F(FrontTraceTest, AbortAndResetAtAnyTime) {
  for (uint64_t when = 20; when < 1500; when += 7) {
    b.SetUpRings();
    b.core = FakeCore();
    b.core.traced = 40;
    b.core.duration = when % 3 == 0 || when % 6 == 2 ? ~uint64_t{0} : 300;
    const uint64_t fence = QueueTraced(
        {Stream(), Bench::Beside(b.CopyIn(kData, Pattern(3000))), Stream()},
        80);
    b.Cycles(when);
    desc::Completion record;
    if (when % 3 == 0) {
      b.dut->function_reset_i = 1;
      b.Cycle();
      EXPECT_FALSE(b.Next(&record, 3000)) << when;
    } else if (when % 3 == 1) {
      b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
      record = WaitForRecord();
      ASSERT_TRUE(record.status == 0 || Halted()) << when;
      ASSERT_EQ(record.status == 0, !Halted()) << when;
      for (uint32_t i = 0; i < record.trace_count; ++i)
        EXPECT_TRUE(Whole(i, i < 40 ? 0 : 2)) << when << ", " << i;
      ResetEngine();
    } else {
      b.Write(reg::kResetOffset, reg::kResetEngineMask);
      record = WaitForRecord();
      ASSERT_TRUE(record.status == Code(Error::kAborted) ||
                  (record.status == 0 && when % 2))
          << when;
    }
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    ASSERT_TRUE(b.quiet());
    for (uint32_t i = 0; i < 80; ++i) Whole(i, i < 40 ? 0 : 2);
    EXPECT_FALSE(Whole(80, 0));
    b.Write(reg::RingSizeOffset(0), 0);
  }
}

}  // namespace
}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_FRONT_TRACE_CASES_H_
