// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/listing.h"

namespace heddle::onnxifi_loader {

onnxStatus ListIds(const Vendor& vendor, std::vector<onnxBackendID>* ids) {
  // Counting first is not needed, and some do it wrongly (INVALID_POINTER,
  // SUCCESS without a number).
  size_t capacity = 8;
  for (int attempt = 0; attempt < 8; ++attempt) {
    ids->assign(capacity, nullptr);
    size_t count = capacity;
    const onnxStatus status = vendor.GetBackendIDs(ids->data(), &count);
    if (status == ONNXIFI_STATUS_SUCCESS) {
      if (count > capacity) break;
      ids->resize(count);
      return ONNXIFI_STATUS_SUCCESS;
    }
    ids->clear();
    if (status != ONNXIFI_STATUS_FALLBACK) return status;
    if (count <= capacity || count > kMaxDevices) break;
    capacity = count + 8;
  }
  ids->clear();
  return ONNXIFI_STATUS_INTERNAL_ERROR;
}

}  // namespace heddle::onnxifi_loader
