// SPDX-License-Identifier: Apache-2.0
// The one state of the loader, and which ABI its own callers speak.
#ifndef HEDDLE_ONNXIFI_LOADER_LOADER_H_
#define HEDDLE_ONNXIFI_LOADER_LOADER_H_

#include "onnxifi/loader/handle_map.h"
#include "onnxifi/loader/id_table.h"
#include "onnxifi/loader/registry.h"

// What the loader's callers speak; as of vendors, its presence also tells them
// that the caller goes by their markers. Each shim defines it.
extern "C" ONNXIFI_PUBLIC const uint32_t onnxifi_heddle_descriptor_bytes;

namespace heddle::onnxifi_loader {

struct State {
  State();
  IdTable ids;
  HandleMap backends, graphs, events;
  Registry registry;
};

// Never destroyed: threads of the program may be inside at exit.
State& TheState();

// Whether another process, this one's parent, has listed devices: their
// connections and threads are not here.
bool IsForkedFromUser();

// onnxInitGraph, whose exported forms differ.
onnxStatus InitGraph(onnxBackend backend, const uint64_t* properties,
                     size_t size, const void* model, uint32_t weights_count,
                     const onnxTensorDescriptorV1* weights, onnxGraph* graph,
                     uint32_t max_sequence, void* reader) noexcept;

// The inputs and outputs of a graph in its vendor's ABI. Status SUCCESS: they
// are to be passed on.
class Locations {
 public:
  Locations(const Vendor& vendor, uint32_t inputs_count,
            const onnxTensorDescriptorV1* inputs, uint32_t outputs_count,
            const onnxTensorDescriptorV1* outputs);
  ~Locations();
  onnxStatus status() const { return status_; }
  uint32_t inputs_count, outputs_count;
  const onnxTensorDescriptorV1 *inputs, *outputs;

 private:
  struct Converted;
  Converted* converted_ = nullptr;
  onnxStatus status_ = ONNXIFI_STATUS_SUCCESS;
};

// An output fence for a vendor, and the event that comes with it.
class OutputFence {
 public:
  // `fence` is the caller's; its members are looked at as the specification
  // says. May throw std::bad_alloc.
  explicit OutputFence(onnxMemoryFenceV1* fence);
  // NO_SYSTEM_RESOURCES: no more events.
  onnxStatus status() const { return status_; }
  onnxMemoryFenceV1* for_vendor() { return local_ ? &own_ : given_; }
  // After the vendor's call, which returned `status`.
  onnxStatus Finish(Vendor* vendor, onnxStatus status);

 private:
  onnxMemoryFenceV1* const given_;
  onnxMemoryFenceV1 own_ = {};
  bool local_ = false;
  void* handle_ = nullptr;
  onnxStatus status_ = ONNXIFI_STATUS_SUCCESS;
};

// What onnxGetExtensionFunctionAddress does.
onnxStatus FindExtension(onnxBackendID id, const char* name,
                         onnxExtensionFunctionPointer* function) noexcept;

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_LOADER_H_
