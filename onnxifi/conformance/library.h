// SPDX-License-Identifier: Apache-2.0
// A vendor's library, loaded. Every call of the tests goes through here, is
// recorded with its status, and fails the case if the function's list does not
// have the status.
#ifndef ONNXIFI_CONFORMANCE_LIBRARY_H_
#define ONNXIFI_CONFORMANCE_LIBRARY_H_

#include <onnx/onnxifi_ext.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "onnxifi/conformance/abi.h"
#include "onnxifi/conformance/record.h"

namespace heddle::conformance {

// An extension function as what it is. (gcc warns of a cast that does not go by
// way of void(), its type of any function.)
template <typename Function>
Function ExtensionAs(onnxExtensionFunctionPointer function) {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function));
}

class Library {
 public:
  // NotFound: not loadable, or a function is missing; the text says what.
  static absl::StatusOr<std::unique_ptr<Library>> Load(const std::string& path,
                                                       Abi abi, Record* record);
  // dlclose.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Abi abi() const { return abi_; }
  void* dl() const { return dl_; }
  void* Symbol(const char* name) const;

  onnxStatus GetBackendIDs(onnxBackendID* ids, size_t* count);
  onnxStatus ReleaseBackendID(onnxBackendID id);
  onnxStatus GetBackendInfo(onnxBackendID id, onnxBackendInfo info, void* value,
                            size_t* size);
  onnxStatus GetBackendCompatibility(onnxBackendID id, size_t size,
                                     const void* model);
  onnxStatus InitBackend(onnxBackendID id, const uint64_t* properties,
                         onnxBackend* backend);
  onnxStatus ReleaseBackend(onnxBackend backend);
  onnxStatus InitEvent(onnxBackend backend, onnxEvent* event);
  onnxStatus SignalEvent(onnxEvent event);
  onnxStatus GetEventState(onnxEvent event, onnxEventState* state);
  onnxStatus WaitEvent(onnxEvent event);
  onnxStatus ReleaseEvent(onnxEvent event);
  onnxStatus InitGraph(onnxBackend backend, const uint64_t* properties,
                       size_t size, const void* model, uint32_t weights,
                       const onnxTensorDescriptorV1* descriptors,
                       onnxGraph* graph, uint32_t max_sequence = 0,
                       void* reader = nullptr);
  onnxStatus SetGraphIO(onnxGraph graph, uint32_t inputs,
                        const onnxTensorDescriptorV1* input_descriptors,
                        uint32_t outputs,
                        const onnxTensorDescriptorV1* output_descriptors);
  onnxStatus RunGraph(onnxGraph graph, const onnxMemoryFenceV1* input,
                      onnxMemoryFenceV1* output);
  onnxStatus ReleaseGraph(onnxGraph graph);

  // The entry point of the extension, if it is exported.
  bool has_extension_function() const { return extension_ != nullptr; }
  onnxStatus GetExtensionFunctionAddress(
      onnxBackendID id, const char* name,
      onnxExtensionFunctionPointer* function);
  onnxStatus SetIOAndRunGraph(onnxSetIOAndRunGraphFunction function,
                              onnxGraph graph, uint32_t inputs,
                              const onnxTensorDescriptorV1* input_descriptors,
                              uint32_t outputs,
                              const onnxTensorDescriptorV1* output_descriptors,
                              onnxMemoryFenceV1* output);

 private:
  Library(void* dl, Abi abi, Record* record)
      : dl_(dl), abi_(abi), record_(record) {}

  template <typename Type, typename... Args>
  onnxStatus Call(int function, Args... args) {
    ++record_->inside[function];
    const onnxStatus status =
        reinterpret_cast<Type>(functions_[function])(args...);
    Note(function, status);
    return status;
  }
  void Note(int function, onnxStatus status);

  void* const dl_;
  const Abi abi_;
  Record* const record_;
  void* functions_[kStandardFunctions] = {};
  onnxGetExtensionFunctionAddressFunction extension_ = nullptr;
};

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_LIBRARY_H_
