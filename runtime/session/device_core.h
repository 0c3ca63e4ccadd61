// SPDX-License-Identifier: Apache-2.0
// State shared by all graphs of an open device: the driver context, the thread
// that completes jobs and calls back, and the thread that listens for removal
// of the card.
//
// After fork() the child may destroy a core (its threads and locks are left
// alone); everything else returns Unavailable.
#ifndef HEDDLE_RUNTIME_SESSION_DEVICE_CORE_H_
#define HEDDLE_RUNTIME_SESSION_DEVICE_CORE_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/hal/device.h"
#include "runtime/session/session.h"
#include "runtime/session/turn_line.h"

namespace heddle::session {

// The trace of a job. The job is queued in a context of its own, which goes
// when the trace has been read: the driver keeps what it knows of a job until
// then.
struct JobTrace {
  std::shared_ptr<hal::Context> context;
  std::vector<drm_heddle_trace_entry> entries;  // as many as there is room for
  uint32_t commands = 0;                        // of the job
  int error = 0;  // negative errno: the trace could not be read
};

class DeviceCore {
 public:
  // Jobs of one core in flight; the driver allows more.
  static constexpr size_t kMaxInFlight = kMaxRunsInFlight;

  // Called once from the completion thread: a negative errno of the driver, or
  // 0 with the job's result (which may be a failure too). Must not throw.
  using Finish = std::function<void(int error, const drm_heddle_result&)>;

  static absl::StatusOr<std::shared_ptr<DeviceCore>> Open(
      std::shared_ptr<hal::Device> device, DeviceDescription description,
      int priority);
  // Waits for the threads, which end at once. All jobs have ended: whoever
  // submits one keeps the core alive until it is finished.
  ~DeviceCore();
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  hal::Device& device() { return *device_; }
  hal::Context& context() { return *context_; }
  const DeviceDescription& description() const { return description_; }
  bool forked() const { return device_->forked(); }
  bool available() const;
  void OnRemoved(std::function<void()> callback);

  // Queues a job, without waiting: ResourceExhausted (device resources) while
  // kMaxInFlight are in flight. If this fails or throws, no job is queued and
  // `finish` is not called.
  // With `trace` (of MakeTrace) the job is traced; it is read before `finish`.
  absl::Status Submit(const std::vector<hal::Step>& steps, Finish finish,
                      std::shared_ptr<JobTrace> trace = nullptr);
  // With room for so many commands, at least 1; more than the driver traces of
  // a job are not traced.
  absl::StatusOr<std::shared_ptr<JobTrace>> MakeTrace(uint64_t commands);
  bool OnCompletionThread() const;
  // Of the device's resident tensors.
  TurnLine& turns() { return turns_; }

 private:
  struct State;
  DeviceCore(std::shared_ptr<hal::Device> device,
             std::shared_ptr<hal::Context> context,
             DeviceDescription description, uint32_t priority);
  // Starts the threads.
  absl::Status Start();
  // What the threads run. They need no memory.
  static void Complete(const std::shared_ptr<State>& state) noexcept;
  static void Listen(const std::shared_ptr<State>& state) noexcept;

  const DeviceDescription description_;
  const std::shared_ptr<hal::Device> device_;
  const std::shared_ptr<hal::Context> context_;
  const uint32_t priority_;
  TurnLine turns_;
  std::shared_ptr<State> state_;
  std::unique_ptr<std::thread> completer_, listener_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_DEVICE_CORE_H_
