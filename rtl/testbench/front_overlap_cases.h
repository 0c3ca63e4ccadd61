// SPDX-License-Identifier: Apache-2.0
//
// Cases of hd_front_test: steps that are executed beside a run (step flag
// overlap).
#ifndef HEDDLE_RTL_TESTBENCH_FRONT_OVERLAP_CASES_H_
#define HEDDLE_RTL_TESTBENCH_FRONT_OVERLAP_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "rtl/testbench/front_fixture.h"

namespace heddle::rtl {
namespace {

// Steps with flag overlap: in order, while the run computes, and before what
// follows.
TEST_F(FrontTest, StepsBesideARun) {
  const std::vector<uint8_t> data = Pattern(20000);
  const uint64_t target = b.Alloc(data.size());
  const std::vector<desc::Step> beside = {
      b.CopyIn(kData, data), b.Copy(kData, kData + 30000, data.size()),
      b.Fill(kData, 8192, 0x01020304),
      b.CopyOut(kData + 30000, data.size(), target)};
  uint64_t cycles[2];
  for (const bool overlap : {false, true}) {
    std::memset(b.At(target), 0, data.size());
    std::memset(b.Device(kData), 0, 60000);
    b.core = FakeCore();
    b.core.duration = 5000;
    std::vector<desc::Step> steps = {Stream()};
    for (const desc::Step& step : beside)
      steps.push_back(overlap ? Bench::Beside(step) : step);
    steps.push_back(Stream());
    const desc::Completion record = b.RunJob(steps);
    ASSERT_EQ(record.status, 0u);
    EXPECT_EQ(record.bytes_copied, 2 * data.size());
    EXPECT_EQ(record.commands, 2u);
    EXPECT_EQ(record.fault_step, 0u);
    EXPECT_EQ(b.core.streams.size(), 2u);
    EXPECT_EQ(std::memcmp(b.At(target), data.data(), data.size()), 0);
    EXPECT_EQ(std::memcmp(b.Device(kData + 30000), data.data(), data.size()),
              0);
    EXPECT_EQ(*b.Device(kData + 8191), 1);
    EXPECT_EQ(*b.Device(kData + 8192), data[8192]);
    cycles[overlap] = record.cycles;
  }
  EXPECT_LT(cycles[1] + 4000, cycles[0]);
}

// Copies that take longer than the run keep what follows waiting.
TEST_F(FrontTest, NextStepWaitsForStepsBesideARun) {
  b.core.duration = 20;
  const uint64_t target = b.Alloc(8192);
  const desc::Completion record =
      b.RunJob({Stream(), Bench::Beside(b.Fill(kData, 65536, 7)),
                b.CopyOut(kData + 65536 - 8192, 8192, target)});
  EXPECT_EQ(record.status, 0u);
  for (int i = 0; i < 8192; i += 4) ASSERT_EQ(*b.At(target + i), 7);
}

TEST_F(FrontTest, FailuresOfStepsBesideARun) {
  // The step: the run ends, nothing behind the step starts.
  b.core.duration = 3000;
  std::memset(b.Device(kData), 9, 100);
  desc::Completion record =
      b.RunJob({b.Fill(0, 4, 0), Stream(), Bench::Beside(b.Fill(0, 4, 0)),
                Bench::Beside(b.CopyOut(0, 4096, 0x5000)),
                Bench::Beside(b.Fill(kData, 4, 0)), Stream()});
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_step, 3u);
  EXPECT_EQ(record.fault_address, 0x5000u);
  EXPECT_EQ(record.fault_region, 0u);
  EXPECT_EQ(record.commands, 1u) << "the run came to its end";
  EXPECT_GT(record.cycles, 3000u);
  EXPECT_EQ(b.core.streams.size(), 1u);
  EXPECT_EQ(*b.Device(kData), 9);
  EXPECT_FALSE(Halted());
  // Both: the run's is told.
  b.core.status = Code(Error::kIndexBounds);
  record = b.RunJob(
      {b.Fill(0, 4, 0), Stream(), Bench::Beside(b.CopyOut(0, 4096, 0x5000))});
  EXPECT_EQ(record.status, Code(Error::kIndexBounds));
  EXPECT_EQ(record.fault_step, 1u);
  EXPECT_EQ(record.fault_offset, 0x111u);
  EXPECT_EQ(record.fault_address, 0x5555555566666666u);
  // The step, when the run has ended.
  b.core = FakeCore();
  record = b.RunJob({Stream(), Bench::Beside(b.Fill(0, 65536, 0)),
                     Bench::Beside(b.CopyOut(0, 4096, 0x5000)), Stream()});
  EXPECT_EQ(record.status, Code(Error::kHostDma));
  EXPECT_EQ(record.fault_step, 2u);
  EXPECT_EQ(b.core.streams.size(), 1u);
  // The run, at any time of the step beside it: that comes to its end, no
  // further one starts.
  bool started = false;
  for (uint64_t duration = 0; duration < 60; ++duration) {
    b.FreeAll();
    b.core = FakeCore();
    b.core.status = Code(Error::kIndexBounds);
    b.core.duration = duration;
    std::memset(b.Device(kData), 9, 200000);
    record = b.RunJob({Stream(), Bench::Beside(b.Fill(kData, 8192, 0)),
                       Bench::Beside(b.Fill(kData + 100000, 4, 0))});
    EXPECT_EQ(record.status, Code(Error::kIndexBounds));
    EXPECT_EQ(record.fault_step, 0u);
    EXPECT_EQ(*b.Device(kData), *b.Device(kData + 8191)) << duration;
    const bool now = *b.Device(kData) == 0;
    EXPECT_TRUE(now ? duration >= 5 : !started) << duration;
    started = now;
    EXPECT_EQ(*b.Device(kData + 100000), 9) << duration;
  }
  EXPECT_TRUE(started);
}

TEST_F(FrontTest, AbortAtAnyTimeOfStepsBesideARun) {
  int aborted = 0, done = 0;
  for (uint64_t when = 0; when < 2400; when += 13) {
    b.FreeAll();
    b.core = FakeCore();
    b.core.duration = 700;
    const std::vector<uint8_t> data = Pattern(3000);
    const uint64_t fence =
        b.Queue(1, {Stream(), Bench::Beside(b.CopyIn(kData, data)),
                    Bench::Beside(b.Fill(kData + 4096, 4096, 1)),
                    b.CopyOut(kData, 200, b.Alloc(200))});
    b.Doorbell(1);
    b.Cycles(when);
    b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
    const desc::Completion record = WaitForRecord();
    ASSERT_EQ(record.fence, fence);
    const bool was = record.status == Code(Error::kAborted);
    ASSERT_EQ(record.status, was ? Code(Error::kAborted) : 0u) << when;
    EXPECT_EQ(Halted(), was) << when;
    if (record.bytes_copied != 0) {
      EXPECT_EQ(std::memcmp(b.Device(kData), data.data(), 3000), 0);
    }
    (was ? aborted : done) += 1;
    ResetEngine();
    EXPECT_TRUE(b.quiet());
  }
  EXPECT_GT(aborted, 50);
  EXPECT_GT(done, 5) << "too early or too late";
}

// The bench complains if the core is reset while a copy has requests in it.
TEST_F(FrontTest, ResetAtAnyTimeOfStepsBesideARun) {
  const std::vector<uint8_t> data = Pattern(6000);
  bool some = false, all = false;
  for (uint64_t when = 60; when < 3000; when += 11) {
    b.SetUpRings();
    b.core = FakeCore();
    b.core.duration = ~uint64_t{0};
    b.dut->hang_i = when % 2;
    const uint64_t fence =
        b.Queue(1, {Stream(), Bench::Beside(b.CopyIn(kData, data)),
                    Bench::Beside(b.Copy(kData, kData + 100, 3000)),
                    Bench::Beside(b.CopyOut(kData, 6000, b.Alloc(6000)))});
    b.Doorbell(1);
    b.Cycles(when);
    switch (when % 3) {
      case 0:
        b.dut->function_reset_i = 1;
        b.Cycle();
        break;
      case 1:
        b.Write(reg::kResetOffset, reg::kResetCardMask);
        break;
      default:
        b.Write(reg::kResetOffset, reg::kResetEngineMask);
    }
    b.dut->hang_i = 0;
    desc::Completion record;
    ASSERT_EQ(b.Next(&record, 5000), when % 3 != 0) << when;
    if (when % 3 != 0) {
      ASSERT_EQ(record.fence, fence);
      ASSERT_EQ(record.status, Code(Error::kAborted));
      EXPECT_EQ(record.commands, 0u);
      const uint64_t n = record.bytes_copied;
      some |= n != 0 && n < 12000;
      all |= n == 12000;
      EXPECT_EQ(
          std::memcmp(b.Device(kData), data.data(), std::min<uint64_t>(n, 100)),
          0);
    }
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    ASSERT_TRUE(b.quiet());
    ASSERT_GT(b.core.resets, 0);
    b.Write(reg::RingSizeOffset(1), 0);
  }
  EXPECT_TRUE(some && all) << "too early or too late";
}

TEST_F(FrontTest, ProgressOfStepsBesideAHungRun) {
  EXPECT_EQ(b.RunJob({Stream()}).status, 0u);
  const uint32_t start = b.Read(reg::kProgressOffset);
  b.dut->hang_i = 1;
  const uint64_t fence =
      b.Queue(0, {Stream(), Bench::Beside(b.Fill(kData, 5 * 4096, 1)),
                  Bench::Beside(b.CopyOut(kData, 8192, b.Alloc(8192)))});
  b.Doorbell(0);
  b.Cycles(6000);
  EXPECT_EQ(b.Read(reg::kProgressOffset), start + 7);
  b.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  desc::Completion record;
  EXPECT_FALSE(b.Next(&record, 3000));
  b.dut->hang_i = 0;
  b.Write(reg::kResetOffset, reg::kResetEngineMask);
  record = WaitForRecord();
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_EQ(record.bytes_copied, 8192u);
}

}  // namespace
}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_FRONT_OVERLAP_CASES_H_
