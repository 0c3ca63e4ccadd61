// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/run_queue.h"

#include <exception>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {

using Lock = std::unique_lock<std::mutex>;

void RunQueue::List::PushBack(Run* run) {
  run->next = nullptr;
  (last != nullptr ? last->next : first) = run;
  last = run;
}

void RunQueue::List::PushFront(Run* run) {
  run->next = first;
  first = run;
  if (last == nullptr) last = run;
}

Run* RunQueue::List::PopFront() {
  Run* run = first;
  if (run == nullptr) return nullptr;
  first = std::exchange(run->next, nullptr);
  if (first == nullptr) last = nullptr;
  return run;
}

void RunQueue::Open() {
  thread_ = std::thread([self = shared_from_this()] { self->Loop(); });
  Lock lock(backend_->mutex());
  backend_->LinkLocked(this);
}

namespace {

// Whether the values of the inputs prevent a run.
bool IsOfData(const absl::Status& status) noexcept {
  try {
    return CodeOf(status) == ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

absl::Status RunQueue::Submit(std::unique_ptr<Run> owned) {
  Run* run = owned.get();
  run->queue = this;
  Lock lock(backend_->mutex());
  if (closing_) {
    return Fail(ONNXIFI_STATUS_INVALID_GRAPH, "the graph is being released");
  }
  if (backend_->gone()) {
    return Fail(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "the device is gone");
  }
  if (run->input != nullptr && run->input->released()) {
    return Fail(ONNXIFI_STATUS_INVALID_EVENT, "the input event was released");
  }
  if (!backend_->AddRunLocked()) {
    return Fail(ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
                absl::StrCat(BackendState::kMaxRuns,
                             " runs of this backend have not ended; wait for "
                             "one of them"));
  }
  backend_->LinkLocked(run->output.get());
  ++active_;
  owned.release();
  if (run->input != nullptr && !run->input->signalled()) {
    run->input->AddWaitingLocked(run);
    return absl::OkStatus();
  }
  if (run->input != nullptr && run->input->result() != ONNXIFI_STATUS_SUCCESS) {
    FinishLocked(run, run->input->result(),
                 "the run that produces the inputs failed");
    return absl::OkStatus();
  }
  if (ready_.first != nullptr || !CanStartLocked(*run)) {
    ReadyLocked(run);
    return absl::OkStatus();
  }
  AddInFlightLocked(run);
  lock.unlock();
  absl::Status status = Start(run);
  if (status.ok()) return status;
  if (IsOfData(status)) {
    // Not the call's fault: whoever waits for the run hears it, as if the
    // inputs had become ready later.
    Done(run, status);
    return absl::OkStatus();
  }
  lock.lock();
  RemoveInFlightLocked(run);
  if (absl::IsResourceExhausted(status) && in_flight_count_ > 0) {
    stalled_ = true;
    ready_.PushFront(run);
    changed_.notify_all();
    return absl::OkStatus();
  }
  --active_;
  backend_->RemoveRunLocked();
  backend_->UnlinkLocked(run->output.get());
  changed_.notify_all();
  lock.unlock();
  delete run;
  return status;
}

void RunQueue::WaitIdle() noexcept {
  Lock lock(backend_->mutex());
  changed_.wait(lock, [this] {
    return in_flight_count_ == 0 && finished_.first == nullptr && !deleting_;
  });
}

void RunQueue::Close() noexcept {
  Lock lock(backend_->mutex());
  closing_ = true;
  changed_.wait(lock, [this] { return active_ == 0; });
  stopping_ = true;
  changed_.notify_all();
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  lock.lock();
  backend_->UnlinkLocked(this);
}

void RunQueue::ReadyLocked(Run* run) noexcept {
  ready_.PushBack(run);
  changed_.notify_all();
}

void RunQueue::FinishLocked(Run* run, onnxStatus code,
                            RunMessage message) noexcept {
  if (RemoveInFlightLocked(run)) stalled_ = false;
  run->trace.Publish();
  run->output->CompleteLocked(code, std::move(message));
  finished_.PushBack(run);
  --active_;
  backend_->RemoveRunLocked();
  changed_.notify_all();
}

bool RunQueue::CanStartLocked(const Run& run) const {
  if (stalled_ || in_flight_count_ == kMaxInFlight ||
      !backend_->MayBeginLocked()) {
    return false;
  }
  for (const Run* other : in_flight_) {
    if (other != nullptr && other->binding == run.binding) return false;
  }
  return true;
}

void RunQueue::AddInFlightLocked(Run* run) noexcept {
  for (Run*& slot : in_flight_) {
    if (slot != nullptr) continue;
    slot = run;
    ++in_flight_count_;
    backend_->AddInFlightLocked();
    return;
  }
}

bool RunQueue::RemoveInFlightLocked(Run* run) noexcept {
  for (Run*& slot : in_flight_) {
    if (slot != run) continue;
    slot = nullptr;
    --in_flight_count_;
    backend_->RemoveInFlightLocked();
    return true;
  }
  return false;
}

absl::Status RunQueue::Start(Run* run) noexcept {
  // Returning a status may need memory too, hence no handler inside a handler.
  try {
    try {
      run->trace.Begin();
      Log(log_level_, LogLevel::kDebug, "a run begins");
      return run->binding->program->Start(
          run->binding->inputs, run->binding->outputs, &run->outputs->shapes,
          [self = shared_from_this(), run](const absl::Status& status) {
            self->Done(run, status);
          });
    } catch (const std::bad_alloc&) {
      return Fail(ONNXIFI_STATUS_NO_SYSTEM_MEMORY, "out of memory");
    } catch (const std::exception& error) {
      return absl::InternalError(error.what());
    }
  } catch (...) {
    return NoMemory();
  }
}

void RunQueue::Done(Run* run, const absl::Status& status) noexcept {
  onnxStatus code = ONNXIFI_STATUS_SUCCESS;
  RunMessage message;
  if (!status.ok()) {
    try {
      code = CodeOf(status);
      message.detail = std::string(status.message());
    } catch (...) {
      code = ONNXIFI_STATUS_INTERNAL_ERROR;
      message.text =
          "the run failed, and memory ran out before its message could be "
          "stored";
    }
  }
  if (code != ONNXIFI_STATUS_SUCCESS) {
    Log(log_level_, LogLevel::kError, message.view(), "a run failed: ");
  } else {
    Log(log_level_, LogLevel::kDebug, "a run has ended");
  }
  Lock lock(backend_->mutex());
  if (backend_->gone() && code != ONNXIFI_STATUS_SUCCESS) {
    code = ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  }
  FinishLocked(run, code, std::move(message));
}

bool RunQueue::StepLocked(Lock* lock) noexcept {
  if (Run* run = finished_.PopFront()) {
    deleting_ = true;
    lock->unlock();
    delete run;
    lock->lock();
    deleting_ = false;
    changed_.notify_all();
    return true;
  }
  Run* run = ready_.first;
  if (run == nullptr) return false;
  if (backend_->gone()) {
    ready_.PopFront();
    FinishLocked(run, ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "device gone");
    return true;
  }
  if (!CanStartLocked(*run)) return false;
  ready_.PopFront();
  AddInFlightLocked(run);
  lock->unlock();
  const absl::Status status = Start(run);
  lock->lock();
  if (status.ok()) return true;
  if (absl::IsResourceExhausted(status) && in_flight_count_ > 1) {
    RemoveInFlightLocked(run);
    stalled_ = true;
    ready_.PushFront(run);
    return true;
  }
  lock->unlock();
  Done(run, status);
  lock->lock();
  return true;
}

void RunQueue::Loop() noexcept {
  Lock lock(backend_->mutex());
  while (true) {
    if (StepLocked(&lock)) continue;
    if (stopping_) return;
    changed_.wait(lock);
  }
}

}  // namespace heddle::onnxifi
