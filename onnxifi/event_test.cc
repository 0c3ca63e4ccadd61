// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

using EventTest = OnnxifiTest;
using std::chrono::milliseconds;

TEST_F(EventTest, SignalledOnce) {
  onnxEvent event = MakeEvent();
  onnxEventState state = 1;
  EXPECT_OK(onnxGetEventState(event, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_NONSIGNALLED);
  EXPECT_OK(onnxSignalEvent(event));
  EXPECT_OK(onnxGetEventState(event, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE, onnxSignalEvent(event));
  EXPECT_OK(onnxGetEventState(event, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_OK(onnxWaitEvent(event));
  EXPECT_OK(onnxWaitEvent(event));
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT, onnxReleaseEvent(event));
}

TEST_F(EventTest, Pointers) {
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxInitEvent(backend_, nullptr));
  onnxEvent event = &event;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_BACKEND, onnxInitEvent(id_, &event));
  EXPECT_EQ(event, nullptr);
  event = MakeEvent();
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetEventState(event, nullptr));
  onnxEventState state = 7;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                onnxGetEventState(backend_, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_INVALID);
  EXPECT_OK(onnxReleaseEvent(event));
}

TEST_F(EventTest, WakesAllWaitersWithoutSpinning) {
  onnxEvent event = MakeEvent();
  std::atomic<int> awake{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      EXPECT_OK(onnxWaitEvent(event));
      ++awake;
    });
  }
  timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(milliseconds(100));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  EXPECT_EQ(awake, 0);
  const double used =
      (after.tv_sec - before.tv_sec) + (after.tv_nsec - before.tv_nsec) * 1e-9;
  EXPECT_LT(used, 0.05);  // eight spinning threads would use 0.1 and more
  EXPECT_OK(onnxSignalEvent(event));
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(awake, 8);
  EXPECT_OK(onnxReleaseEvent(event));
}

TEST_F(EventTest, OneOfManySignallersWins) {
  for (int round = 0; round < 50; ++round) {
    onnxEvent event = MakeEvent();
    std::atomic<int> won{0}, late{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const onnxStatus status = onnxSignalEvent(event);
        won += status == ONNXIFI_STATUS_SUCCESS;
        late += status == ONNXIFI_STATUS_INVALID_STATE;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(late, 3);
    EXPECT_OK(onnxReleaseEvent(event));
  }
}

TEST_F(EventTest, ReleaseWakesWaiters) {
  onnxEvent event = MakeEvent();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT, onnxWaitEvent(event));
    });
  }
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_OK(onnxReleaseEvent(event));
  for (auto& thread : threads) thread.join();
}

TEST_F(EventTest, ManyEvents) {
  for (int i = 0; i < 100000; ++i) {
    onnxEvent event = nullptr;
    ASSERT_OK(onnxInitEvent(backend_, &event));
    ASSERT_OK(onnxReleaseEvent(event));
  }
}

}  // namespace
}  // namespace heddle::onnxifi
