// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors of one ABI for a vendor of the other.
//
// Towards the extended ABI nothing is lost: no quantization, not offline. The
// ABI of ONNX 1.x cannot express quantization parameters and offline weights.
#ifndef HEDDLE_ONNXIFI_LOADER_DESCRIPTORS_H_
#define HEDDLE_ONNXIFI_LOADER_DESCRIPTORS_H_

#include <cstdint>
#include <vector>

#include "onnxifi/include/heddle/onnxifi.h"

namespace heddle::onnxifi_loader {

class Descriptors {
 public:
  // `count` descriptors of `from` bytes each, for one who wants `to` bytes. Of
  // a descriptor whose tag is wrong nothing else is read, and nothing behind
  // it: the vendor gets it as the last one. May throw std::bad_alloc.
  Descriptors(const onnxTensorDescriptorV1* given, uint32_t count,
              uint32_t from, uint32_t to);

  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  const onnxTensorDescriptorV1* data() const { return data_; }
  uint32_t count() const { return count_; }
  // What the vendor's ABI lacks.
  bool quantized() const { return quantized_; }
  bool offline() const { return offline_; }

 private:
  // So many need no allocation.
  static constexpr uint32_t kFew = 8;
  uint64_t few_[kFew * sizeof(onnxTensorDescriptorV1) / sizeof(uint64_t)];
  std::vector<uint64_t> many_;
  const onnxTensorDescriptorV1* data_;
  uint32_t count_;
  bool quantized_ = false;
  bool offline_ = false;
};

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_DESCRIPTORS_H_
