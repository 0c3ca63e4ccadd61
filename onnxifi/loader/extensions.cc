// SPDX-License-Identifier: Apache-2.0
// Extension functions. Those that take handles and are known are called through
// functions of the loader; any other one is the vendor's own, for which
// onnxifi_loader_vendor_handle gives the vendor's handles.
#include <cstring>

#include "onnxifi/loader/loader.h"
#include "onnxifi/loader/loader_ext.h"

namespace heddle::onnxifi_loader {
namespace {

onnxExtensionFunctionPointer Plain(void (*function)()) {
  return reinterpret_cast<onnxExtensionFunctionPointer>(function);
}
template <typename Function>
onnxExtensionFunctionPointer Pointer(Function* function) {
  return Plain(reinterpret_cast<void (*)()>(function));
}

// Null: the vendor has not been asked for it.
template <typename Function>
Function VendorsOwn(Vendor* vendor, Extension extension) {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(
      vendor->extensions[extension].load(std::memory_order_acquire)));
}

template <typename Function, typename... Trace>
onnxStatus SetIoAndRunAs(Extension extension, onnxGraph graph,
                         uint32_t inputs_count,
                         const onnxTensorDescriptorV1* inputs,
                         uint32_t outputs_count,
                         const onnxTensorDescriptorV1* outputs,
                         onnxMemoryFenceV1* output, Trace... trace) noexcept {
  const Target target = TheState().graphs.Find(graph);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  const auto function = VendorsOwn<Function>(target.vendor, extension);
  if (function == nullptr) return ONNXIFI_STATUS_INTERNAL_ERROR;
  const Locations given(*target.vendor, inputs_count, inputs, outputs_count,
                        outputs);
  if (given.status() != ONNXIFI_STATUS_SUCCESS) return given.status();
  try {
    OutputFence fence(output);
    if (fence.status() != ONNXIFI_STATUS_SUCCESS) return fence.status();
    return fence.Finish(
        target.vendor, function(target.handle, given.inputs_count, given.inputs,
                                given.outputs_count, given.outputs,
                                fence.for_vendor(), trace...));
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  }
}

onnxStatus SetIoAndRun(onnxGraph graph, uint32_t inputs_count,
                       const onnxTensorDescriptorV1* inputs,
                       uint32_t outputs_count,
                       const onnxTensorDescriptorV1* outputs,
                       onnxMemoryFenceV1* output) {
  return SetIoAndRunAs<heddleSetIOAndRunGraphFunction>(
      kSetIOAndRunGraph, graph, inputs_count, inputs, outputs_count, outputs,
      output);
}

onnxStatus SetIoAndRunTraced(onnxGraph graph, uint32_t inputs_count,
                             const onnxTensorDescriptorV1* inputs,
                             uint32_t outputs_count,
                             const onnxTensorDescriptorV1* outputs,
                             onnxMemoryFenceV1* output,
                             onnxTraceEventList* trace) {
  return SetIoAndRunAs<onnxSetIOAndRunGraphFunction>(
      kSetIOAndRunGraphTraced, graph, inputs_count, inputs, outputs_count,
      outputs, output, trace);
}

onnxStatus WaitFor(onnxEvent event, uint32_t timeout_ms, onnxEventState* state,
                   onnxStatus* status, char* message, size_t* length) {
  const Target target = TheState().events.Find(event);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  const auto function =
      VendorsOwn<onnxWaitEventForFunction>(target.vendor, kWaitEventFor);
  if (function == nullptr) return ONNXIFI_STATUS_INTERNAL_ERROR;
  return function(target.handle, timeout_ms, state, status, message, length);
}

onnxStatus VendorHandle(int kind, void* handle, void** vendor_handle) {
  if (vendor_handle == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *vendor_handle = nullptr;
  State& state = TheState();
  Target target;
  onnxStatus invalid = ONNXIFI_STATUS_INVALID_STATE;
  switch (kind) {
    case ONNXIFI_LOADER_ID:
      target = state.ids.Find(handle);
      invalid = ONNXIFI_STATUS_INVALID_ID;
      break;
    case ONNXIFI_LOADER_BACKEND:
      target = state.backends.Find(handle);
      invalid = ONNXIFI_STATUS_INVALID_BACKEND;
      break;
    case ONNXIFI_LOADER_GRAPH:
      target = state.graphs.Find(handle);
      invalid = ONNXIFI_STATUS_INVALID_GRAPH;
      break;
    case ONNXIFI_LOADER_EVENT:
      target = state.events.Find(handle);
      invalid = ONNXIFI_STATUS_INVALID_EVENT;
      break;
  }
  if (target.vendor == nullptr) return invalid;
  *vendor_handle = target.handle;
  return ONNXIFI_STATUS_SUCCESS;
}

struct Routed {
  const char* name;
  Extension extension;
  onnxExtensionFunctionPointer function;
};

const Routed* FindRouted(const char* name) {
  static const Routed kRouted[] = {
      {"onnxSetIOAndRunGraph", kSetIOAndRunGraph, Pointer(&SetIoAndRun)},
      {"onnxSetIOAndRunGraphFunction", kSetIOAndRunGraphTraced,
       Pointer(&SetIoAndRunTraced)},
      {"onnxWaitEventFor", kWaitEventFor, Pointer(&WaitFor)},
      {"onnxWaitEventForFunction", kWaitEventFor, Pointer(&WaitFor)},
  };
  for (const Routed& one : kRouted) {
    if (std::strcmp(one.name, name) == 0) return &one;
  }
  return nullptr;
}

}  // namespace

onnxStatus FindExtension(onnxBackendID id, const char* name,
                         onnxExtensionFunctionPointer* function) noexcept {
  if (function != nullptr) *function = nullptr;
  if (name == nullptr || function == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  const Target target = TheState().ids.Find(id);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_ID;
  if (std::strcmp(name, ONNXIFI_LOADER_VENDOR_HANDLE) == 0) {
    *function = Pointer(&VendorHandle);
    return ONNXIFI_STATUS_SUCCESS;
  }
  if (target.vendor->GetExtensionFunctionAddress == nullptr) {
    return ONNXIFI_STATUS_UNIDENTIFIED_NAME;
  }
  onnxExtensionFunctionPointer own = nullptr;
  const onnxStatus status =
      target.vendor->GetExtensionFunctionAddress(target.handle, name, &own);
  if (status != ONNXIFI_STATUS_SUCCESS || own == nullptr) return status;
  if (std::strcmp(name, "onnxGetExtensionFunctionAddress") == 0 ||
      std::strcmp(name, "onnx_extension_function") == 0) {
    *function = Pointer(&FindExtension);
  } else if (const Routed* routed = FindRouted(name)) {
    target.vendor->extensions[routed->extension].store(
        own, std::memory_order_release);
    *function = routed->function;
  } else {
    *function = own;
  }
  return ONNXIFI_STATUS_SUCCESS;
}

}  // namespace heddle::onnxifi_loader
