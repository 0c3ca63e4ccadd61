// SPDX-License-Identifier: Apache-2.0
// The exported functions that are the same in both ABIs. None calls another by
// its exported name, which could be bound to a wrapper's.
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "onnxifi/api_guard.h"
#include "onnxifi/extensions.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {
namespace {

onnxStatus GetExtensionAddress(onnxBackendID id, const char* name,
                               onnxExtensionFunctionPointer* function);

onnxStatus SetIoAndRunTraced(onnxGraph graph, uint32_t inputs_count,
                             const onnxTensorDescriptorV1* inputs,
                             uint32_t outputs_count,
                             const onnxTensorDescriptorV1* outputs,
                             onnxMemoryFenceV1* output_fence,
                             onnxTraceEventList* trace) {
  const IoArguments io = {inputs_count, inputs, outputs_count, outputs};
  return GuardCall(
      Function::kSetIOAndRunGraph, [&](Library* library, Call* call) {
        return library->SetIoAndRun(call, graph, io, output_fence, trace);
      });
}

onnxStatus SetIoAndRun(onnxGraph graph, uint32_t inputs_count,
                       const onnxTensorDescriptorV1* inputs,
                       uint32_t outputs_count,
                       const onnxTensorDescriptorV1* outputs,
                       onnxMemoryFenceV1* output_fence) {
  return SetIoAndRunTraced(graph, inputs_count, inputs, outputs_count, outputs,
                           output_fence, nullptr);
}

onnxStatus WaitFor(onnxEvent event, uint32_t timeout_ms, onnxEventState* state,
                   onnxStatus* status, char* message, size_t* length) {
  return GuardCall(Function::kWaitEventFor, [&](Library* library, Call* call) {
    return library->WaitEventFor(call, event, timeout_ms, state, status,
                                 message, length);
  });
}

onnxStatus ReleaseTrace(onnxTraceEventList* list) {
  if (list == nullptr) {
    return Finish(Function::kReleaseTraceEvents, Call(),
                  Outcome(ONNXIFI_STATUS_INVALID_POINTER, "the list is NULL"));
  }
  FreeTraceEvents(list);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus GetOutputShape(onnxEvent event, const char* name,
                          uint32_t* dimensions, uint64_t* shape) {
  return GuardCall(
      Function::kGetOutputShape, [&](Library* library, Call* call) {
        return library->GetOutputShape(call, event, name, dimensions, shape);
      });
}

// Options are the process's: they need neither a device nor the library's
// objects, and work in a forked child, too.
constexpr char kLogOption[] = "heddle_log";

onnxStatus SetOption(const char* name, const char* value) {
  const auto finish = [](onnxStatus status, const char* why) {
    return Finish(Function::kSetOption, Call(), Outcome(status, why));
  };
  if (name == nullptr || value == nullptr) {
    return finish(ONNXIFI_STATUS_INVALID_POINTER,
                  "optionName or optionValue is NULL");
  }
  if (absl::string_view(name) != kLogOption) {
    return finish(ONNXIFI_STATUS_INVALID_NAME, "the only option is heddle_log");
  }
  const std::optional<LogLevel> level = FindLogLevel(value);
  if (!level.has_value()) {
    return finish(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                  "heddle_log is debug, info, warning, error or off");
  }
  SetDefaultLogLevel(*level);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus GetOption(const char* name, char* value, size_t* length) {
  const auto finish = [](onnxStatus status, const char* why) {
    return Finish(Function::kGetOption, Call(), Outcome(status, why));
  };
  if (name == nullptr || value == nullptr || length == nullptr) {
    return finish(ONNXIFI_STATUS_INVALID_POINTER,
                  "optionName, optionValue or optionValueLength is NULL");
  }
  if (absl::string_view(name) != kLogOption) {
    return finish(ONNXIFI_STATUS_INVALID_NAME, "the only option is heddle_log");
  }
  const absl::string_view level = LogLevelName(DefaultLogLevel());
  if (*length <= level.size()) {
    return finish(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                  "the value and its NUL are longer than optionValueLength");
  }
  level.copy(value, level.size());
  value[level.size()] = '\0';
  *length = level.size();
  return ONNXIFI_STATUS_SUCCESS;
}

onnxExtensionFunctionPointer AddressOf(Extension extension) {
  const auto plain = [](auto* function) {
    // By way of void(), gcc's type of any function.
    return reinterpret_cast<onnxExtensionFunctionPointer>(
        reinterpret_cast<void (*)()>(function));
  };
  switch (extension) {
    case Extension::kNone:
      break;
    case Extension::kGetExtensionFunctionAddress:
      return plain(&GetExtensionAddress);
    case Extension::kSetIOAndRunGraph:
      return plain(&SetIoAndRun);
    case Extension::kSetIOAndRunGraphTraced:
      return plain(&SetIoAndRunTraced);
    case Extension::kWaitEventFor:
      return plain(&WaitFor);
    case Extension::kReleaseTraceEvents:
      return plain(&ReleaseTrace);
    case Extension::kGetOutputShape:
      return plain(&GetOutputShape);
    case Extension::kSetOption:
      return plain(&SetOption);
    case Extension::kGetOption:
      return plain(&GetOption);
  }
  return nullptr;
}

onnxStatus GetExtensionAddress(onnxBackendID id, const char* name,
                               onnxExtensionFunctionPointer* function) {
  if (function != nullptr) *function = nullptr;
  return GuardCall(Function::kGetExtensionFunctionAddress,
                   [&](Library* library, Call*) {
                     if (name == nullptr || function == nullptr) {
                       return Outcome(ONNXIFI_STATUS_INVALID_POINTER,
                                      "name or function is NULL");
                     }
                     Outcome outcome = library->CheckExtensionsOf(id);
                     if (outcome.failed()) return outcome;
                     *function = AddressOf(FindExtension(name));
                     if (*function != nullptr) return Outcome();
                     return Outcome(ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                                    "no such extension function");
                   });
}

}  // namespace
}  // namespace heddle::onnxifi

using heddle::onnxifi::AbiForCaller;
using heddle::onnxifi::Call;
using heddle::onnxifi::Function;
using heddle::onnxifi::GuardCall;
using heddle::onnxifi::Library;

extern "C" {

onnxStatus onnxGetBackendIDs(onnxBackendID* ids, size_t* count) {
  const void* caller = __builtin_return_address(0);
  return GuardCall(Function::kGetBackendIDs, [&](Library* library, Call*) {
    return library->GetBackendIDs(AbiForCaller(caller), ids, count);
  });
}

onnxStatus onnxReleaseBackendID(onnxBackendID id) {
  return GuardCall(Function::kReleaseBackendID, [&](Library* library, Call*) {
    return library->ReleaseBackendID(id);
  });
}

onnxStatus onnxGetBackendInfo(onnxBackendID id, onnxBackendInfo type,
                              void* value, size_t* size) {
  return GuardCall(Function::kGetBackendInfo, [&](Library* library, Call*) {
    return library->GetBackendInfo(id, type, value, size);
  });
}

onnxStatus onnxGetBackendCompatibility(onnxBackendID id, size_t size,
                                       const void* model) {
  return GuardCall(Function::kGetBackendCompatibility,
                   [&](Library* library, Call*) {
                     return library->GetBackendCompatibility(id, size, model);
                   });
}

onnxStatus onnxInitBackend(onnxBackendID id, const uint64_t* properties,
                           onnxBackend* backend) {
  if (backend != nullptr) *backend = nullptr;
  return GuardCall(Function::kInitBackend, [&](Library* library, Call* call) {
    return library->InitBackend(call, id, properties, backend);
  });
}

onnxStatus onnxReleaseBackend(onnxBackend backend) {
  return GuardCall(Function::kReleaseBackend,
                   [&](Library* library, Call* call) {
                     return library->ReleaseBackend(call, backend);
                   });
}

onnxStatus onnxInitEvent(onnxBackend backend, onnxEvent* event) {
  if (event != nullptr) *event = nullptr;
  return GuardCall(Function::kInitEvent, [&](Library* library, Call* call) {
    return library->InitEvent(call, backend, event);
  });
}

onnxStatus onnxSignalEvent(onnxEvent event) {
  return GuardCall(Function::kSignalEvent, [&](Library* library, Call* call) {
    return library->SignalEvent(call, event);
  });
}

onnxStatus onnxGetEventState(onnxEvent event, onnxEventState* state) {
  if (state != nullptr) *state = ONNXIFI_EVENT_STATE_INVALID;
  return GuardCall(Function::kGetEventState, [&](Library* library, Call* call) {
    return library->GetEventState(call, event, state);
  });
}

onnxStatus onnxWaitEvent(onnxEvent event) {
  return GuardCall(Function::kWaitEvent, [&](Library* library, Call* call) {
    return library->WaitEvent(call, event);
  });
}

onnxStatus onnxReleaseEvent(onnxEvent event) {
  return GuardCall(Function::kReleaseEvent, [&](Library* library, Call* call) {
    return library->ReleaseEvent(call, event);
  });
}

onnxStatus onnxSetGraphIO(onnxGraph graph, uint32_t inputs_count,
                          const onnxTensorDescriptorV1* inputs,
                          uint32_t outputs_count,
                          const onnxTensorDescriptorV1* outputs) {
  return GuardCall(Function::kSetGraphIO, [&](Library* library, Call* call) {
    return library->SetGraphIO(call, graph,
                               {inputs_count, inputs, outputs_count, outputs});
  });
}

onnxStatus onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* input,
                        onnxMemoryFenceV1* output) {
  return GuardCall(Function::kRunGraph, [&](Library* library, Call* call) {
    return library->RunGraph(call, graph, input, output);
  });
}

onnxStatus onnxReleaseGraph(onnxGraph graph) {
  return GuardCall(Function::kReleaseGraph, [&](Library* library, Call* call) {
    return library->ReleaseGraph(call, graph);
  });
}

onnxStatus onnxGetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  return heddle::onnxifi::GetExtensionAddress(id, name, function);
}

}  // extern "C"
