// SPDX-License-Identifier: Apache-2.0
// A tensor that stays in the card's memory (session.h). Runs copy it, on the
// card, to and from their region of inputs and outputs. Jobs of one device are
// ordered; who has several of them, or none yet, stands in a line of the device
// (turn_line.h).
#ifndef HEDDLE_RUNTIME_SESSION_RESIDENT_H_
#define HEDDLE_RUNTIME_SESSION_RESIDENT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/hal/device.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"

namespace heddle::session {

class ResidentBuffer : public Resident {
 public:
  static absl::StatusOr<std::shared_ptr<Resident>> Make(
      std::shared_ptr<DeviceCore> core, uint64_t bytes);

  uint64_t size() const override { return size_; }
  absl::Status Write(const void* data, uint64_t size) override;
  absl::Status Read(void* data, uint64_t size) override;

  const hal::Buffer& buffer() const { return *buffer_; }
  const DeviceCore* core() const { return core_.get(); }

 private:
  ResidentBuffer(std::shared_ptr<DeviceCore> core,
                 std::unique_ptr<hal::Buffer> buffer, uint64_t size)
      : core_(std::move(core)), buffer_(std::move(buffer)), size_(size) {}
  // Copies by way of a host buffer, which is filled before or read behind.
  template <typename Before, typename Behind>
  absl::Status Transfer(uint64_t size, bool in, Before before, Behind behind);

  const std::shared_ptr<DeviceCore> core_;
  const std::unique_ptr<hal::Buffer> buffer_;
  const uint64_t size_;
};

// That of a buffer, which a run of `core` names; InvalidArgument if it is of
// another device or has another size.
absl::StatusOr<const ResidentBuffer*> ResidentOf(const TensorBuffer& buffer,
                                                 const DeviceCore& core);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_RESIDENT_H_
