// SPDX-License-Identifier: Apache-2.0
// DRM's syncobjs by themselves: binary and timeline.
#include <thread>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

constexpr uint32_t kWaitDeadline = 1 << 3;  // this drm.h may be older

class SyncobjTest : public UapiTest {};

TEST_F(SyncobjTest, MayBeSignalledFromTheBeginning) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  EXPECT_EQ(WaitSyncobj(c(), sync, 0), 0);
}

TEST_F(SyncobjTest, HasNothingToWaitForAtFirst) {
  EXPECT_EQ(WaitSyncobj(c(), NewSyncobj(c()), 0), -EINVAL);
}

TEST_F(SyncobjTest, WaitsForASubmission) {
  const uint32_t sync = NewSyncobj(c());
  EXPECT_EQ(WaitSyncobj(c(), sync, NowNs() + 10000000,
                        DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT),
            -ETIME);
  int result = 1;
  std::thread waiter([&] {
    result = WaitSyncobj(c(), sync, InMs(20000),
                         DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
  });
  EXPECT_EQ(SignalSyncobj(c(), sync), 0);
  waiter.join();
  EXPECT_EQ(result, 0);
}

TEST_F(SyncobjTest, ResetForgets) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  EXPECT_EQ(ResetSyncobj(c(), sync), 0);
  EXPECT_EQ(WaitSyncobj(c(), sync, 0), -EINVAL);
}

TEST_F(SyncobjTest, CountsPoints) {
  const uint32_t sync = NewSyncobj(c());
  EXPECT_EQ(PointOf(c(), sync), 0u);
  EXPECT_EQ(SignalPoint(c(), sync, 3), 0);
  EXPECT_EQ(PointOf(c(), sync), 3u);
  EXPECT_EQ(SignalPoint(c(), sync, 10), 0);
  EXPECT_EQ(PointOf(c(), sync), 10u);
  for (uint64_t point : {1, 3, 9, 10}) {
    EXPECT_EQ(WaitPoint(c(), sync, point, 0), 0) << point;
  }
  EXPECT_EQ(WaitPoint(c(), sync, 11, 0), -EINVAL);
}

TEST_F(SyncobjTest, WaitsForAPoint) {
  const uint32_t sync = NewSyncobj(c());
  int result = 1;
  std::thread waiter([&] {
    result = WaitPoint(c(), sync, 2, InMs(20000),
                       DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
  });
  EXPECT_EQ(SignalPoint(c(), sync, 1), 0);
  EXPECT_EQ(SignalPoint(c(), sync, 2), 0);
  waiter.join();
  EXPECT_EQ(result, 0);
}

TEST_F(SyncobjTest, WaitsForAllOrForTheFirst) {
  const uint32_t handles[] = {NewSyncobj(c()),
                              NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED)};
  drm_syncobj_wait args = {};
  args.handles = reinterpret_cast<uint64_t>(handles);
  args.count_handles = 2;
  args.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &args), 0);
  EXPECT_EQ(args.first_signaled, 1u);
  args.flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &args), -ETIME);
  EXPECT_EQ(SignalSyncobj(c(), handles[0]), 0);
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &args), 0);
}

TEST_F(SyncobjTest, RefusesFlagsThatDoNotExist) {
  for (uint32_t bit : EachBit()) {
    if (bit == DRM_SYNCOBJ_CREATE_SIGNALED) continue;
    drm_syncobj_create args = {0, bit};
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &args), -EINVAL) << bit;
  }
}

TEST_F(SyncobjTest, RefusesWaitFlagsThatDoNotExist) {
  const uint32_t sync = NewSyncobj(c(), DRM_SYNCOBJ_CREATE_SIGNALED);
  uint32_t known =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  if (Driver::Get().WaitsOfLinux66()) known |= kWaitDeadline;
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(WaitSyncobj(c(), sync, 0, bit), bit & known ? 0 : -EINVAL) << bit;
  }
}

TEST_F(SyncobjTest, RefusesWaitFlagsOfPointsThatDoNotExist) {
  const uint32_t sync = NewSyncobj(c());
  ASSERT_EQ(SignalPoint(c(), sync, 1), 0);
  uint32_t known = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL |
                   DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                   DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  if (Driver::Get().WaitsOfLinux66()) known |= kWaitDeadline;
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(WaitPoint(c(), sync, 1, 0, bit), bit & known ? 0 : -EINVAL)
        << bit;
  }
}

TEST_F(SyncobjTest, RefusesHandlesThatDoNotExist) {
  for (uint32_t handle : {0u, ~0u}) {
    EXPECT_EQ(WaitSyncobj(c(), handle, 0), -ENOENT) << handle;
    EXPECT_EQ(WaitPoint(c(), handle, 1, 0), -ENOENT) << handle;
    EXPECT_EQ(SignalSyncobj(c(), handle), -ENOENT) << handle;
    EXPECT_EQ(SignalPoint(c(), handle, 1), -ENOENT) << handle;
    EXPECT_EQ(ResetSyncobj(c(), handle), -ENOENT) << handle;
    EXPECT_EQ(DestroySyncobj(c(), handle), -EINVAL) << handle;
  }
}

TEST_F(SyncobjTest, RefusesToDestroyTwice) {
  const uint32_t sync = NewSyncobj(c());
  EXPECT_EQ(DestroySyncobj(c(), sync), 0);
  EXPECT_EQ(DestroySyncobj(c(), sync), -EINVAL);
}

TEST_F(SyncobjTest, RefusesNoHandles) {
  const int waited = Driver::Get().WaitsOfLinux66() ? 0 : -EINVAL;
  drm_syncobj_wait wait = {};
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &wait), waited);
  drm_syncobj_timeline_wait timeline = {};
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &timeline), waited);
  drm_syncobj_array array = {};
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_SIGNAL, &array), -EINVAL);
  EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_RESET, &array), -EINVAL);
}

}  // namespace
}  // namespace heddle::uapi
