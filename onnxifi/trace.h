// SPDX-License-Identifier: Apache-2.0
// The timeline of one run for onnxSetIOAndRunGraphFunction: a begin and an end
// event. All memory is allocated before the run is accepted.
#ifndef HEDDLE_ONNXIFI_TRACE_H_
#define HEDDLE_ONNXIFI_TRACE_H_

#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace heddle::onnxifi {

class Trace {
 public:
  Trace() = default;
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Empties `list` and remembers it; it must live until the run has ended.
  // False: no memory.
  bool Prepare(onnxTraceEventList* list) noexcept;
  void Begin() noexcept;
  // Ends the run and hands the events to the list's owner.
  void Publish() noexcept;

 private:
  onnxTraceEventList* list_ = nullptr;
  onnxTraceEventList events_ = {0, nullptr};
};

// Frees a list that Publish filled, and empties it.
void FreeTraceEvents(onnxTraceEventList* list) noexcept;

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_TRACE_H_
