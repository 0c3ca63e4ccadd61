// SPDX-License-Identifier: Apache-2.0
// SUBMIT: the structure itself, and how its arrays may grow. Steps, regions and
// syncs have files of their own.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class SubmitTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    bo_ = NewDevice(c(), kPage);
    steps_ = {Fill(bo_, kPage, 1)};
  }
  int Send(drm_heddle_submit* args) {
    return c()->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, args);
  }

  uint32_t context_ = 0, bo_ = 0;
  std::vector<drm_heddle_step> steps_;
};

TEST_F(SubmitTest, NumbersJobsFromOne) {
  for (uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(NewJob(c(), context_, steps_), i);
  }
}

TEST_F(SubmitTest, NumbersJobsOfEachContext) {
  NewJob(c(), context_, steps_);
  NewJob(c(), context_, steps_);
  EXPECT_EQ(NewJob(c(), NewContext(c()), steps_), 1u);
  EXPECT_EQ(NewJob(c(), context_, steps_), 3u);
}

TEST_F(SubmitTest, ARefusedJobHasNoNumber) {
  EXPECT_EQ(Submit(c(), context_, {Fill(bo_, 2 * kPage, 1)}), -ERANGE);
  EXPECT_EQ(Submit(c(), context_, {Fill(bo_ + 1, kPage, 1)}), -ENOENT);
  EXPECT_EQ(NewJob(c(), context_, steps_), 1u);
}

TEST_F(SubmitTest, ARefusedJobDoesNothing) {
  const uint32_t out = NewSyncobj(c());
  EXPECT_EQ(Submit(c(), context_,
                   {Fill(bo_, kPage, 0x55555555), Fill(bo_, 2 * kPage, 1)},
                   nullptr, {{}, {{out, 0, 0}}}),
            -ERANGE);
  EXPECT_EQ(WaitSyncobj(c(), out, 0), -EINVAL)
      << "nothing was submitted for it";
  auto host = NewHost(c(), kPage);
  EXPECT_EQ(Do(c(), context_, {CopyOut(bo_, host->handle, kPage)}).status, 0u);
  EXPECT_EQ(host->Word(0), 0u);
}

TEST_F(SubmitTest, RefusesContextsThatDoNotExist) {
  for (uint32_t context : {0u, context_ + 1, ~0u}) {
    EXPECT_EQ(Submit(c(), context, steps_), -ENOENT) << context;
  }
}

TEST_F(SubmitTest, RefusesFlags) {
  for (uint32_t bit : EachBit()) {
    drm_heddle_submit args = SubmitArgs(context_, steps_);
    args.flags = bit;
    EXPECT_EQ(Send(&args), -EINVAL) << bit;
  }
}

TEST_F(SubmitTest, RefusesNoStep) {
  EXPECT_EQ(Submit(c(), context_, {}), -EINVAL);
}

TEST_F(SubmitTest, TakesTheMostSteps) {
  std::vector<drm_heddle_step> steps;
  for (uint32_t i = 0; i < DeviceInfo(c()).max_steps; ++i) {
    steps.push_back(Fill(bo_, 4, i + 1, 4 * i));
  }
  ASSERT_EQ(Do(c(), context_, steps).status, 0u);
  auto host = NewHost(c(), kPage);
  ASSERT_EQ(Do(c(), context_, {CopyOut(bo_, host->handle, kPage)}).status, 0u);
  for (uint32_t i = 0; i < steps.size(); ++i) EXPECT_EQ(host->Word(i), i + 1);
}

TEST_F(SubmitTest, RefusesMoreSteps) {
  const uint32_t most = DeviceInfo(c()).max_steps;
  for (uint32_t count : {most + 1, most * 16}) {
    EXPECT_EQ(
        Submit(c(), context_, std::vector<drm_heddle_step>(count, steps_[0])),
        -EINVAL)
        << count;
  }
}

TEST_F(SubmitTest, RefusesStepsOfASmallerStride) {
  const std::vector<drm_heddle_step> two(2, steps_[0]);
  for (uint32_t stride : {0u, 4u, unsigned{sizeof(drm_heddle_step) - 1}}) {
    drm_heddle_submit args = SubmitArgs(context_, two);
    args.steps.stride = stride;
    EXPECT_EQ(Send(&args), -EINVAL) << stride;
  }
}

TEST_F(SubmitTest, TakesStepsThatHaveGrown) {
  Grown<drm_heddle_step> steps[2] = {{Fill(bo_, 4, 1), 0},
                                     {Fill(bo_, 4, 2, 4), 0}};
  drm_heddle_submit args = SubmitArgs(context_, {});
  args.steps = ArrayOf(steps, 2);
  ASSERT_EQ(Send(&args), 0);
  EXPECT_EQ(ResultOf(c(), context_, args.seqno).status, 0u);
  auto host = NewHost(c(), kPage);
  Do(c(), context_, {CopyOut(bo_, host->handle, 8)});
  EXPECT_EQ(host->Word(0), 1u);
  EXPECT_EQ(host->Word(1), 2u);
}

TEST_F(SubmitTest, RefusesStepsThatUseWhatIsNotKnown) {
  for (int i : {0, 1}) {
    Grown<drm_heddle_step> steps[2] = {{Fill(bo_, 4, 1), 0},
                                       {Fill(bo_, 4, 2), 0}};
    steps[i].later = uint64_t{1} << 63;
    drm_heddle_submit args = SubmitArgs(context_, {});
    args.steps = ArrayOf(steps, 2);
    EXPECT_EQ(Send(&args), -E2BIG) << i;
  }
}

TEST_F(SubmitTest, RefusesBadPointersToSteps) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    drm_heddle_submit args = SubmitArgs(context_, steps_);
    args.steps.ptr = bad;
    EXPECT_EQ(Send(&args), -EFAULT) << bad;
  }
}

TEST_F(SubmitTest, TakesAnyTimeout) {
  for (uint64_t timeout : std::initializer_list<uint64_t>{
           1, kSecond, uint64_t{1} << 63, ~uint64_t{0}}) {
    const uint64_t seqno = NewJob(c(), context_, steps_, {}, timeout);
    // One nanosecond may be over before anybody looks.
    const drm_heddle_result result = ResultOf(c(), context_, seqno);
    if (timeout > 1) {
      EXPECT_EQ(result.status, 0u) << timeout;
    }
  }
}

TEST_F(SubmitTest, ReadsItsArraysBeforeItReturns) {
  std::vector<drm_heddle_step> steps = steps_;
  const uint32_t stream = NewStream(c(), CopyStream(0, 1, 64));
  std::vector<drm_heddle_region> regions = {
      Region(0, bo_, 64), Region(1, bo_, 64, DRM_HEDDLE_REGION_WRITE, 64)};
  steps = {Fill(bo_, 64, 0x0badcafe), RunStream(stream, regions)};
  const uint64_t seqno = NewJob(c(), context_, steps);
  std::memset(steps.data(), 0xff, steps.size() * sizeof(steps[0]));
  std::memset(regions.data(), 0xff, regions.size() * sizeof(regions[0]));
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
  auto host = NewHost(c(), kPage);
  Do(c(), context_, {CopyOut(bo_, host->handle, 128)});
  EXPECT_EQ(host->Word(16), 0x0badcafeu);
}

TEST_F(SubmitTest, RunsStepsInTheirOrder) {
  auto host = NewHost(c(), kPage);
  ASSERT_EQ(
      Do(c(), context_,
         {Fill(bo_, kPage, 1), CopyOut(bo_, host->handle, 4),
          Fill(bo_, kPage, 2), CopyOut(bo_, host->handle, 4, 0, 4),
          CopyIn(host->handle, bo_, 4), CopyOut(bo_, host->handle, 4, 0, 8)})
          .status,
      0u);
  EXPECT_EQ(host->Word(0), 1u);
  EXPECT_EQ(host->Word(1), 2u);
  EXPECT_EQ(host->Word(2), 1u);
}

TEST_F(SubmitTest, AJobKeepsItsBuffers) {
  Load load(c());
  load.Queue(context_, 100);
  auto host = NewHost(c(), kPage);
  const uint32_t gone = NewDevice(c(), kPage);
  const uint64_t seqno =
      NewJob(c(), context_,
             {Fill(gone, kPage, 77), CopyOut(gone, host->handle, kPage)});
  ASSERT_EQ(CloseBo(c(), gone), 0);
  ASSERT_EQ(CloseBo(c(), host->handle), 0);
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
  EXPECT_EQ(host->Word(1023), 77u);
}

TEST_F(SubmitTest, AJobKeepsItsStream) {
  Load load(c());
  load.Queue(context_, 100);
  const uint32_t stream = NewStream(c(), EmptyStream());
  const uint64_t seqno = NewJob(c(), context_, {RunStream(stream)});
  ASSERT_EQ(DestroyStream(c(), stream), 0);
  EXPECT_EQ(Submit(c(), context_, {RunStream(stream)}), -ENOENT);
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
}

TEST_F(SubmitTest, LimitsTheJobsInFlight) {
  Load load(c());
  const uint32_t above = NewContext(c(), 1), below = NewContext(c(), 3);
  uint64_t accepted = 0;
  int err = 0;
  // All queue up behind the load, unless it ends before they are many.
  for (uint64_t ms = 500; err == 0 && ms < 60000; ms *= 4) {
    load.Queue(above, ms);
    for (int i = 0; i < 1000 && err == 0; ++i) {
      err = Submit(c(), below, steps_);
      if (err == 0) ++accepted;
    }
  }
  EXPECT_EQ(err, -EAGAIN);
  EXPECT_GE(accepted, 64u);
  EXPECT_EQ(Submit(c(), context_, steps_), 0) << "it is the context's limit";
  EXPECT_EQ(ResultOf(c(), below, accepted).status, 0u);
  EXPECT_EQ(Submit(c(), below, steps_), 0) << "and it passes";
}

}  // namespace
}  // namespace heddle::uapi
