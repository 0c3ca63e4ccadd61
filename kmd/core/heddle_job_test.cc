// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_job.h"

#include "heddle_hw.h"
}
#include <errno.h>

#include "gtest/gtest.h"

namespace {

TEST(HeddleJob, FollowsTheTableAndNothingElse) {
  struct {
    heddle_job_state from;
    heddle_job_event event;
    heddle_job_state to;
  } const legal[] = {
      {HEDDLE_JOB_QUEUED, HEDDLE_JOB_START, HEDDLE_JOB_RUNNING},
      {HEDDLE_JOB_QUEUED, HEDDLE_JOB_CANCEL, HEDDLE_JOB_CANCELLED},
      {HEDDLE_JOB_QUEUED, HEDDLE_JOB_LOST, HEDDLE_JOB_CANCELLED},
      {HEDDLE_JOB_RUNNING, HEDDLE_JOB_COMPLETE, HEDDLE_JOB_DONE},
      {HEDDLE_JOB_RUNNING, HEDDLE_JOB_HANG, HEDDLE_JOB_GUILTY},
      {HEDDLE_JOB_RUNNING, HEDDLE_JOB_LOST, HEDDLE_JOB_CANCELLED},
  };
  for (int s = 0; s < HEDDLE_JOB_STATES; ++s) {
    for (int e = 0; e < HEDDLE_JOB_EVENTS; ++e) {
      auto state = static_cast<heddle_job_state>(s);
      int want = -1;
      for (const auto& l : legal) {
        if (l.from == s && l.event == e) want = l.to;
      }
      EXPECT_EQ(heddle_job_step(&state, static_cast<heddle_job_event>(e)),
                want < 0 ? -EINVAL : 0);
      EXPECT_EQ(state, want < 0 ? s : want);
    }
    EXPECT_EQ(heddle_job_ended(static_cast<heddle_job_state>(s)),
              s >= HEDDLE_JOB_DONE);
  }
  auto odd = static_cast<heddle_job_state>(HEDDLE_JOB_STATES);
  EXPECT_EQ(heddle_job_step(&odd, HEDDLE_JOB_START), -EINVAL);
}

TEST(HeddleJob, ReportsWhoEndedIt) {
  EXPECT_EQ(heddle_job_status(HEDDLE_JOB_DONE, HEDDLE_ERROR_OK, false),
            HEDDLE_ERROR_OK + 0u);
  EXPECT_EQ(
      heddle_job_status(HEDDLE_JOB_DONE, HEDDLE_ERROR_INDEX_BOUNDS, false),
      HEDDLE_ERROR_INDEX_BOUNDS + 0u);
  EXPECT_EQ(heddle_job_status(HEDDLE_JOB_DONE, 0xffffffff, false),
            HEDDLE_ERROR_BUS_ERROR + 0u);
  EXPECT_EQ(heddle_job_status(HEDDLE_JOB_GUILTY, HEDDLE_ERROR_ABORTED, false),
            HEDDLE_ERROR_TIMEOUT + 0u);
  EXPECT_EQ(heddle_job_status(HEDDLE_JOB_CANCELLED, 0, true),
            HEDDLE_ERROR_DEVICE_LOST + 0u);
  EXPECT_EQ(heddle_job_status(HEDDLE_JOB_CANCELLED, 0, false),
            HEDDLE_ERROR_ABORTED + 0u);
}

TEST(HeddleJob, NobodyMayHangLongerThanTheDriverAllows) {
  EXPECT_EQ(heddle_job_timeout(0, 1000), 1000u);
  EXPECT_EQ(heddle_job_timeout(1, 1000), 1u);
  EXPECT_EQ(heddle_job_timeout(999, 1000), 999u);
  EXPECT_EQ(heddle_job_timeout(1001, 1000), 1000u);
  EXPECT_EQ(heddle_job_timeout(~u64{0}, 1000), 1000u);
}

TEST(HeddleJob, MapsEveryStatusToAnErrno) {
  EXPECT_EQ(heddle_job_errno(HEDDLE_ERROR_OK), 0u);
  EXPECT_EQ(heddle_job_errno(HEDDLE_ERROR_TIMEOUT), ETIME + 0u);
  EXPECT_EQ(heddle_job_errno(HEDDLE_ERROR_DEVICE_LOST), ENODEV + 0u);
  for (u32 s = 1; s < 64; ++s) EXPECT_NE(heddle_job_errno(s), 0u) << s;
  EXPECT_EQ(heddle_job_errno(12345), EIO + 0u);
}

}  // namespace
