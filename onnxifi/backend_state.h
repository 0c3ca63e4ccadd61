// SPDX-License-Identifier: Apache-2.0
// State shared by the events and run queues of one backend: one mutex for all
// of it, and whether the device is gone.
//
// The engine's threads hold this object, never the backend itself: the last
// reference to an open device must not be dropped on a thread of that device.
#ifndef HEDDLE_ONNXIFI_BACKEND_STATE_H_
#define HEDDLE_ONNXIFI_BACKEND_STATE_H_

#include <atomic>
#include <mutex>

#include "onnxifi/engine.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {

class Event;
class RunQueue;

class BackendState {
 public:
  explicit BackendState(LogLevel log_level = LogLevel::kWarning)
      : log_level_(log_level) {}
  // What of the backend's objects is logged.
  LogLevel log_level() const { return log_level_; }
  std::mutex& mutex() { return mutex_; }

  // Final. Wakes every waiting thread and ends every run that has not begun.
  // Does not allocate.
  void MarkGone() noexcept;
  // The device is closed, because nobody uses it any more: what the engine says
  // of it from now on is no removal, and events that are left stay usable.
  void Close() noexcept;
  bool gone() const { return gone_.load(std::memory_order_acquire); }

  // Runs of all graphs of the backend, from onnxRunGraph to their ends.
  static constexpr int kMaxRuns = 1024;
  // Of these, runs in flight. More wait for their turn.
  static constexpr int kMaxInFlight = EngineDevice::kMaxRuns;

  // Events that exist, so that a program that forgets to release them does not
  // use up the handles of other backends.
  static constexpr int kMaxEvents = 1 << 18;
  bool full_of_events() const { return events_count_.load() >= kMaxEvents; }
  void CountEvent(int change) noexcept { events_count_.fetch_add(change); }

  // With the mutex held.
  // False if there are kMaxRuns.
  bool AddRunLocked() noexcept;
  void RemoveRunLocked() noexcept { --runs_; }
  bool MayBeginLocked() const noexcept { return in_flight_ < kMaxInFlight; }
  void AddInFlightLocked() noexcept { ++in_flight_; }
  void RemoveInFlightLocked() noexcept;
  void LinkLocked(Event* event) noexcept;
  void UnlinkLocked(Event* event) noexcept;
  void LinkLocked(RunQueue* queue) noexcept;
  void UnlinkLocked(RunQueue* queue) noexcept;

 private:
  const LogLevel log_level_;
  std::mutex mutex_;
  std::atomic<bool> gone_{false};  // written with the mutex held
  std::atomic<int> events_count_{0};
  bool closed_ = false;
  int runs_ = 0, in_flight_ = 0;
  Event* events_ = nullptr;
  RunQueue* queues_ = nullptr;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_BACKEND_STATE_H_
