// SPDX-License-Identifier: Apache-2.0
// A vendor's library in this process: its functions, and which of the two ABIs
// its IDs speak. Never unloaded. The loader has two of each, one for the IDs of
// callers of either ABI.
#ifndef HEDDLE_ONNXIFI_LOADER_VENDOR_H_
#define HEDDLE_ONNXIFI_LOADER_VENDOR_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace heddle::onnxifi_loader {

// The size of a tensor descriptor is what tells the ABIs apart.
constexpr uint32_t kOnnx1Bytes = 56, kExtendedBytes = 96;

// A library that exports this uint32_t says its ABI with it.
constexpr char kMarker[] = "onnxifi_heddle_descriptor_bytes";

// Extension functions that take handles, so that calls of them are routed.
enum Extension {
  kSetIOAndRunGraph,
  kSetIOAndRunGraphTraced,
  kWaitEventFor,
  kExtensions
};

struct Vendor {
  // False: `error` says what is missing. `functions` need no dlclose.
  static bool Load(const std::string& path, Vendor* vendor, std::string* error);

  // Of the marker; 0 without one.
  uint32_t MarkedBytes() const;

  std::string path;
  void* library = nullptr;
  uint32_t descriptor_bytes = 0;
  uint32_t client_bytes = 0;  // of the callers that have the IDs

  onnxGetBackendIDsFunction GetBackendIDs = nullptr;
  onnxReleaseBackendIDFunction ReleaseBackendID = nullptr;
  onnxGetBackendInfoFunction GetBackendInfo = nullptr;
  onnxGetBackendCompatibilityFunction GetBackendCompatibility = nullptr;
  onnxInitBackendFunction InitBackend = nullptr;
  onnxReleaseBackendFunction ReleaseBackend = nullptr;
  onnxInitEventFunction InitEvent = nullptr;
  onnxSignalEventFunction SignalEvent = nullptr;
  onnxGetEventStateFunction GetEventState = nullptr;
  onnxWaitEventFunction WaitEvent = nullptr;
  onnxReleaseEventFunction ReleaseEvent = nullptr;
  // Of nine arguments: a function of seven does not look at the last two.
  onnxInitGraphFunction InitGraph = nullptr;
  onnxSetGraphIOFunction SetGraphIO = nullptr;
  onnxRunGraphFunction RunGraph = nullptr;
  onnxReleaseGraphFunction ReleaseGraph = nullptr;
  // Null: not exported.
  onnxGetExtensionFunctionAddressFunction GetExtensionFunctionAddress = nullptr;
  // As onnxGetExtensionFunctionAddress has given them, once it was asked.
  std::atomic<onnxExtensionFunctionPointer> extensions[kExtensions] = {};
};

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_VENDOR_H_
