// SPDX-License-Identifier: Apache-2.0
// All IDs of one vendor, even if it mishandles queries for their number.
#ifndef HEDDLE_ONNXIFI_LOADER_LISTING_H_
#define HEDDLE_ONNXIFI_LOADER_LISTING_H_

#include <vector>

#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {

// More is not believed.
constexpr size_t kMaxDevices = 4096;

// SUCCESS, and one listing of each of `ids`; or the vendor's status. A device
// that comes between counting and listing is listed. May throw std::bad_alloc.
onnxStatus ListIds(const Vendor& vendor, std::vector<onnxBackendID>* ids);

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_LISTING_H_
