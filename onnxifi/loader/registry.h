// SPDX-License-Identifier: Apache-2.0
// The vendors of this process. Each listing searches for libraries again. New
// libraries, and those that failed before but have changed, are discovered
// (discovery.h) and loaded; loaded ones stay loaded, and are listed as long as
// their file is found.
#ifndef HEDDLE_ONNXIFI_LOADER_REGISTRY_H_
#define HEDDLE_ONNXIFI_LOADER_REGISTRY_H_

#include <memory>
#include <mutex>
#include <vector>

#include "onnxifi/loader/discovery.h"
#include "onnxifi/loader/id_table.h"
#include "onnxifi/loader/search.h"
#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {

class Registry {
 public:
  // onnxGetBackendIDs for a caller whose descriptors have `client_bytes`. A
  // vendor that fails has no devices, and only if all that are loaded fail it
  // is the last one's status. May throw std::bad_alloc.
  onnxStatus List(IdTable* table, uint32_t client_bytes, onnxBackendID* ids,
                  size_t* count);

 private:
  struct Entry {
    Candidate candidate;
    // For callers of ONNX 1.x's ABI and of the extended one; null: cannot be
    // used.
    std::unique_ptr<Vendor> vendors[2];
    bool tried = false;
  };

  // The vendors that are to be asked now.
  std::vector<Vendor*> Scan(uint32_t client_bytes);
  void Try(Entry* entry);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_REGISTRY_H_
