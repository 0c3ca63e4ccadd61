// SPDX-License-Identifier: Apache-2.0
// Events without runs.
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

using std::chrono::milliseconds;

void EventNull(Context& t) {
  t.Expect(t.lib().InitEvent(t.backend(), nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxInitEvent without a place for the event");
}

void States(Context& t) {
  const onnxEvent event = t.NewEvent();
  t.Check(t.StateOf(event) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "a new event is not NONSIGNALLED");
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  t.Check(t.StateOf(event) == ONNXIFI_EVENT_STATE_SIGNALLED,
          "an event is not SIGNALLED after onnxSignalEvent");
}

void SignalTwice(Context& t) {
  const onnxEvent event = t.NewEvent();
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  for (int i = 0; i < 2; ++i) {
    t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_INVALID_STATE},
             "onnxSignalEvent of a signalled event");
    t.Check(t.StateOf(event) == ONNXIFI_EVENT_STATE_SIGNALLED,
            "a second onnxSignalEvent has changed the state");
  }
}

void StateNull(Context& t) {
  t.Expect(t.lib().GetEventState(t.NewEvent(), nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxGetEventState without a place for the state");
}

void WaitSignalled(Context& t) {
  const onnxEvent event = t.NewEvent();
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  for (int i = 0; i < 3; ++i) {
    t.Expect(t.lib().WaitEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent for a signalled event");
  }
}

void NeedThreads(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
}

void WaitBlocks(Context& t) {
  NeedThreads(t);
  const onnxEvent event = t.NewEvent();
  constexpr int kWaiters = 4;
  std::atomic<int> back{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&] {
      t.Expect(t.lib().WaitEvent(event), {ONNXIFI_STATUS_SUCCESS},
               "onnxWaitEvent");
      ++back;
    });
  }
  std::this_thread::sleep_for(milliseconds(60));
  t.Check(back == 0, "onnxWaitEvent returned before the event was signalled");
  t.Check(t.StateOf(event) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "an event that is waited for is not NONSIGNALLED");
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  for (std::thread& waiter : waiters) waiter.join();  // or the case hangs
  t.Check(back == kWaiters, "not all waiters came back");
}

void WaitSleeps(Context& t) {
  NeedThreads(t);
  const onnxEvent event = t.NewEvent();
  double cpu = 0;
  std::thread waiter([&] {
    timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    t.Expect(t.lib().WaitEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    cpu = static_cast<double>(after.tv_sec - before.tv_sec) +
          static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9;
  });
  std::this_thread::sleep_for(milliseconds(300));
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  waiter.join();
  t.Rule(cpu < 0.005, absl::StrCat("waiting 0.3 s for an event took ", cpu,
                                   " s of a processor"));
}

void SignalRace(Context& t) {
  NeedThreads(t);
  for (int round = 0; round < 50 && !t.failed(); ++round) {
    const onnxEvent event = t.NewEvent();
    std::atomic<int> first{0}, later{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const onnxStatus status = t.lib().SignalEvent(event);
        if (status == ONNXIFI_STATUS_SUCCESS) ++first;
        if (status == ONNXIFI_STATUS_INVALID_STATE) ++later;
      });
    }
    for (std::thread& thread : threads) thread.join();
    t.Check(first == 1 && later == 3,
            absl::StrCat("of 4 threads that signal an event ", first.load(),
                         " succeeded and ", later.load(),
                         " found it already signalled"));
  }
}

void ReleaseUnsignalled(Context& t) {
  const onnxEvent event = t.NewEvent();
  t.Expect(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent of an event that was never signalled");
  t.ForgetEvent(event);
}

void ReleaseWakes(Context& t) {
  NeedThreads(t);
  const onnxEvent event = t.NewEvent();
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  std::thread waiter([&] { status = t.lib().WaitEvent(event); });
  std::this_thread::sleep_for(milliseconds(50));
  t.ExpectRule(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseEvent of an event that is waited for");
  t.ForgetEvent(event);
  waiter.join();
  t.ExpectRule(status, {ONNXIFI_STATUS_INVALID_EVENT},
               "onnxWaitEvent for an event that is released meanwhile");
}

void Many(Context& t) {
  std::vector<onnxEvent> events;
  for (int i = 0; i < 1000; ++i) events.push_back(t.NewEvent());
  for (size_t i = 1; i < events.size(); ++i) {
    t.Check(events[i] != events[i - 1], "two events are one handle");
  }
  t.Expect(t.lib().SignalEvent(events[500]), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  for (const size_t i : {0, 499, 501, 999}) {
    t.Check(t.StateOf(events[i]) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
            "signalling an event has changed another one");
  }
}

}  // namespace

std::vector<Case> EventCases() {
  return {
      {"events.event_null", "event NULL is INVALID_POINTER", EventNull},
      {"events.states", "an event is NONSIGNALLED until it is signalled",
       States},
      {"events.signal_twice", "signalling again is INVALID_STATE", SignalTwice},
      {"events.state_null", "state NULL is INVALID_POINTER", StateNull},
      {"events.wait_signalled", "waiting for a signalled event returns at once",
       WaitSignalled},
      {"events.wait_blocks", "every waiter returns when the event is signalled",
       WaitBlocks},
      {"events.wait_sleeps", "waiting uses no CPU time", WaitSleeps, kRuleOnly},
      {"events.signal_race", "of many concurrent signals exactly one succeeds",
       SignalRace},
      {"events.release_unsignalled",
       "an event that was never signalled can be released", ReleaseUnsignalled},
      {"events.release_wakes",
       "releasing an event that is being waited for does no harm", ReleaseWakes,
       kRuleOnly},
      {"events.many", "a thousand events do not affect each other", Many},
  };
}

}  // namespace heddle::conformance
