// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/backend_state.h"

#include "onnxifi/event.h"
#include "onnxifi/run_queue.h"

namespace heddle::onnxifi {
namespace {

template <typename T>
void Link(T** head, T* item) {
  item->linked = true;
  item->previous = nullptr;
  item->next = *head;
  if (*head != nullptr) (*head)->previous = item;
  *head = item;
}

template <typename T>
void Unlink(T** head, T* item) {
  if (!item->linked) return;
  item->linked = false;
  (item->previous != nullptr ? item->previous->next : *head) = item->next;
  if (item->next != nullptr) item->next->previous = item->previous;
}

}  // namespace

void BackendState::MarkGone() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (gone() || closed_) return;
  gone_.store(true, std::memory_order_release);
  for (Event* event = events_; event != nullptr; event = event->next) {
    event->DeviceGoneLocked();
  }
  for (RunQueue* queue = queues_; queue != nullptr; queue = queue->next) {
    queue->WakeLocked();
  }
}

void BackendState::Close() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
}

bool BackendState::AddRunLocked() noexcept {
  if (runs_ == kMaxRuns) return false;
  ++runs_;
  return true;
}

void BackendState::RemoveInFlightLocked() noexcept {
  if (in_flight_-- < kMaxInFlight) return;
  // Whoever waits for a turn may be in any queue.
  for (RunQueue* queue = queues_; queue != nullptr; queue = queue->next) {
    queue->WakeLocked();
  }
}

void BackendState::LinkLocked(Event* event) noexcept { Link(&events_, event); }

void BackendState::UnlinkLocked(Event* event) noexcept {
  Unlink(&events_, event);
}

void BackendState::LinkLocked(RunQueue* queue) noexcept {
  Link(&queues_, queue);
}

void BackendState::UnlinkLocked(RunQueue* queue) noexcept {
  Unlink(&queues_, queue);
}

}  // namespace heddle::onnxifi
