// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/vendor.h"

#include <dlfcn.h>

namespace heddle::onnxifi_loader {
namespace {

template <typename T>
bool Find(void* library, const char* name, T* function) {
  *function = reinterpret_cast<T>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool Vendor::Load(const std::string& path, Vendor* vendor, std::string* error) {
  // LOCAL: all vendors' functions have the same names.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    *error = std::string("cannot be loaded: ") + (why == nullptr ? "" : why);
    return false;
  }
  vendor->path = path;
  vendor->library = library;
#define FIND(function)                                       \
  if (!Find(library, "onnx" #function, &vendor->function)) { \
    *error = "does not export onnx" #function;               \
    dlclose(library);                                        \
    return false;                                            \
  }
  FIND(GetBackendIDs)
  FIND(ReleaseBackendID)
  FIND(GetBackendInfo)
  FIND(GetBackendCompatibility)
  FIND(InitBackend)
  FIND(ReleaseBackend)
  FIND(InitEvent)
  FIND(SignalEvent)
  FIND(GetEventState)
  FIND(WaitEvent)
  FIND(ReleaseEvent)
  FIND(InitGraph)
  FIND(SetGraphIO)
  FIND(RunGraph)
  FIND(ReleaseGraph)
#undef FIND
  Find(library, "onnxGetExtensionFunctionAddress",
       &vendor->GetExtensionFunctionAddress);
  return true;
}

uint32_t Vendor::MarkedBytes() const {
  const void* marker = dlsym(library, kMarker);
  // The search goes on in the library's dependencies; only its own one counts.
  Dl_info of_marker, of_library;
  if (marker == nullptr || dladdr(marker, &of_marker) == 0 ||
      dladdr(reinterpret_cast<void*>(GetBackendIDs), &of_library) == 0 ||
      of_marker.dli_fbase != of_library.dli_fbase) {
    return 0;
  }
  const uint32_t bytes = *static_cast<const uint32_t*>(marker);
  return bytes == kOnnx1Bytes || bytes == kExtendedBytes ? bytes : 0;
}

}  // namespace heddle::onnxifi_loader
