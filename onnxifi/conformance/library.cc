// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/library.h"

#include <dlfcn.h>

#include <new>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {

absl::StatusOr<std::unique_ptr<Library>> Library::Load(const std::string& path,
                                                       Abi abi,
                                                       Record* record) {
  // LOCAL: two vendors' libraries have the same names.
  void* dl = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (dl == nullptr) return absl::NotFoundError(dlerror());
  auto library = absl::WrapUnique(new Library(dl, abi, record));
  for (int f = 0; f < kStandardFunctions; ++f) {
    library->functions_[f] = dlsym(dl, FunctionName(f));
    if (library->functions_[f] == nullptr) {
      return absl::NotFoundError(
          absl::StrCat(path, " does not export ", FunctionName(f)));
    }
  }
  library->extension_ =
      reinterpret_cast<onnxGetExtensionFunctionAddressFunction>(
          dlsym(dl, FunctionName(kGetExtensionFunctionAddress)));
  return library;
}

Library::~Library() { dlclose(dl_); }

void* Library::Symbol(const char* name) const { return dlsym(dl_, name); }

void Library::Note(int function, onnxStatus status) {
  --record_->inside[function];
  const int index = StatusIndex(status);
  ++record_->returned[function][index < 0 ? kStatuses - 1 : index];
  if (MayReturn(function, status)) return;
  ++record_->failures;
  try {
    const std::string text =
        absl::StrCat(FunctionName(function), " returned ", StatusName(status),
                     ", which the specification does not list for it");
    AddLine(record_, 'F', text.data(), text.size());
  } catch (const std::bad_alloc&) {
    // The case refuses this process memory.
    constexpr char kText[] = "a status came that the function's list lacks";
    AddLine(record_, 'F', kText, sizeof(kText) - 1);
  }
}

onnxStatus Library::GetBackendIDs(onnxBackendID* ids, size_t* count) {
  return Call<onnxGetBackendIDsFunction>(kGetBackendIDs, ids, count);
}
onnxStatus Library::ReleaseBackendID(onnxBackendID id) {
  return Call<onnxReleaseBackendIDFunction>(kReleaseBackendID, id);
}
onnxStatus Library::GetBackendInfo(onnxBackendID id, onnxBackendInfo info,
                                   void* value, size_t* size) {
  return Call<onnxGetBackendInfoFunction>(kGetBackendInfo, id, info, value,
                                          size);
}
onnxStatus Library::GetBackendCompatibility(onnxBackendID id, size_t size,
                                            const void* model) {
  return Call<onnxGetBackendCompatibilityFunction>(kGetBackendCompatibility, id,
                                                   size, model);
}
onnxStatus Library::InitBackend(onnxBackendID id, const uint64_t* properties,
                                onnxBackend* backend) {
  return Call<onnxInitBackendFunction>(kInitBackend, id, properties, backend);
}
onnxStatus Library::ReleaseBackend(onnxBackend backend) {
  return Call<onnxReleaseBackendFunction>(kReleaseBackend, backend);
}
onnxStatus Library::InitEvent(onnxBackend backend, onnxEvent* event) {
  return Call<onnxInitEventFunction>(kInitEvent, backend, event);
}
onnxStatus Library::SignalEvent(onnxEvent event) {
  return Call<onnxSignalEventFunction>(kSignalEvent, event);
}
onnxStatus Library::GetEventState(onnxEvent event, onnxEventState* state) {
  return Call<onnxGetEventStateFunction>(kGetEventState, event, state);
}
onnxStatus Library::WaitEvent(onnxEvent event) {
  return Call<onnxWaitEventFunction>(kWaitEvent, event);
}
onnxStatus Library::ReleaseEvent(onnxEvent event) {
  return Call<onnxReleaseEventFunction>(kReleaseEvent, event);
}
onnxStatus Library::InitGraph(onnxBackend backend, const uint64_t* properties,
                              size_t size, const void* model, uint32_t weights,
                              const onnxTensorDescriptorV1* descriptors,
                              onnxGraph* graph, uint32_t max_sequence,
                              void* reader) {
  if (abi_ == Abi::kOnnx1) {
    return Call<onnxInitGraphFunction>(kInitGraph, backend, properties, size,
                                       model, weights, descriptors, graph);
  }
  return Call<InitGraphFunction>(kInitGraph, backend, properties, size, model,
                                 weights, descriptors, graph, max_sequence,
                                 reader);
}
onnxStatus Library::SetGraphIO(
    onnxGraph graph, uint32_t inputs,
    const onnxTensorDescriptorV1* input_descriptors, uint32_t outputs,
    const onnxTensorDescriptorV1* output_descriptors) {
  return Call<onnxSetGraphIOFunction>(kSetGraphIO, graph, inputs,
                                      input_descriptors, outputs,
                                      output_descriptors);
}
onnxStatus Library::RunGraph(onnxGraph graph, const onnxMemoryFenceV1* input,
                             onnxMemoryFenceV1* output) {
  return Call<onnxRunGraphFunction>(kRunGraph, graph, input, output);
}
onnxStatus Library::ReleaseGraph(onnxGraph graph) {
  return Call<onnxReleaseGraphFunction>(kReleaseGraph, graph);
}

onnxStatus Library::GetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  ++record_->inside[kGetExtensionFunctionAddress];
  const onnxStatus status = extension_(id, name, function);
  Note(kGetExtensionFunctionAddress, status);
  return status;
}

onnxStatus Library::SetIOAndRunGraph(
    onnxSetIOAndRunGraphFunction function, onnxGraph graph, uint32_t inputs,
    const onnxTensorDescriptorV1* input_descriptors, uint32_t outputs,
    const onnxTensorDescriptorV1* output_descriptors,
    onnxMemoryFenceV1* output) {
  ++record_->inside[kSetIOAndRunGraph];
  const onnxStatus status = function(graph, inputs, input_descriptors, outputs,
                                     output_descriptors, output);
  Note(kSetIOAndRunGraph, status);
  return status;
}

}  // namespace heddle::conformance
