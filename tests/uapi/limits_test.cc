// SPDX-License-Identifier: Apache-2.0
// CONTEXT_CONTROL, run limits, quotas, bans, and the end of what runs when its
// owner goes.
#include <errno.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class LimitsTest : public UapiTest {
 protected:
  static int Control(Client* c, uint32_t context,
                     drm_heddle_context_control* args) {
    args->context = context;
    return c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, args);
  }
  static int SetRunCycles(Client* c, uint32_t context, uint64_t cycles) {
    drm_heddle_context_control args = {};
    args.flags = DRM_HEDDLE_CONTROL_RUN_CYCLES;
    args.run_cycles = cycles;
    return Control(c, context, &args);
  }
  static drm_heddle_context_control Read(Client* c, uint32_t context) {
    drm_heddle_context_control args = {};
    EXPECT_EQ(Control(c, context, &args), 0);
    return args;
  }
  // A job that does not end by itself; its context's first.
  static void Hang(Client* c, uint32_t context, uint32_t stream,
                   uint64_t timeout_ns) {
    uint64_t seqno = 0;
    ASSERT_EQ(Submit(c, context, {RunStream(stream)}, &seqno, {}, timeout_ns),
              0);
  }
};

TEST_F(LimitsTest, ControlReadsTheDefaults) {
  const auto control = Read(c(), NewContext(c()));
  EXPECT_EQ(control.run_cycles, Limits(c()).run_cycles);
  EXPECT_EQ(control.state, DRM_HEDDLE_CONTEXT_USABLE + 0u);
  EXPECT_EQ(control.hangs, 0u);
}

TEST_F(LimitsTest, ControlSetsTheRunLimitOfOneContext) {
  const uint64_t limit = Limits(c()).run_cycles;
  const uint32_t one = NewContext(c()), other = NewContext(c());
  EXPECT_EQ(SetRunCycles(c(), one, 12345), 0);
  EXPECT_EQ(Read(c(), one).run_cycles, 12345u);
  EXPECT_EQ(Read(c(), other).run_cycles, limit);
  EXPECT_EQ(SetRunCycles(c(), one, limit), 0);
  EXPECT_EQ(Read(c(), one).run_cycles, limit);
  EXPECT_EQ(SetRunCycles(c(), one, 1), 0);
  EXPECT_EQ(SetRunCycles(c(), one, 0), 0) << "the default";
  EXPECT_EQ(Read(c(), one).run_cycles, limit);
}

TEST_F(LimitsTest, ControlWantsTheRightToExceedTheRunLimit) {
  const uint64_t limit = Limits(c()).run_cycles;
  const uint32_t context = NewContext(c());
  EXPECT_EQ(SetRunCycles(c(), context, kForever), 0);
  EXPECT_EQ(Read(c(), context).run_cycles, kForever);
  InChild([&] {
    if (!Driver::Get().DropPriority()) return;
    auto mine = Open();
    ASSERT_NE(mine, nullptr);
    const uint32_t poor = NewContext(mine.get(), 2);
    EXPECT_EQ(SetRunCycles(mine.get(), poor, limit + 1), -EACCES);
    EXPECT_EQ(SetRunCycles(mine.get(), poor, kForever), -EACCES);
    EXPECT_EQ(SetRunCycles(mine.get(), poor, limit), 0);
    EXPECT_EQ(Read(mine.get(), poor).run_cycles, limit);
  });
}

TEST_F(LimitsTest, ControlRefusesWhatItDoesNotKnow) {
  const uint32_t context = NewContext(c());
  for (uint32_t bit : EachBit()) {
    drm_heddle_context_control args = {};
    args.state = bit;
    EXPECT_EQ(Control(c(), context, &args), -EINVAL) << bit;
    args = {};
    args.hangs = bit;
    EXPECT_EQ(Control(c(), context, &args), -EINVAL) << bit;
    if (bit == DRM_HEDDLE_CONTROL_RUN_CYCLES) continue;
    args = {};
    args.flags = bit;
    EXPECT_EQ(Control(c(), context, &args), -EINVAL) << bit;
  }
  drm_heddle_context_control args = {};
  args.run_cycles = 1;  // without its flag
  EXPECT_EQ(Control(c(), context, &args), -EINVAL);
  for (uint32_t other : {0u, context + 1, ~0u}) {
    args = {};
    EXPECT_EQ(Control(c(), other, &args), -ENOENT) << other;
  }
}

TEST_F(LimitsTest, RefusesAJobThatCanTakeTooLong) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kMiB);
  ASSERT_EQ(SetRunCycles(c(), context, 1), 0);
  EXPECT_EQ(Submit(c(), context, {Fill(bo, kMiB, 1)}), -EFBIG);
  EXPECT_EQ(Submit(c(), context, {CopyOnCard(bo, bo, kMiB)}), -EFBIG);
  ASSERT_EQ(SetRunCycles(c(), context, 0), 0);
  uint64_t seqno = 0;
  EXPECT_EQ(Submit(c(), context, {Fill(bo, kMiB, 1)}, &seqno), 0);
  EXPECT_EQ(seqno, 1u) << "what was refused was not queued";
  ResultOf(c(), context, seqno);
}

TEST_F(LimitsTest, TheSumOfTheStepsCounts) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kMiB);
  uint64_t limit = 1;
  while (SetRunCycles(c(), context, limit) == 0 &&
         Submit(c(), context, {Fill(bo, kMiB, 1)}) == -EFBIG) {
    limit *= 2;
    ASSERT_LE(limit, Limits(c()).run_cycles);
  }
  EXPECT_EQ(
      Submit(c(), context, std::vector<drm_heddle_step>(8, Fill(bo, kMiB, 1))),
      -EFBIG);
}

TEST_F(LimitsTest, BoundsTheContextsOfAFile) {
  const uint32_t limit = Limits(c()).contexts;
  std::vector<uint32_t> contexts;
  uint32_t id = 0;
  int err = 0;
  while (contexts.size() <= limit && (err = CreateContext(c(), 2, &id)) == 0)
    contexts.push_back(id);
  EXPECT_EQ(err, -EDQUOT);
  EXPECT_EQ(contexts.size(), limit);
  auto other = Open();
  EXPECT_EQ(CreateContext(other.get(), 2, &id), 0);
  EXPECT_EQ(DestroyContext(c(), contexts[0]), 0);
  EXPECT_TRUE(Eventually([&] { return CreateContext(c(), 2, &id) == 0; }));
}

TEST_F(LimitsTest, BoundsTheStreamsOfAFile) {
  const uint32_t limit = Limits(c()).streams;
  std::vector<uint32_t> streams;
  uint32_t id = 0;
  int err = 0;
  while (streams.size() <= limit &&
         (err = CreateStream(c(), EmptyStream(), &id)) == 0)
    streams.push_back(id);
  EXPECT_EQ(err, -EDQUOT);
  EXPECT_LE(streams.size(), limit);
  EXPECT_EQ(DestroyStream(c(), streams[0]), 0);
  EXPECT_EQ(CreateStream(c(), EmptyStream(), &id), 0);
}

TEST_F(LimitsTest, BoundsTheJobsOfAFile) {
  const uint32_t limit = Limits(c()).jobs;
  auto other = Open();
  auto mine = Open();  // goes first: others need not wait for its hang
  const uint32_t stream = NewStream(mine.get(), EmptyStream());
  const uint32_t theirs = NewContext(other.get());
  const uint32_t bo = NewDevice(other.get(), kPage);
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  // The first one does not end, so none does.
  uint32_t accepted = 0;
  int err = 0;
  for (uint32_t i = 0; i < limit && accepted < limit; ++i) {
    const uint32_t context = NewContext(mine.get(), 2);
    while (accepted <= limit &&
           (err = Submit(mine.get(), context, {RunStream(stream)})) == 0)
      accepted++;
    ASSERT_EQ(err, -EAGAIN);
  }
  EXPECT_EQ(accepted, limit);
  EXPECT_EQ(Submit(mine.get(), NewContext(mine.get(), 2), {RunStream(stream)}),
            -EAGAIN);
  EXPECT_EQ(Submit(other.get(), theirs, {Fill(bo, kPage, 1)}), 0)
      << "others may";
}

// What runs when its context goes is ended, not waited for.
TEST_F(LimitsTest, AbortsWhatRunsWithItsContext) {
  const uint32_t mine = NewContext(c());
  const uint32_t stream = NewStream(c(), EmptyStream());
  auto other = Open();
  const uint32_t theirs = NewContext(other.get());
  const uint32_t bo = NewDevice(other.get(), kPage);
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  const uint64_t timeout = Limits(c()).timeout_ns;
  Hang(c(), mine, stream, 0);
  usleep(200000);
  const uint64_t before = NowNs();
  EXPECT_EQ(DestroyContext(c(), mine), 0);
  EXPECT_EQ(Do(other.get(), theirs, {Fill(bo, kPage, 1)}).status, 0u);
  // It would have been ended after the timeout, which is long.
  if (timeout >= 10 * kSecond) {
    EXPECT_LT(NowNs() - before, timeout / 2);
  }
}

TEST_F(LimitsTest, AbortsWhatRunsWithItsFile) {
  auto mine = Open();
  const uint32_t context = NewContext(mine.get());
  const uint32_t stream = NewStream(mine.get(), EmptyStream());
  const uint32_t bo = NewDevice(c(), kPage);
  const uint32_t good = NewContext(c());
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  const uint64_t timeout = Limits(c()).timeout_ns;
  Hang(mine.get(), context, stream, 0);
  usleep(200000);
  const uint64_t before = NowNs();
  mine = nullptr;
  EXPECT_EQ(Do(c(), good, {Fill(bo, kPage, 1)}).status, 0u);
  if (timeout >= 10 * kSecond) {
    EXPECT_LT(NowNs() - before, timeout / 2);
  }
}

// A job that has not started is dropped, whatever it waits for.
TEST_F(LimitsTest, WhoGoesWaitsForNobodysHang) {
  auto hanging = Open();
  const uint32_t hung = NewContext(hanging.get());
  const uint32_t stream = NewStream(hanging.get(), EmptyStream());
  const uint32_t sync = NewSyncobj(hanging.get());
  const uint32_t idle = NewContext(hanging.get());
  const uint32_t bo = NewDevice(hanging.get(), kPage);
  EXPECT_EQ(Do(hanging.get(), idle, {Fill(bo, kPage, 1)}).status, 0u);
  auto other = Open();
  const uint32_t context = NewContext(other.get());
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  const uint64_t timeout = Limits(c()).timeout_ns;
  const uint64_t seqno =
      NewJob(hanging.get(), hung, {RunStream(stream)}, {{}, {{sync, 0, 0}}});
  usleep(200000);
  const auto expect_hung = [&](const char* what) {
    if (timeout < 10 * kSecond) return;
    EXPECT_EQ(Wait(hanging.get(), hung, seqno, 0), -ETIME) << what;
  };
  // For its memory, which is made ready after the job that hangs.
  NewJob(other.get(), context, {Fill(NewDevice(other.get(), kPage), kPage, 1)});
  other = nullptr;
  expect_hung("closing waited for the hang");
  // For a fence of that job.
  NewJob(hanging.get(), idle, {Fill(bo, kPage, 2)}, {{{sync, 0, 0}}, {}});
  EXPECT_EQ(DestroyContext(hanging.get(), idle), 0);
  expect_hung("destroying the context waited for the hang");
}

TEST_F(LimitsTest, BansWhoHangsTheCardAgainAndAgain) {
  auto bad = Open();
  const uint32_t context = NewContext(bad.get());
  const uint32_t other = NewContext(bad.get());
  const uint32_t stream = NewStream(bad.get(), EmptyStream());
  const uint32_t hangs = Limits(bad.get()).hangs;
  for (uint32_t i = 0; i < hangs; ++i) {
    EXPECT_EQ(Read(bad.get(), context).hangs, i);
    EXPECT_EQ(Read(bad.get(), context).state, DRM_HEDDLE_CONTEXT_USABLE + 0u);
    if (!Driver::Get().Control("fault stuck_engine")) {
      GTEST_SKIP() << "this card cannot be told to fail";
    }
    Hang(bad.get(), context, stream, kSecond / 10);
    const auto result = ResultOf(bad.get(), context, i + 1);
    EXPECT_EQ(result.error, uint32_t{ETIME});
    // The reset is not over when the job is.
    drm_heddle_event event = {};
    ASSERT_EQ(NextEvent(c(), InMs(20000), &event), 0);
  }
  const auto control = Read(bad.get(), context);
  EXPECT_EQ(control.state, DRM_HEDDLE_CONTEXT_BANNED + 0u);
  EXPECT_EQ(control.hangs, hangs);
  for (uint32_t id : {context, other})
    EXPECT_EQ(Submit(bad.get(), id, {RunStream(stream)}), -EIO);
  uint32_t more = 0;
  EXPECT_EQ(CreateContext(bad.get(), 2, &more), -EIO);
  // The others are not.
  const uint32_t good = NewContext(c());
  const uint32_t mine = NewStream(c(), EmptyStream());
  EXPECT_EQ(Do(c(), good, {RunStream(mine)}).status, 0u);
}

TEST_F(LimitsTest, CountersOfAllWantARight) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  Do(c(), context, {Fill(bo, kPage, 1)});
  EXPECT_GE(Counters(c()).jobs, 1u);
  InChild([&] {
    if (!Driver::Get().DropPriority()) return;
    auto mine = Open();
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(Counters(mine.get()).jobs, 0u);
    const uint32_t own = NewContext(mine.get(), 2);
    const uint32_t device = NewDevice(mine.get(), kPage);
    Do(mine.get(), own, {Fill(device, kPage, 1)});
    EXPECT_EQ(Counters(mine.get()).jobs, 1u);
    EXPECT_EQ(Counters(mine.get()).queued, 0u);
  });
}

}  // namespace
}  // namespace heddle::uapi
