// SPDX-License-Identifier: Apache-2.0
// onnxGetExtensionFunctionAddress, and the extension functions themselves where
// the mutant breaks one of them: extensions_run_*, foxi_*.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onnxifi/conformance/mutant/real.h"

namespace onnxifi_mutant {
namespace {

template <typename Function>
Function As(onnxExtensionFunctionPointer function) {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function));
}

template <typename Function>
onnxExtensionFunctionPointer Erased(Function* function) {
  return reinterpret_cast<onnxExtensionFunctionPointer>(
      reinterpret_cast<void (*)()>(function));
}

// Of foxi's headers.
struct TraceEvent {
  char name[33];
  char type;
  uint64_t timestamp;
  uint32_t thread;
  uint64_t duration;
};
struct TraceList {
  uint64_t count;
  TraceEvent** events;
};

using Run = onnxStatus (*)(onnxGraph, uint32_t, const onnxTensorDescriptorV1*,
                           uint32_t, const onnxTensorDescriptorV1*,
                           onnxMemoryFenceV1*);
using TracedRun = onnxStatus (*)(onnxGraph, uint32_t,
                                 const onnxTensorDescriptorV1*, uint32_t,
                                 const onnxTensorDescriptorV1*,
                                 onnxMemoryFenceV1*, TraceList*);
using ReleaseTrace = onnxStatus (*)(TraceList*);
using WaitFor = onnxStatus (*)(onnxEvent, uint32_t, onnxEventState*,
                               onnxStatus*, char*, size_t*);
using GetBatchSize = onnxStatus (*)(int64_t*);
using SetOption = onnxStatus (*)(const char*, const char*);
using GetOption = onnxStatus (*)(const char*, char*, size_t*);

// The library's own functions; of the device that was asked last.
struct Own {
  Run run;
  TracedRun traced_run;
  ReleaseTrace release_trace;
  WaitFor wait_for;
  GetBatchSize get_batch_size;
  SetOption set_option;
  GetOption get_option;
} own;

// A bit of the first output, when the run has ended.
void Spoil(onnxEvent event, const onnxTensorDescriptorV1* out) {
  Discard(TheReal().WaitEvent(event));
  const Range range = Memory(out, 1)[0];
  range.at[range.bytes - 1] ^= 1;
}

onnxStatus MutantRun(onnxGraph graph, uint32_t inputs,
                     const onnxTensorDescriptorV1* in, uint32_t outputs,
                     const onnxTensorDescriptorV1* out,
                     onnxMemoryFenceV1* fence) {
  const onnxStatus status = own.run(graph, inputs, in, outputs, out, fence);
  if (status == ONNXIFI_STATUS_SUCCESS && Is("extensions_run_is_wrong")) {
    Spoil(fence->event, out);
  }
  return Swapped("SetIOAndRunGraph", status);
}

onnxStatus MutantTracedRun(onnxGraph graph, uint32_t inputs,
                           const onnxTensorDescriptorV1* in, uint32_t outputs,
                           const onnxTensorDescriptorV1* out,
                           onnxMemoryFenceV1* fence, TraceList* list) {
  if (list == nullptr && Is("foxi_trace_needs_a_list")) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  const onnxStatus status =
      own.traced_run(graph, inputs, in, outputs, out, fence, list);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  if (Is("foxi_traced_run_is_wrong")) Spoil(fence->event, out);
  if (list == nullptr || !IsOneOf("foxi_trace")) return status;
  Discard(TheReal().WaitEvent(fence->event));
  if (list->count < 2) return status;
  TraceEvent* const first = list->events[0];
  if (Is("foxi_trace_goes_back")) {
    first->timestamp = list->events[1]->timestamp + 1;
  }
  if (Is("foxi_trace_has_other_types")) first->type = '?';
  if (Is("foxi_trace_name_has_no_end")) {
    std::memset(first->name, 'x', sizeof(first->name));
  }
  return status;
}

onnxStatus MutantReleaseTrace(TraceList* list) {
  return Swapped("ReleaseTraceEvents", own.release_trace(list));
}

onnxStatus MutantWaitFor(onnxEvent event, uint32_t milliseconds,
                         onnxEventState* state, onnxStatus* end, char* message,
                         size_t* length) {
  if (Is("foxi_wait_forgets_its_limit")) milliseconds = 0;
  if (Is("foxi_wait_without_limit_returns") && milliseconds == 0) {
    milliseconds = 1;
  }
  if (Is("foxi_wait_is_short")) {
    milliseconds = std::min(milliseconds, uint32_t{1});
  }
  const size_t room = length == nullptr ? 0 : *length;
  const onnxStatus status =
      own.wait_for(event, milliseconds, state, end, message, length);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    if (Is("foxi_wait_says_signalled")) *state = ONNXIFI_EVENT_STATE_SIGNALLED;
    if (*state == ONNXIFI_EVENT_STATE_SIGNALLED) {
      if (Is("foxi_wait_tells_no_success")) {
        *end = ONNXIFI_STATUS_INTERNAL_ERROR;
      }
      if (Is("foxi_wait_counts_the_end")) ++*length;
      if (Is("foxi_wait_writes_behind")) message[room] = '\0';
    }
  }
  return Swapped("WaitEventFor", status);
}

onnxStatus MutantGetBatchSize(int64_t* size) {
  const onnxStatus status = own.get_batch_size(size);
  if (size != nullptr && Is("foxi_batch_size_is_stored")) *size = 1;
  return Swapped("GetCurrentBatchSize", status);
}

onnxStatus MutantSetOption(const char* name, const char* value) {
  return Swapped("SetOption", own.set_option(name, value));
}

onnxStatus MutantGetOption(const char* name, char* value, size_t* length) {
  static int calls = 0;
  const onnxStatus status = own.get_option(name, value, length);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    if (Is("foxi_options_count_the_end")) ++*length;
    if (Is("foxi_options_change") && *length > 0) {
      value[0] = static_cast<char>(value[0] + ++calls);
    }
  }
  return Swapped("GetOption", status);
}

// Puts a function of the mutant before that of the library, which is kept.
template <typename Function>
void Wrap(Function* kept, Function mutant,
          onnxExtensionFunctionPointer* function) {
  *kept = As<Function>(*function);
  *function = Erased(mutant);
}

void Wrap(const std::string& name, onnxExtensionFunctionPointer* function) {
  // Its six arguments are those of ONNX's header.
  if (name == "onnxSetIOAndRunGraph") Wrap(&own.run, &MutantRun, function);
  if (name == "onnxSetIOAndRunGraphFunction") {
    Wrap(&own.traced_run, &MutantTracedRun, function);
  }
  const auto is = [&name](const char* one) {
    return name == one || name == std::string(one) + "Function";
  };
  if (is("onnxReleaseTraceEvents")) {
    Wrap(&own.release_trace, &MutantReleaseTrace, function);
  }
  if (is("onnxWaitEventFor")) Wrap(&own.wait_for, &MutantWaitFor, function);
  if (is("onnxGetCurrentBatchSize")) {
    Wrap(&own.get_batch_size, &MutantGetBatchSize, function);
  }
  if (is("onnxSetOption")) Wrap(&own.set_option, &MutantSetOption, function);
  if (is("onnxGetOption")) Wrap(&own.get_option, &MutantGetOption, function);
}

}  // namespace
}  // namespace onnxifi_mutant

using namespace onnxifi_mutant;

extern "C" {

onnxStatus onnxGetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  if (TheReal().GetExtensionFunctionAddress == nullptr ||
      Is("extensions_never_resolve")) {
    if (function != nullptr) *function = nullptr;
    return ONNXIFI_STATUS_UNIDENTIFIED_NAME;
  }
  const onnxExtensionFunctionPointer before =
      function == nullptr ? nullptr : *function;
  const onnxStatus status =
      TheReal().GetExtensionFunctionAddress(IdOf(id), name, function);
  if (status != ONNXIFI_STATUS_SUCCESS && function != nullptr &&
      Is("extensions_function_is_kept")) {
    *function = before;
  }
  if (status == ONNXIFI_STATUS_SUCCESS &&
      (IsOneOf("foxi_") || IsOneOf("extensions_run_"))) {
    Wrap(name, function);
  }
  return Swapped("GetExtensionFunctionAddress", status);
}

}  // extern "C"
