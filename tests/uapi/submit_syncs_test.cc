// SPDX-License-Identifier: Apache-2.0
// SUBMIT: syncobjs to wait for and to signal.
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class SubmitSyncsTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    bo_ = NewDevice(c(), kPage);
    steps_ = {Fill(bo_, kPage, 1)};
  }
  int Send(const Syncs& syncs) {
    return Submit(c(), context_, steps_, nullptr, syncs);
  }
  // As in_syncs and as out_syncs.
  int SendRaw(const drm_heddle_array& array, bool in) {
    drm_heddle_submit args = SubmitArgs(context_, steps_);
    (in ? args.in_syncs : args.out_syncs) = array;
    return c()->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args);
  }

  uint32_t context_ = 0, bo_ = 0;
  std::vector<drm_heddle_step> steps_;
};

TEST_F(SubmitSyncsTest, SignalsABinaryOne) {
  const uint32_t sync = NewSyncobj(c());
  ASSERT_EQ(Send({{}, {{sync, 0, 0}}}), 0);
  EXPECT_EQ(WaitSyncobj(c(), sync, InMs(20000)), 0);
  EXPECT_EQ(Wait(c(), context_, 1, 0), 0) << "the job has ended";
}

TEST_F(SubmitSyncsTest, SignalsAPoint) {
  const uint32_t sync = NewSyncobj(c());
  ASSERT_EQ(Send({{}, {{sync, 0, 7}}}), 0);
  EXPECT_EQ(WaitPoint(c(), sync, 7, InMs(20000)), 0);
  EXPECT_EQ(PointOf(c(), sync), 7u);
  EXPECT_EQ(WaitPoint(c(), sync, 8, 0), -EINVAL) << "nobody will signal it";
}

TEST_F(SubmitSyncsTest, SignalsSeveral) {
  const uint32_t a = NewSyncobj(c()), b = NewSyncobj(c()), d = NewSyncobj(c());
  ASSERT_EQ(Send({{}, {{a, 0, 0}, {b, 0, 3}, {d, 0, 1}}}), 0);
  EXPECT_EQ(WaitSyncobj(c(), a, InMs(20000)), 0);
  EXPECT_EQ(WaitPoint(c(), b, 3, InMs(20000)), 0);
  EXPECT_EQ(WaitPoint(c(), d, 1, InMs(20000)), 0);
}

TEST_F(SubmitSyncsTest, IsNotSignalledBeforeTheEnd) {
  uint32_t sync = 0;
  uint64_t value = 0;
  EXPECT_EQ(WhileBusy(c(), context_,
                      [&](uint64_t) {
                        sync = NewSyncobj(c());
                        EXPECT_EQ(Send({{}, {{sync, 0, 1}}}), 0);
                        value = PointOf(c(), sync);
                        return WaitPoint(c(), sync, 1, 0);
                      }),
            -ETIME);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(WaitPoint(c(), sync, 1, InMs(20000)), 0);
}

TEST_F(SubmitSyncsTest, WaitsForWhatIsSignalled) {
  const uint32_t binary = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  const uint32_t timeline = NewSyncobj(c());
  ASSERT_EQ(SignalPoint(c(), timeline, 9), 0);
  EXPECT_EQ(Send({{{binary, 0, 0}, {timeline, 0, 9}, {timeline, 0, 4}}, {}}),
            0);
  EXPECT_EQ(ResultOf(c(), context_, 1).status, 0u);
}

TEST_F(SubmitSyncsTest, MayWaitAndSignalTheSame) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Send({{{sync, 0, 0}}, {{sync, 0, 0}}}), 0);
  }
  EXPECT_EQ(WaitSyncobj(c(), sync, InMs(20000)), 0);
  EXPECT_EQ(Wait(c(), context_, 10, 0), 0);
}

TEST_F(SubmitSyncsTest, RefusesToWaitForWhatWasNotSubmitted) {
  const uint32_t sync = NewSyncobj(c());
  EXPECT_EQ(Send({{{sync, 0, 0}}, {}}), -EINVAL);
  EXPECT_EQ(Send({{{sync, 0, 1}}, {}}), -EINVAL);
}

TEST_F(SubmitSyncsTest, RefusesToWaitForALaterPoint) {
  const uint32_t sync = NewSyncobj(c());
  ASSERT_EQ(SignalPoint(c(), sync, 5), 0);
  for (uint64_t point :
       std::initializer_list<uint64_t>{6, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_EQ(Send({{{sync, 0, point}}, {}}), -EINVAL) << point;
  }
}

TEST_F(SubmitSyncsTest, RefusesToWaitForAPointOfABinaryOne) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  EXPECT_EQ(Send({{{sync, 0, 1}}, {}}), -EINVAL);
}

TEST_F(SubmitSyncsTest, RefusesHandlesThatDoNotExist) {
  for (uint32_t handle : {0u, 1000u, ~0u}) {
    EXPECT_EQ(Send({{{handle, 0, 0}}, {}}), -ENOENT) << handle;
    EXPECT_EQ(Send({{}, {{handle, 0, 0}}}), -ENOENT) << handle;
    EXPECT_EQ(Send({{}, {{handle, 0, 1}}}), -ENOENT) << handle;
  }
}

TEST_F(SubmitSyncsTest, RefusesHandlesThatAreDestroyed) {
  const uint32_t sync = NewSyncobj(c());
  ASSERT_EQ(DestroySyncobj(c(), sync), 0);
  EXPECT_EQ(Send({{}, {{sync, 0, 0}}}), -ENOENT);
}

TEST_F(SubmitSyncsTest, RefusesPad) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(Send({{{sync, bit, 0}}, {}}), -EINVAL) << bit;
    EXPECT_EQ(Send({{}, {{sync, bit, 0}}}), -EINVAL) << bit;
  }
}

TEST_F(SubmitSyncsTest, ARejectionSignalsNothing) {
  const uint32_t good = NewSyncobj(c());
  EXPECT_EQ(Send({{}, {{good, 0, 0}, {0, 0, 0}}}), -ENOENT);
  EXPECT_EQ(WaitSyncobj(c(), good, 0), -EINVAL) << "nothing was submitted";
}

TEST_F(SubmitSyncsTest, RefusesASmallerStride) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  drm_heddle_sync one = {sync, 0, 0};
  for (bool in : {true, false}) {
    for (uint32_t stride : {0u, 8u, 15u}) {
      drm_heddle_array array = ArrayOf(&one, 1);
      array.stride = stride;
      EXPECT_EQ(SendRaw(array, in), -EINVAL) << stride;
    }
  }
}

TEST_F(SubmitSyncsTest, MayHaveGrown) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  Grown<drm_heddle_sync> grown[2] = {{{sync, 0, 0}, 0}, {{sync, 0, 0}, 0}};
  for (bool in : {true, false}) EXPECT_EQ(SendRaw(ArrayOf(grown, 2), in), 0);
}

TEST_F(SubmitSyncsTest, RefusesWhatIsNotKnown) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  Grown<drm_heddle_sync> grown[2] = {{{sync, 0, 0}, 0}, {{sync, 0, 0}, 1}};
  for (bool in : {true, false}) {
    EXPECT_EQ(SendRaw(ArrayOf(grown, 2), in), -E2BIG);
  }
}

TEST_F(SubmitSyncsTest, RefusesBadPointers) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    for (bool in : {true, false}) {
      EXPECT_EQ(SendRaw({bad, 1, sizeof(drm_heddle_sync)}, in), -EFAULT) << bad;
    }
  }
}

TEST_F(SubmitSyncsTest, ADestroyedOneIsWaitedForAllTheSame) {
  Load load(c());
  auto host = NewHost(c(), kPage);
  const uint32_t first = NewContext(c()), sync = NewSyncobj(c());
  load.Queue(first, 100);
  NewJob(c(), first, {Fill(bo_, kPage, 88)}, {{}, {{sync, 0, 0}}});
  const uint64_t seqno = NewJob(c(), context_, {CopyOut(bo_, host->handle, 4)},
                                {{{sync, 0, 0}}, {}});
  ASSERT_EQ(DestroySyncobj(c(), sync), 0);
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
  EXPECT_EQ(host->Word(0), 88u);
}

}  // namespace
}  // namespace heddle::uapi
