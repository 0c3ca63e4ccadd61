// SPDX-License-Identifier: Apache-2.0
// lib/libonnxifi-heddle.so: the extended ABI, except for callers that are ONNX
// 1.x's wrapper. HEDDLE_ONNXIFI_ABI=extended|onnx1 overrides, but for a loader
// that goes by the marker.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "onnxifi/api_guard.h"

extern "C" {

// Tells this library, and wrappers that speak the extended ABI, from others:
// the size of a tensor descriptor.
ONNXIFI_PUBLIC extern const uint32_t onnxifi_heddle_descriptor_bytes;
const uint32_t onnxifi_heddle_descriptor_bytes =
    heddle::onnxifi::kExtendedDescriptorBytes;

}  // extern "C"

namespace heddle::onnxifi {
namespace {

constexpr char kMarker[] = "onnxifi_heddle_descriptor_bytes";
constexpr char kWrapper[] = "libonnxifi.so";

enum class Caller { kProgram, kOnnx1Wrapper, kLoader };

// A libonnxifi.so* at `address` with the marker goes by ours; without it, it is
// ONNX 1.x's.
Caller CallerAt(const void* address) {
  Dl_info caller;
  if (dladdr(address, &caller) == 0 || caller.dli_fname == nullptr) {
    return Caller::kProgram;
  }
  const char* slash = std::strrchr(caller.dli_fname, '/');
  const char* name = slash == nullptr ? caller.dli_fname : slash + 1;
  if (std::strncmp(name, kWrapper, sizeof(kWrapper) - 1) != 0) {
    return Caller::kProgram;
  }
  void* module = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) return Caller::kOnnx1Wrapper;
  // The search goes on in the module's dependencies; only its own one counts.
  Dl_info marker;
  void* found = dlsym(module, kMarker);
  const bool marked = found != nullptr && dladdr(found, &marker) != 0 &&
                      marker.dli_fbase == caller.dli_fbase;
  dlclose(module);
  return marked ? Caller::kLoader : Caller::kOnnx1Wrapper;
}

}  // namespace

Abi AbiForCaller(const void* return_address) {
  const char* forced = std::getenv("HEDDLE_ONNXIFI_ABI");
  const Caller caller = CallerAt(return_address);
  Abi abi = Abi::kExtended;
  const char* why = "the default of this library";
  if (caller == Caller::kLoader) {
    why = "the caller is a loader that reads the ABI marker";
  } else if (forced != nullptr && std::strcmp(forced, "onnx1") == 0) {
    abi = Abi::kOnnx1;
    why = "HEDDLE_ONNXIFI_ABI";
  } else if (forced != nullptr && std::strcmp(forced, "extended") == 0) {
    why = "HEDDLE_ONNXIFI_ABI";
  } else {
    if (forced != nullptr && *forced != '\0') {
      Log(DefaultLogLevel(), LogLevel::kWarning,
          "HEDDLE_ONNXIFI_ABI is neither 'extended' nor 'onnx1'; ignored");
    }
    if (caller == Caller::kOnnx1Wrapper) {
      abi = Abi::kOnnx1;
      why = "the caller is ONNX 1.x's libonnxifi.so";
    }
  }
  if (DefaultLogLevel() <= LogLevel::kInfo) {
    std::string line = abi == Abi::kExtended
                           ? "backend IDs speak the extended "
                           : "backend IDs speak the ONNX 1.x ";
    Log(DefaultLogLevel(), LogLevel::kInfo, line + "ABI: " + why);
  }
  return abi;
}

}  // namespace heddle::onnxifi

extern "C" onnxStatus onnxInitGraph(onnxBackend backend,
                                    const uint64_t* properties,
                                    size_t model_size, const void* model,
                                    uint32_t weights_count,
                                    const onnxTensorDescriptorV1* weights,
                                    onnxGraph* graph, uint32_t max_sequence,
                                    void* reader) {
  using namespace heddle::onnxifi;  // NOLINT
  if (graph != nullptr) *graph = nullptr;
  // Of a caller with seven arguments the last two are whatever is there; they
  // are ignored where the backend's ID says so.
  const GraphArguments arguments = {properties,    model_size, model,
                                    weights_count, weights,    max_sequence,
                                    reader};
  return GuardCall(Function::kInitGraph, [&](Library* library, Call* call) {
    return library->InitGraph(call, backend, arguments, graph);
  });
}
