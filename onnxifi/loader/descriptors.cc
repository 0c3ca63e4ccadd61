// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/descriptors.h"

#include <cstddef>
#include <cstring>

#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

// Up to here both are the same; behind it ONNX 1.x has the buffer.
constexpr size_t kCommonBytes =
    offsetof(onnxTensorDescriptorV1, quantizationAxis);
static_assert(kCommonBytes == 48 && sizeof(onnxTensorDescriptorV1) == 96, "");

}  // namespace

Descriptors::Descriptors(const onnxTensorDescriptorV1* given, uint32_t count,
                         uint32_t from, uint32_t to)
    : data_(given), count_(count) {
  if (from == to || given == nullptr || count == 0) return;
  const char* at = reinterpret_cast<const char*>(given);
  size_t done = 0;
  bool right = true;
  while (done < count && right) {
    int32_t tag;
    std::memcpy(&tag, at, sizeof(tag));
    right = tag == ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
    onnxTensorDescriptorV1 one = {};
    one.tag = tag;
    if (right && from == kExtendedBytes) {
      std::memcpy(&one, at, sizeof(one));
      quantized_ |= one.quantizationParams != 0;
      offline_ |= one.isOffline != 0;
    } else if (right) {
      std::memcpy(&one, at, kCommonBytes);
      std::memcpy(&one.buffer, at + kCommonBytes, sizeof(one.buffer));
    }
    const size_t words = to / sizeof(uint64_t);
    if (done == kFew) many_.assign(few_, few_ + kFew * words);
    if (done >= kFew) many_.resize(many_.size() + words);
    char* put =
        reinterpret_cast<char*>(done < kFew ? few_ : many_.data()) + done * to;
    if (to == kExtendedBytes) {
      std::memcpy(put, &one, sizeof(one));
    } else {
      std::memcpy(put, &one, kCommonBytes);
      std::memcpy(put + kCommonBytes, &one.buffer, sizeof(one.buffer));
    }
    at += from;
    ++done;
  }
  data_ = reinterpret_cast<const onnxTensorDescriptorV1*>(
      done <= kFew ? few_ : many_.data());
  count_ = static_cast<uint32_t>(done);
}

}  // namespace heddle::onnxifi_loader
