// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/event.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "onnxifi/run_queue.h"

namespace heddle::onnxifi {

using Lock = std::unique_lock<std::mutex>;

void Event::Link() noexcept {
  Lock lock(backend_->mutex());
  backend_->LinkLocked(this);
}

onnxStatus Event::ReasonLocked() const {
  if (released_) return ONNXIFI_STATUS_INVALID_EVENT;
  if (backend_->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus Event::Signal() noexcept {
  Lock lock(backend_->mutex());
  const onnxStatus reason = ReasonLocked();
  if (reason != ONNXIFI_STATUS_SUCCESS) return reason;
  if (signalled_) return ONNXIFI_STATUS_INVALID_STATE;
  signalled_ = true;
  changed_.notify_all();
  StartWaitingLocked();
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus Event::GetState(onnxEventState* state) noexcept {
  Lock lock(backend_->mutex());
  const onnxStatus reason = ReasonLocked();
  if (reason == ONNXIFI_STATUS_SUCCESS) {
    *state = signalled_ ? ONNXIFI_EVENT_STATE_SIGNALLED
                        : ONNXIFI_EVENT_STATE_NONSIGNALLED;
  }
  return reason;
}

onnxStatus Event::Wait() noexcept {
  Lock lock(backend_->mutex());
  changed_.wait(lock, [this] {
    return signalled_ || ReasonLocked() != ONNXIFI_STATUS_SUCCESS;
  });
  const onnxStatus reason = ReasonLocked();
  if (reason != ONNXIFI_STATUS_SUCCESS) return reason;
  // WaitEvent has two codes for runs that failed.
  if (result_ == ONNXIFI_STATUS_SUCCESS ||
      result_ == ONNXIFI_STATUS_BACKEND_UNAVAILABLE) {
    return result_;
  }
  return ONNXIFI_STATUS_INTERNAL_ERROR;
}

onnxStatus Event::WaitFor(uint32_t timeout_ms, onnxEventState* state,
                          onnxStatus* run_status, char* message,
                          size_t* message_length) noexcept {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  Lock lock(backend_->mutex());
  const auto ready = [this] {
    return signalled_ || ReasonLocked() != ONNXIFI_STATUS_SUCCESS;
  };
  bool in_time = true;
  if (timeout_ms == 0) {
    changed_.wait(lock, ready);
  } else {
    in_time = changed_.wait_until(lock, end, ready);
  }
  const onnxStatus reason = ReasonLocked();
  if (reason != ONNXIFI_STATUS_SUCCESS) return reason;
  if (!in_time) {
    *state = ONNXIFI_EVENT_STATE_NONSIGNALLED;
    return ONNXIFI_STATUS_SUCCESS;
  }
  *state = ONNXIFI_EVENT_STATE_SIGNALLED;
  *run_status = result_;
  size_t length = 0;
  if (*message_length > 0) {
    const absl::string_view text = message_.view();
    length = std::min(text.size(), *message_length - 1);
    std::memcpy(message, text.data(), length);
    message[length] = '\0';
  }
  *message_length = length;
  return ONNXIFI_STATUS_SUCCESS;
}

void Event::SetOutputs(std::shared_ptr<const RunOutputs> outputs) noexcept {
  Lock lock(backend_->mutex());
  outputs_ = std::move(outputs);
}

onnxStatus Event::OutputShape(const char* name, uint32_t* dimensions,
                              uint64_t* shape) noexcept {
  Lock lock(backend_->mutex());
  const onnxStatus reason = ReasonLocked();
  if (reason != ONNXIFI_STATUS_SUCCESS) return reason;
  if (!signalled_ || outputs_ == nullptr || result_ != ONNXIFI_STATUS_SUCCESS) {
    return ONNXIFI_STATUS_INVALID_STATE;
  }
  const auto& names = outputs_->names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return ONNXIFI_STATUS_INVALID_NAME;
  const compiler::Shape& actual =
      outputs_->shapes[static_cast<size_t>(found - names.begin())];
  const uint32_t room =
      std::exchange(*dimensions, static_cast<uint32_t>(actual.size()));
  if (room < actual.size()) return ONNXIFI_STATUS_FALLBACK;
  for (size_t i = 0; i < actual.size(); ++i) {
    shape[i] = static_cast<uint64_t>(actual[i]);
  }
  return ONNXIFI_STATUS_SUCCESS;
}

void Event::Release() noexcept {
  Lock lock(backend_->mutex());
  released_ = true;
  backend_->UnlinkLocked(this);
  FailWaitingLocked(ONNXIFI_STATUS_INTERNAL_ERROR,
                    "input event released unsignalled");
  changed_.notify_all();
}

void Event::CompleteLocked(onnxStatus code, RunMessage message) noexcept {
  if (signalled_) return;
  signalled_ = true;
  result_ = code;
  message_ = std::move(message);
  changed_.notify_all();
  StartWaitingLocked();
}

void Event::AddWaitingLocked(Run* run) noexcept {
  run->next = nullptr;
  (waiting_last_ != nullptr ? waiting_last_->next : waiting_first_) = run;
  waiting_last_ = run;
}

void Event::DeviceGoneLocked() noexcept {
  FailWaitingLocked(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "device gone");
  changed_.notify_all();
}

void Event::StartWaitingLocked() noexcept {
  Run* run = std::exchange(waiting_first_, nullptr);
  waiting_last_ = nullptr;
  while (run != nullptr) {
    Run* next = std::exchange(run->next, nullptr);
    // Inputs made by a run that failed are not inputs.
    if (result_ == ONNXIFI_STATUS_SUCCESS) {
      run->queue->ReadyLocked(run);
    } else {
      run->queue->FinishLocked(run, result_,
                               "the run that produces the inputs failed");
    }
    run = next;
  }
}

void Event::FailWaitingLocked(onnxStatus code, const char* why) noexcept {
  Run* run = std::exchange(waiting_first_, nullptr);
  waiting_last_ = nullptr;
  while (run != nullptr) {
    Run* next = std::exchange(run->next, nullptr);
    run->queue->FinishLocked(run, code, why);
    run = next;
  }
}

}  // namespace heddle::onnxifi
