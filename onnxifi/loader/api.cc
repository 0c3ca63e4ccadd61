// SPDX-License-Identifier: Apache-2.0
// The exported functions: each finds the vendor of its handle and calls that.
// No exception leaves them.
#include <cstdlib>
#include <cstring>
#include <new>

#include "onnxifi/loader/descriptors.h"
#include "onnxifi/loader/loader.h"
#include "onnxifi/loader/loader_ext.h"
#include "onnxifi/loader/log.h"

namespace heddle::onnxifi_loader {
namespace {

// A new handle for what `make` stores: make(void** made) returns the status.
template <typename Make>
onnxStatus MakeObject(HandleMap* map, Vendor* vendor, void** result,
                      Make make) {
  void* handle = nullptr;
  try {
    handle = map->Reserve();
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  }
  if (handle == nullptr) return ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
  void* made = nullptr;
  const onnxStatus status = make(&made);
  if (made == nullptr ||
      (status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK)) {
    map->Cancel(handle);
    return status;
  }
  map->Fill(handle, {vendor, made});
  *result = handle;
  return status;
}

// What callers of onnxGetBackendIDs speak: ONNX 1.x, as of Debian's wrapper,
// unless the environment says otherwise.
uint32_t DefaultClientBytes() {
  const char* abi = std::getenv("ONNXIFI_LOADER_ABI");
  if (abi == nullptr || std::strcmp(abi, "onnx1") == 0) return kOnnx1Bytes;
  if (std::strcmp(abi, "extended") == 0) return kExtendedBytes;
  Log(Level::kWarning,
      "ONNXIFI_LOADER_ABI is neither 'extended' nor 'onnx1'; ignored");
  return kOnnx1Bytes;
}

onnxStatus ListFor(uint32_t client_bytes, onnxBackendID* ids, size_t* count) {
  if (count == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  if (IsForkedFromUser()) return ONNXIFI_STATUS_INTERNAL_ERROR;
  try {
    State& state = TheState();
    return state.registry.List(&state.ids, client_bytes, ids, count);
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  } catch (...) {
    return ONNXIFI_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace
}  // namespace heddle::onnxifi_loader

using namespace heddle::onnxifi_loader;  // NOLINT

extern "C" {

// Tells vendors that the caller goes by their markers.
ONNXIFI_PUBLIC extern const uint32_t onnxifi_heddle_descriptor_bytes;
const uint32_t onnxifi_heddle_descriptor_bytes =
    heddle::onnxifi_loader::kOnnx1Bytes;

onnxStatus onnxGetBackendIDs(onnxBackendID* ids, size_t* count) {
  return ListFor(DefaultClientBytes(), ids, count);
}

ONNXIFI_PUBLIC int32_t onnxGetBackendIDsExtended(void** ids, size_t* count) {
  return ListFor(heddle::onnxifi_loader::kExtendedBytes, ids, count);
}

onnxStatus onnxReleaseBackendID(onnxBackendID id) {
  const Target target = TheState().ids.Release(id);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_ID;
  return target.vendor->ReleaseBackendID(target.handle);
}

onnxStatus onnxGetBackendInfo(onnxBackendID id, onnxBackendInfo type,
                              void* value, size_t* size) {
  const Target target = TheState().ids.Find(id);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_ID;
  return target.vendor->GetBackendInfo(target.handle, type, value, size);
}

onnxStatus onnxGetBackendCompatibility(onnxBackendID id, size_t size,
                                       const void* model) {
  const Target target = TheState().ids.Find(id);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_ID;
  return target.vendor->GetBackendCompatibility(target.handle, size, model);
}

onnxStatus onnxInitBackend(onnxBackendID id, const uint64_t* properties,
                           onnxBackend* backend) {
  if (backend == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *backend = nullptr;
  State& state = TheState();
  const Target target = state.ids.Find(id);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_ID;
  return MakeObject(&state.backends, target.vendor, backend, [&](void** made) {
    return target.vendor->InitBackend(target.handle, properties, made);
  });
}

onnxStatus onnxReleaseBackend(onnxBackend backend) {
  const Target target = TheState().backends.Remove(backend);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_BACKEND;
  return target.vendor->ReleaseBackend(target.handle);
}

onnxStatus onnxInitEvent(onnxBackend backend, onnxEvent* event) {
  if (event == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *event = nullptr;
  State& state = TheState();
  const Target target = state.backends.Find(backend);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_BACKEND;
  return MakeObject(&state.events, target.vendor, event, [&](void** made) {
    return target.vendor->InitEvent(target.handle, made);
  });
}

onnxStatus onnxSignalEvent(onnxEvent event) {
  const Target target = TheState().events.Find(event);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  return target.vendor->SignalEvent(target.handle);
}

onnxStatus onnxGetEventState(onnxEvent event, onnxEventState* state) {
  const Target target = TheState().events.Find(event);
  if (target.vendor == nullptr) {
    if (state != nullptr) *state = ONNXIFI_EVENT_STATE_INVALID;
    return ONNXIFI_STATUS_INVALID_EVENT;
  }
  return target.vendor->GetEventState(target.handle, state);
}

onnxStatus onnxWaitEvent(onnxEvent event) {
  const Target target = TheState().events.Find(event);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  return target.vendor->WaitEvent(target.handle);
}

onnxStatus onnxReleaseEvent(onnxEvent event) {
  const Target target = TheState().events.Remove(event);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  return target.vendor->ReleaseEvent(target.handle);
}

onnxStatus onnxInitGraph(onnxBackend backend, const uint64_t* properties,
                         size_t size, const void* model, uint32_t weights_count,
                         const onnxTensorDescriptorV1* weights,
                         onnxGraph* graph, uint32_t max_sequence,
                         void* reader) {
  if (graph == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *graph = nullptr;
  State& state = TheState();
  const Target target = state.backends.Find(backend);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_BACKEND;
  Vendor& vendor = *target.vendor;
  if (vendor.client_bytes == kOnnx1Bytes) {
    // The caller has seven arguments.
    max_sequence = 0;
    reader = nullptr;
  }
  try {
    const Descriptors given(weights, weights_count, vendor.client_bytes,
                            vendor.descriptor_bytes);
    if (vendor.descriptor_bytes == kOnnx1Bytes) {
      // Which the vendor's ABI cannot say.
      if (given.offline()) return ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE;
      if (given.quantized()) return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
    }
    return MakeObject(&state.graphs, &vendor, graph, [&](void** made) {
      return vendor.InitGraph(target.handle, properties, size, model,
                              given.count(), given.data(), made, max_sequence,
                              reader);
    });
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  }
}

onnxStatus onnxSetGraphIO(onnxGraph graph, uint32_t inputs_count,
                          const onnxTensorDescriptorV1* inputs,
                          uint32_t outputs_count,
                          const onnxTensorDescriptorV1* outputs) {
  const Target target = TheState().graphs.Find(graph);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  const Locations given(*target.vendor, inputs_count, inputs, outputs_count,
                        outputs);
  if (given.status() != ONNXIFI_STATUS_SUCCESS) {
    // As any failure, this one leaves the graph without locations.
    (void)!target.vendor->SetGraphIO(target.handle, 0, nullptr, 0, nullptr);
    return given.status();
  }
  return target.vendor->SetGraphIO(target.handle, given.inputs_count,
                                   given.inputs, given.outputs_count,
                                   given.outputs);
}

onnxStatus onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* input,
                        onnxMemoryFenceV1* output) {
  State& state = TheState();
  const Target target = state.graphs.Find(graph);
  if (target.vendor == nullptr) {
    const bool right = output != nullptr &&
                       output->tag == ONNXIFI_TAG_MEMORY_FENCE_V1 &&
                       output->type == ONNXIFI_SYNCHRONIZATION_EVENT;
    if (right) output->event = nullptr;
    return ONNXIFI_STATUS_INVALID_GRAPH;
  }
  onnxMemoryFenceV1 ready = {};
  if (input != nullptr && input->tag == ONNXIFI_TAG_MEMORY_FENCE_V1 &&
      input->type == ONNXIFI_SYNCHRONIZATION_EVENT) {
    ready.tag = input->tag;
    ready.type = input->type;
    const Target event = state.events.Find(input->event);
    // Of another vendor, or of none: no event of this one's.
    ready.event = event.vendor == target.vendor ? event.handle : nullptr;
    input = &ready;
  }
  try {
    OutputFence fence(output);
    if (fence.status() != ONNXIFI_STATUS_SUCCESS) return fence.status();
    return fence.Finish(
        target.vendor,
        target.vendor->RunGraph(target.handle, input, fence.for_vendor()));
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  }
}

onnxStatus onnxReleaseGraph(onnxGraph graph) {
  const Target target = TheState().graphs.Remove(graph);
  if (target.vendor == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  return target.vendor->ReleaseGraph(target.handle);
}

onnxStatus onnxGetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  return FindExtension(id, name, function);
}

}  // extern "C"
