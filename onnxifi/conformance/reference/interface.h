// SPDX-License-Identifier: Apache-2.0
// What the functions of the interface and those of its extensions share.
#ifndef ONNXIFI_CONFORMANCE_REFERENCE_INTERFACE_H_
#define ONNXIFI_CONFORMANCE_REFERENCE_INTERFACE_H_

#include <memory>
#include <new>
#include <system_error>

#include "onnxifi/conformance/reference/handles.h"
#include "onnxifi/conformance/reference/objects.h"

namespace onnxifi_reference {

// The names that onnxGetExtensionFunctionAddress resolves (extensions.cc).
#ifdef ONNXIFI_REFERENCE_ONNX1
constexpr char kExtensions[] = "onnx_extension_function onnxSetIOAndRunGraph";
#else
constexpr char kExtensions[] =
    "onnx_extension_function onnxSetIOAndRunGraph "
    "onnxSetIOAndRunGraphFunction onnxWaitEventForFunction "
    "onnxReleaseTraceEventsFunction onnxGetCurrentBatchSizeFunction "
    "onnxSetOptionFunction onnxGetOptionFunction";
#endif

struct BackendEvent {
  std::shared_ptr<Event> event;
  std::weak_ptr<Backend> backend;
};

Device& TheDevice();
Handles<Backend>& Backends();
Handles<BackendEvent>& Events();
Handles<Graph>& Graphs();
bool IsId(void* id);

onnxStatus MakeLocations(const Graph& graph, uint32_t inputs_count,
                         const onnxTensorDescriptorV1* inputs,
                         uint32_t outputs_count,
                         const onnxTensorDescriptorV1* outputs,
                         Locations* locations);
onnxStatus CheckFence(const onnxMemoryFenceV1* fence);
// Starts a run and stores its output event; throws, or fails, with neither.
onnxStatus StartWithEvent(const std::shared_ptr<Graph>& graph,
                          std::shared_ptr<const Locations> locations,
                          Event* input, onnxMemoryFenceV1* output_fence,
                          Timing timing = nullptr);

// No exception leaves a function of the interface.
template <typename Body>
onnxStatus Guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  } catch (const std::system_error&) {  // a thread
    return ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
  }
}

}  // namespace onnxifi_reference

#endif  // ONNXIFI_CONFORMANCE_REFERENCE_INTERFACE_H_
