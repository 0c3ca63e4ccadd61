// SPDX-License-Identifier: Apache-2.0
// The loader's state, and the common parts of its functions.
#ifndef HEDDLE_ONNXIFI_LOADER_LOADER_H_
#define HEDDLE_ONNXIFI_LOADER_LOADER_H_

#include <optional>

#include "onnxifi/loader/descriptors.h"
#include "onnxifi/loader/handle_map.h"
#include "onnxifi/loader/id_table.h"
#include "onnxifi/loader/registry.h"

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

// The inputs and outputs of a graph in its vendor's ABI. Status SUCCESS: they
// are to be passed on.
class Locations {
 public:
  Locations(const Vendor& vendor, uint32_t inputs_count,
            const onnxTensorDescriptorV1* inputs, uint32_t outputs_count,
            const onnxTensorDescriptorV1* outputs);
  onnxStatus status() const { return status_; }
  uint32_t inputs_count, outputs_count;
  const onnxTensorDescriptorV1 *inputs, *outputs;

 private:
  struct Converted {
    Converted(const onnxTensorDescriptorV1* in, uint32_t in_count,
              const onnxTensorDescriptorV1* out, uint32_t out_count,
              uint32_t from, uint32_t to)
        : inputs(in, in_count, from, to), outputs(out, out_count, from, to) {}
    Descriptors inputs, outputs;
  };
  std::optional<Converted> converted_;
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
