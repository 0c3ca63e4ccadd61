// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/run.h"

#include <errno.h>

#include <utility>

#include "runtime/hal/fork_guard.h"

namespace heddle::session {
namespace {

RunStatistics Convert(const drm_heddle_result& result,
                      const RunStatistics& copies) {
  RunStatistics s = copies;
  s.cycles = result.cycles;
  s.macs = result.macs;
  s.commands = result.commands;
  s.bytes_loaded = result.bytes_loaded;
  s.bytes_stored = result.bytes_stored;
  s.matrix_busy = result.matrix_busy;
  s.vector_busy = result.vector_busy;
  s.dma_busy = result.dma_busy;
  return s;
}

}  // namespace

void RunState::Begin() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  ended_ = false;
}

void RunState::Finish(const absl::Status& status,
                      const drm_heddle_result& result,
                      const RunStatistics& copies) noexcept {
  Finish(status, Convert(result, copies));
}

void RunState::Finish(const absl::Status& status,
                      const RunStatistics& statistics) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = status;
  statistics_ = statistics;
  ended_ = true;
  changed_.notify_all();
}

absl::Status RunState::Wait(absl::Time deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ended = [this] { return ended_; };
  if (deadline == absl::InfiniteFuture()) {
    changed_.wait(lock, ended);
  } else if (!changed_.wait_until(lock, absl::ToChronoTime(deadline), ended)) {
    return absl::DeadlineExceededError(
        "the inference has not finished by the given time; it continues");
  }
  return status_;
}

bool RunState::ended() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ended_;
}

RunStatistics RunState::statistics() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return statistics_;
}

RunHandle::RunHandle(std::shared_ptr<DeviceCore> core,
                     std::shared_ptr<RunState> state,
                     std::unique_ptr<const TraceReader> trace)
    : core_(std::move(core)),
      state_(std::move(state)),
      trace_(std::move(trace)) {}

RunHandle::~RunHandle() {
  if (core_->forked()) {
    // Its lock may be held by a thread that does not exist here.
    hal::Abandon(std::move(state_));
    return;
  }
  if (!core_->OnCompletionThread()) {
    state_->Wait(absl::InfiniteFuture()).IgnoreError();
  }
}

absl::Status RunHandle::Wait(absl::Time deadline) {
  if (core_->forked()) {
    return hal::FromErrno("waiting for an inference", ECHILD);
  }
  if (core_->OnCompletionThread() && !state_->ended()) {
    return absl::FailedPreconditionError(
        "a callback of the runtime cannot wait for another inference of the "
        "same device");
  }
  return state_->Wait(deadline);
}

RunStatistics RunHandle::statistics() const {
  return core_->forked() ? RunStatistics() : state_->statistics();
}

absl::StatusOr<RunTrace> RunHandle::trace() const {
  if (core_->forked()) {
    return hal::FromErrno("reading the trace of an inference", ECHILD);
  }
  if (trace_ == nullptr) {
    return absl::FailedPreconditionError(
        "the inference was not traced: start it with RunOptions.trace");
  }
  if (!state_->ended()) {
    return absl::FailedPreconditionError(
        "the trace is available once the inference has ended: Wait() for it");
  }
  return trace_->Read();
}

}  // namespace heddle::session
