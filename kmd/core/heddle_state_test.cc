// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_state.h"
}
#include <errno.h>

#include "gtest/gtest.h"

namespace {

TEST(HeddleState, FollowsTheTableAndNothingElse) {
  struct {
    heddle_device_state from;
    heddle_device_event event;
    heddle_device_state to;
  } const legal[] = {
      {HEDDLE_DEVICE_PROBING, HEDDLE_DEVICE_PROBED, HEDDLE_DEVICE_READY},
      {HEDDLE_DEVICE_READY, HEDDLE_DEVICE_HANG, HEDDLE_DEVICE_ABORTING},
      {HEDDLE_DEVICE_READY, HEDDLE_DEVICE_COMPACT, HEDDLE_DEVICE_COMPACTING},
      {HEDDLE_DEVICE_ABORTING, HEDDLE_DEVICE_ABORTED, HEDDLE_DEVICE_READY},
      {HEDDLE_DEVICE_ABORTING, HEDDLE_DEVICE_STUCK, HEDDLE_DEVICE_RESETTING},
      {HEDDLE_DEVICE_RESETTING, HEDDLE_DEVICE_RESET_DONE, HEDDLE_DEVICE_READY},
      {HEDDLE_DEVICE_COMPACTING, HEDDLE_DEVICE_COMPACTED, HEDDLE_DEVICE_READY},
  };
  for (int s = 0; s < HEDDLE_DEVICE_STATES; ++s) {
    for (int e = 0; e < HEDDLE_DEVICE_EVENTS; ++e) {
      auto state = static_cast<heddle_device_state>(s);
      int want = -1;
      for (const auto& l : legal) {
        if (l.from == s && l.event == e) want = l.to;
      }
      // A card can go at any time, once.
      if (e == HEDDLE_DEVICE_LOST && s != HEDDLE_DEVICE_REMOVED)
        want = HEDDLE_DEVICE_REMOVED;
      EXPECT_EQ(heddle_device_step(&state, static_cast<heddle_device_event>(e)),
                want < 0 ? -EINVAL : 0)
          << s << " " << e;
      EXPECT_EQ(state, want < 0 ? s : want);
    }
    EXPECT_EQ(heddle_device_accepts_jobs(static_cast<heddle_device_state>(s)),
              s == HEDDLE_DEVICE_READY);
    EXPECT_EQ(heddle_device_gone(static_cast<heddle_device_state>(s)),
              s == HEDDLE_DEVICE_REMOVED);
  }
}

}  // namespace
