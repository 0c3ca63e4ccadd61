// SPDX-License-Identifier: Apache-2.0
// The caller's host memory that the card reaches (session.h): a run transfers
// tensors directly from or to it, without a staging buffer.
#ifndef HEDDLE_RUNTIME_SESSION_HOST_BUFFER_H_
#define HEDDLE_RUNTIME_SESSION_HOST_BUFFER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/hal/device.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"

namespace heddle::session {

class MappedHostBuffer : public HostBuffer {
 public:
  static absl::StatusOr<std::shared_ptr<HostBuffer>> Make(
      std::shared_ptr<DeviceCore> core, uint64_t bytes);

  uint8_t* data() const override { return buffer_->data(); }
  uint64_t size() const override { return size_; }

  const hal::Buffer& buffer() const { return *buffer_; }
  const DeviceCore* core() const { return core_.get(); }

 private:
  MappedHostBuffer(std::shared_ptr<DeviceCore> core,
                   std::unique_ptr<hal::Buffer> buffer, uint64_t size)
      : core_(std::move(core)), buffer_(std::move(buffer)), size_(size) {}

  const std::shared_ptr<DeviceCore> core_;
  const std::unique_ptr<hal::Buffer> buffer_;
  const uint64_t size_;
};

// A tensor's bytes in such memory.
struct HostPlace {
  const hal::Buffer* buffer;
  uint64_t offset;
};

// That of a buffer, which a run of `core` names; InvalidArgument if the memory
// is of another device, or the tensor is not within it.
absl::StatusOr<HostPlace> HostPlaceOf(const TensorBuffer& buffer,
                                      const DeviceCore& core);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_HOST_BUFFER_H_
