// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heddle::onnxifi {
namespace {

constexpr uint64_t kEvents = 2;

uint64_t NowMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Stamp(onnxTraceEvent* event, char type) {
  std::snprintf(event->eventName, sizeof(event->eventName), "heddle run");
  event->eventType = type;
  event->timestamp = NowMicroseconds();
  event->tid = static_cast<uint32_t>(syscall(SYS_gettid));
}

}  // namespace

Trace::~Trace() { FreeTraceEvents(&events_); }

bool Trace::Prepare(onnxTraceEventList* list) noexcept {
  *list = {0, nullptr};
  events_.traceEvents =
      static_cast<onnxTraceEvent**>(std::calloc(kEvents, sizeof(void*)));
  if (events_.traceEvents == nullptr) return false;
  for (; events_.numEvents < kEvents; ++events_.numEvents) {
    auto* event =
        static_cast<onnxTraceEvent*>(std::calloc(1, sizeof(onnxTraceEvent)));
    if (event == nullptr) return false;
    events_.traceEvents[events_.numEvents] = event;
  }
  list_ = list;
  return true;
}

void Trace::Begin() noexcept {
  if (list_ != nullptr) Stamp(events_.traceEvents[0], 'B');
}

void Trace::Publish() noexcept {
  if (list_ == nullptr) return;
  // A run that ended before it began has a span of no length.
  if (events_.traceEvents[0]->timestamp == 0) Begin();
  Stamp(events_.traceEvents[1], 'E');
  if (events_.traceEvents[1]->timestamp < events_.traceEvents[0]->timestamp) {
    events_.traceEvents[1]->timestamp = events_.traceEvents[0]->timestamp;
  }
  *std::exchange(list_, nullptr) = std::exchange(events_, {0, nullptr});
}

void FreeTraceEvents(onnxTraceEventList* list) noexcept {
  for (uint64_t i = 0; i < list->numEvents; ++i)
    std::free(list->traceEvents[i]);
  std::free(list->traceEvents);
  *list = {0, nullptr};
}

}  // namespace heddle::onnxifi
