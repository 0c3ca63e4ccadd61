// SPDX-License-Identifier: Apache-2.0
// onnxGetExtensionFunctionAddress and the functions that it knows: ONNX's
// onnxSetIOAndRunGraph, and those that foxi's header adds to it.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "onnxifi/conformance/reference/interface.h"

namespace onnxifi_reference {
namespace {

// By way of void(), gcc's type of any function.
template <typename Function>
onnxExtensionFunctionPointer Extension(Function* function) {
  return reinterpret_cast<onnxExtensionFunctionPointer>(
      reinterpret_cast<void (*)()>(function));
}

onnxStatus RunAt(onnxGraph graph, uint32_t inputs_count,
                 const onnxTensorDescriptorV1* inputs, uint32_t outputs_count,
                 const onnxTensorDescriptorV1* outputs,
                 onnxMemoryFenceV1* output_fence, Timing timing) {
  const std::shared_ptr<Graph> object = Graphs().Find(graph);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  if (output_fence == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  if (object->backend->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  onnxStatus status = CheckFence(output_fence);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  output_fence->event = nullptr;
  status = onnxSetGraphIO(graph, inputs_count, inputs, outputs_count, outputs);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  return Guarded([&]() -> onnxStatus {
    auto locations = std::make_shared<Locations>();
    // Anew, so that no other thread's locations come between.
    const onnxStatus verdict = MakeLocations(
        *object, inputs_count, inputs, outputs_count, outputs, locations.get());
    if (verdict != ONNXIFI_STATUS_SUCCESS) return verdict;
    Event ready(object->backend->device, object->backend->generation);
    (void)ready.Signal();
    return StartWithEvent(object, std::move(locations), &ready, output_fence,
                          std::move(timing));
  });
}

onnxStatus SetIOAndRunGraph(onnxGraph graph, uint32_t inputs_count,
                            const onnxTensorDescriptorV1* inputs,
                            uint32_t outputs_count,
                            const onnxTensorDescriptorV1* outputs,
                            onnxMemoryFenceV1* output_fence) {
  return RunAt(graph, inputs_count, inputs, outputs_count, outputs,
               output_fence, nullptr);
}

#ifndef ONNXIFI_REFERENCE_ONNX1
uint64_t Microseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
}

onnxStatus ReleaseTraceEvents(onnxTraceEventList* list) {
  if (list == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  for (uint64_t i = 0; i < list->numEvents; ++i) delete list->traceEvents[i];
  delete[] list->traceEvents;
  *list = {};
  return ONNXIFI_STATUS_SUCCESS;
}

// A list of two: the computing begins ('B') and ends ('E'). The caller's list
// lives until the output event is signalled.
Timing MakeTrace(onnxTraceEventList* list) {
  *list = {};
  list->traceEvents = new onnxTraceEvent*[2];
  for (const char type : {'B', 'E'}) {
    auto* event = new onnxTraceEvent();
    std::strcpy(event->eventName, "run");
    event->eventType = type;
    event->timestamp = Microseconds();
    list->traceEvents[list->numEvents++] = event;
  }
  return [list](bool begins) {
    onnxTraceEvent* const event = list->traceEvents[begins ? 0 : 1];
    event->timestamp = Microseconds();
    event->tid = static_cast<uint32_t>(syscall(SYS_gettid));
  };
}

onnxStatus TracedSetIOAndRunGraph(onnxGraph graph, uint32_t inputs_count,
                                  const onnxTensorDescriptorV1* inputs,
                                  uint32_t outputs_count,
                                  const onnxTensorDescriptorV1* outputs,
                                  onnxMemoryFenceV1* output_fence,
                                  onnxTraceEventList* list) {
  const onnxStatus status = Guarded([&] {
    return RunAt(graph, inputs_count, inputs, outputs_count, outputs,
                 output_fence, list == nullptr ? nullptr : MakeTrace(list));
  });
  if (status != ONNXIFI_STATUS_SUCCESS && list != nullptr) {
    (void)ReleaseTraceEvents(list);
  }
  return status;
}

onnxStatus WaitEventFor(onnxEvent event, uint32_t milliseconds,
                        onnxEventState* state, onnxStatus* end, char* message,
                        size_t* length) {
  if (state == nullptr || end == nullptr || message == nullptr ||
      length == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  *state = ONNXIFI_EVENT_STATE_INVALID;
  const auto object = Events().Find(event);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  bool signalled = false;
  onnxStatus how = ONNXIFI_STATUS_SUCCESS;
  const onnxStatus status =
      object->event->WaitFor(milliseconds, &signalled, &how);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  *state = signalled ? ONNXIFI_EVENT_STATE_SIGNALLED
                     : ONNXIFI_EVENT_STATE_NONSIGNALLED;
  if (!signalled) return ONNXIFI_STATUS_SUCCESS;
  *end = how;
  const char* const text =
      how == ONNXIFI_STATUS_SUCCESS ? "" : "the run has failed";
  const size_t bytes =
      *length == 0 ? 0 : std::min(std::strlen(text), *length - 1);
  if (*length > 0) {
    std::memcpy(message, text, bytes);
    message[bytes] = '\0';
  }
  *length = bytes;
  return ONNXIFI_STATUS_SUCCESS;
}

// Of the request in which the caller is called; nobody is called in one here.
onnxStatus GetCurrentBatchSize(int64_t* size) {
  return size == nullptr ? ONNXIFI_STATUS_INVALID_POINTER
                         : ONNXIFI_STATUS_INVALID_STATE;
}

// The only option that any implementation is known to have had, and there is
// one device.
constexpr char kOption[] = "glow_num_devices";
constexpr char kValue[] = "1";

onnxStatus SetOption(const char* name, const char* value) {
  if (name == nullptr || value == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  if (std::strcmp(name, kOption) != 0) return ONNXIFI_STATUS_INVALID_NAME;
  return std::strcmp(value, kValue) == 0 ? ONNXIFI_STATUS_SUCCESS
                                         : ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
}

// *length: the room, with the final NUL; then the length without it.
onnxStatus GetOption(const char* name, char* value, size_t* length) {
  if (name == nullptr || value == nullptr || length == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  if (std::strcmp(name, kOption) != 0) return ONNXIFI_STATUS_INVALID_NAME;
  if (*length < sizeof(kValue)) return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
  std::memcpy(value, kValue, sizeof(kValue));
  *length = sizeof(kValue) - 1;
  return ONNXIFI_STATUS_SUCCESS;
}
#endif

}  // namespace
}  // namespace onnxifi_reference

using namespace onnxifi_reference;

extern "C" onnxStatus onnxGetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  if (function == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *function = nullptr;
  if (!IsId(id)) return ONNXIFI_STATUS_INVALID_ID;
  if (name == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  if (!TheDevice().present()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  const struct {
    const char* name;
    onnxExtensionFunctionPointer function;
  } kFunctions[] = {
      {"onnx_extension_function", Extension(&onnxGetExtensionFunctionAddress)},
      {"onnxSetIOAndRunGraph", Extension(&SetIOAndRunGraph)},
#ifndef ONNXIFI_REFERENCE_ONNX1
      {"onnxSetIOAndRunGraphFunction", Extension(&TracedSetIOAndRunGraph)},
      {"onnxWaitEventForFunction", Extension(&WaitEventFor)},
      {"onnxReleaseTraceEventsFunction", Extension(&ReleaseTraceEvents)},
      {"onnxGetCurrentBatchSizeFunction", Extension(&GetCurrentBatchSize)},
      {"onnxSetOptionFunction", Extension(&SetOption)},
      {"onnxGetOptionFunction", Extension(&GetOption)},
#endif
  };
  for (const auto& known : kFunctions) {
    if (std::strcmp(name, known.name) != 0) continue;
    *function = known.function;
    return ONNXIFI_STATUS_SUCCESS;
  }
  return ONNXIFI_STATUS_UNIDENTIFIED_NAME;
}
