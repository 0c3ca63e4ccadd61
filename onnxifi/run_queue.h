// SPDX-License-Identifier: Apache-2.0
// The runs of one graph, from onnxRunGraph to the signal of the output event.
//
//   waiting    the input event is not signalled; owned by that event
//   ready      in the order in which inputs became ready; owned by the queue
//   in flight  begun; the engine will call back
//   finished   the output event is signalled; the queue's thread deletes it
//
// A run begins on the thread of onnxRunGraph if nothing blocks it, else on the
// queue's thread. Two runs with the same input and output locations never
// overlap. Only the queue's thread deletes runs, because that may unload a
// program, which must not happen on a thread of the engine.
#ifndef HEDDLE_ONNXIFI_RUN_QUEUE_H_
#define HEDDLE_ONNXIFI_RUN_QUEUE_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "onnxifi/backend_state.h"
#include "onnxifi/engine.h"
#include "onnxifi/event.h"
#include "onnxifi/log.h"
#include "onnxifi/trace.h"

namespace heddle::onnxifi {

// What onnxSetGraphIO sets. Never changes afterwards.
struct Binding {
  std::shared_ptr<EngineGraph> program;
  std::vector<EngineBuffer> inputs, outputs;
};

struct Run {
  RunQueue* queue = nullptr;  // lives as long as its runs
  std::shared_ptr<const Binding> binding;
  std::shared_ptr<Event> input;  // null: the inputs are ready
  std::shared_ptr<Event> output;
  std::shared_ptr<RunOutputs> outputs;  // the output event has them, too
  Trace trace;
  Run* next = nullptr;
};

class RunQueue : public std::enable_shared_from_this<RunQueue> {
 public:
  // Runs of different locations that may be in flight at a time.
  static constexpr int kMaxInFlight = 4;

  // Runs that fail are logged at `log_level`.
  RunQueue(std::shared_ptr<BackendState> backend, LogLevel log_level)
      : backend_(std::move(backend)), log_level_(log_level) {}
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Starts the thread. Throws std::system_error if there is none to be had.
  void Open();

  // Takes a run; never waits for another one. Its output event must not be
  // linked yet. After an error the run has left no trace.
  absl::Status Submit(std::unique_ptr<Run> run);

  // Waits until the runs that have begun are over and their programs dropped.
  void WaitIdle() noexcept;

  // Refuses further runs, waits for the end of all, and ends the thread.
  void Close() noexcept;

  // ---- With the backend's mutex held
  // -----------------------------------------

  // The inputs of a waiting run are ready. Takes ownership.
  void ReadyLocked(Run* run) noexcept;
  // Ends a run, wherever it is. Takes ownership.
  void FinishLocked(Run* run, onnxStatus code, RunMessage message) noexcept;
  void WakeLocked() noexcept { changed_.notify_all(); }

  // Of BackendState.
  RunQueue* next = nullptr;
  RunQueue* previous = nullptr;
  bool linked = false;

 private:
  struct List {
    void PushBack(Run* run);
    void PushFront(Run* run);
    Run* PopFront();
    Run* first = nullptr;
    Run* last = nullptr;
  };

  void Loop() noexcept;
  // With the mutex held; releases it meanwhile. False: nothing to do.
  bool StepLocked(std::unique_lock<std::mutex>* lock) noexcept;
  bool CanStartLocked(const Run& run) const;
  void AddInFlightLocked(Run* run) noexcept;
  bool RemoveInFlightLocked(Run* run) noexcept;
  // Without the mutex. Does not throw.
  absl::Status Start(Run* run) noexcept;
  void Done(Run* run, const absl::Status& status) noexcept;

  const std::shared_ptr<BackendState> backend_;
  const LogLevel log_level_;
  std::thread thread_;
  // All guarded by the backend's mutex.
  std::condition_variable changed_;
  List ready_, finished_;
  std::array<Run*, kMaxInFlight> in_flight_{};
  int in_flight_count_ = 0;
  int active_ = 0;  // waiting, ready or in flight
  bool deleting_ = false;
  // Device memory was short: nothing begins before a run has ended.
  bool stalled_ = false;
  bool closing_ = false;
  bool stopping_ = false;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_RUN_QUEUE_H_
