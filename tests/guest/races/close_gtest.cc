// SPDX-License-Identifier: Apache-2.0
// A context is destroyed while the card works on its first jobs and the others
// are queued behind them. What that leaves behind the caller sees when it
// removes the module. The driver that this runs on has slow_close.patch.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/uapi/calls.h"

namespace heddle::uapi {
namespace {

TEST(CloseTest, WithJobsBehindOneThatRuns) {
  // Two gigabytes of stores each: the card's first are not done soon.
  constexpr uint64_t kBytes = 128 << 20;
  constexpr int kSteps = 16, kJobs = 8;
  std::chrono::steady_clock::duration longest = {};
  int error = 0;
  const auto c = Driver::Get().Open(&error);
  ASSERT_NE(c, nullptr) << error;
  const uint32_t buffer = NewDevice(c.get(), kBytes);
  // Jobs wait for the memory to be zeroed, and then for nothing.
  const uint32_t first = NewContext(c.get());
  uint64_t seqno;
  drm_heddle_result result;
  ASSERT_EQ(Submit(c.get(), first, {Fill(buffer, kPage, 1)}, &seqno), 0);
  ASSERT_EQ(Wait(c.get(), first, seqno, InMs(60000), &result), 0);
  for (int round = 0; round < 3; ++round) {
    const uint32_t context = NewContext(c.get());
    for (int i = 0; i < kJobs; ++i) {
      const std::vector<drm_heddle_step> steps(kSteps, Fill(buffer, kBytes, i));
      ASSERT_EQ(Submit(c.get(), context, steps, &seqno), 0);
    }
    usleep(20000);  // the card is at the first by now
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(DestroyContext(c.get(), context), 0);
    longest = std::max(longest, std::chrono::steady_clock::now() - begin);
  }
  // The patch's pause, without which this has shown nothing.
  EXPECT_GT(longest, std::chrono::milliseconds(400));
}

}  // namespace
}  // namespace heddle::uapi
