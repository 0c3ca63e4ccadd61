// SPDX-License-Identifier: Apache-2.0
// WAIT never says that a job succeeded which never ran: threads wait for the
// jobs of a context that is destroyed before most of them start. The driver
// that this runs on has slow_end.patch, which gives a wrong WAIT the time to be
// seen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "tests/uapi/calls.h"
#include "tests/uapi/streams.h"

namespace heddle::uapi {
namespace {

TEST(WaitTest, KnowsWhatNeverRan) {
  // Each starts 200 ms after the one before it: the last half has seconds.
  constexpr int kJobs = 32;
  int error = 0;
  const auto c = Driver::Get().Open(&error);
  ASSERT_NE(c, nullptr) << error;
  const uint32_t context = NewContext(c.get());
  const uint32_t buffer = NewDevice(c.get(), kPage);
  uint64_t seqnos[kJobs];
  for (uint64_t& seqno : seqnos) {
    ASSERT_EQ(Submit(c.get(), context, {Fill(buffer, kPage, 1)}, &seqno), 0);
  }
  drm_heddle_result results[kJobs] = {};
  int answers[kJobs];
  std::vector<std::thread> waiters;
  for (int i = 0; i < kJobs; ++i) {
    waiters.emplace_back([&, i] {
      answers[i] = Wait(c.get(), context, seqnos[i], InMs(60000), &results[i]);
    });
  }
  usleep(100000);  // most of them sleep in WAIT by now
  ASSERT_EQ(DestroyContext(c.get(), context), 0);
  for (std::thread& waiter : waiters) waiter.join();
  int cancelled = 0;
  for (int i = kJobs / 2; i < kJobs; ++i) {
    if (answers[i] == -ENOENT) continue;  // it came too late
    EXPECT_EQ(answers[i], 0) << "job " << i;
    EXPECT_EQ(results[i].error, ECANCELED) << "job " << i;
    ++cancelled;
  }
  EXPECT_GT(cancelled, 0) << "nobody waited";
}

}  // namespace
}  // namespace heddle::uapi
