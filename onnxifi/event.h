// SPDX-License-Identifier: Apache-2.0
// An onnxEvent: signalled once, waited for by any number of threads and by
// runs.
//
// The output event of a run carries its result. Once the device is gone, every
// query returns BACKEND_UNAVAILABLE. Waiting threads sleep on a condition
// variable; releasing the event wakes them with INVALID_EVENT.
#ifndef HEDDLE_ONNXIFI_EVENT_H_
#define HEDDLE_ONNXIFI_EVENT_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "onnxifi/backend_state.h"
#include "onnxifi/include/heddle/onnxifi.h"

namespace heddle::onnxifi {

struct Run;

// What a run makes. The engine sets the shapes before the output event is
// signalled.
struct RunOutputs {
  std::vector<std::string> names;
  std::vector<compiler::Shape> shapes;
};

// Why a run failed: a literal, or a text that was made where memory may fail.
struct RunMessage {
  RunMessage(const char* literal = "") : text(literal) {}  // NOLINT
  absl::string_view view() const {
    return detail.empty() ? absl::string_view(text) : detail;
  }
  const char* text;
  std::string detail;
};

class Event {
 public:
  explicit Event(std::shared_ptr<BackendState> backend)
      : backend_(std::move(backend)) {
    backend_->CountEvent(1);
  }
  ~Event() { backend_->CountEvent(-1); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  BackendState* backend() const { return backend_.get(); }

  // From now on the event hears of the device's removal.
  void Link() noexcept;

  // The functions of the interface.
  onnxStatus Signal() noexcept;
  onnxStatus GetState(onnxEventState* state) noexcept;
  onnxStatus Wait() noexcept;
  // Waits `timeout_ms` (0: for ever). Stores the state, and of a signalled
  // event how the run ended and why (`message`: NUL-terminated, of
  // *message_length bytes in and characters out).
  onnxStatus WaitFor(uint32_t timeout_ms, onnxEventState* state,
                     onnxStatus* run_status, char* message,
                     size_t* message_length) noexcept;
  // It is to be signalled as the end of a run that makes these.
  void SetOutputs(std::shared_ptr<const RunOutputs> outputs) noexcept;
  // The shape of an output of the run. *dimensions is the room of `shape` and
  // becomes the number of dimensions. FALLBACK: that is more. INVALID_STATE: it
  // is no run's end, or the run has not ended well yet.
  onnxStatus OutputShape(const char* name, uint32_t* dimensions,
                         uint64_t* shape) noexcept;
  // The handle is gone: waiting threads return, runs that wait for this event
  // end with INTERNAL_ERROR.
  void Release() noexcept;

  // ---- With the backend's mutex held
  // -----------------------------------------

  // Signals it as the end of a run. Without effect if it is signalled.
  void CompleteLocked(onnxStatus code, RunMessage message) noexcept;
  // Adds a run that begins when the event is signalled; takes ownership.
  void AddWaitingLocked(Run* run) noexcept;
  void DeviceGoneLocked() noexcept;
  bool signalled() const { return signalled_; }
  bool released() const { return released_; }
  onnxStatus result() const { return result_; }

  // Of BackendState.
  Event* next = nullptr;
  Event* previous = nullptr;
  bool linked = false;

 private:
  // Why a waiting thread may go on; SUCCESS if signalled.
  onnxStatus ReasonLocked() const;
  void StartWaitingLocked() noexcept;
  void FailWaitingLocked(onnxStatus code, const char* why) noexcept;

  const std::shared_ptr<BackendState> backend_;
  // All guarded by the backend's mutex.
  std::condition_variable changed_;
  bool signalled_ = false;
  bool released_ = false;
  onnxStatus result_ = ONNXIFI_STATUS_SUCCESS;
  RunMessage message_;
  std::shared_ptr<const RunOutputs> outputs_;
  Run* waiting_first_ = nullptr;
  Run* waiting_last_ = nullptr;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_EVENT_H_
