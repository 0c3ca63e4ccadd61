// SPDX-License-Identifier: Apache-2.0
// The one implementation of Device (session.h).
#ifndef HEDDLE_RUNTIME_SESSION_DEVICE_HANDLE_H_
#define HEDDLE_RUNTIME_SESSION_DEVICE_HANDLE_H_

#include <functional>
#include <memory>
#include <utility>

#include "runtime/session/device_core.h"
#include "runtime/session/session.h"

namespace heddle::session {

class DeviceHandle : public Device {
 public:
  explicit DeviceHandle(std::shared_ptr<DeviceCore> core)
      : core_(std::move(core)) {}
  const DeviceDescription& description() const override {
    return core_->description();
  }
  bool available() override { return core_->available(); }
  void OnRemoved(std::function<void()> callback) override {
    core_->OnRemoved(std::move(callback));
  }
  absl::StatusOr<Memory> memory() override {
    const auto info = core_->device().Memory();
    if (!info.ok()) return info.status();
    return Memory{info->total, info->used};
  }
  const std::shared_ptr<DeviceCore>& core() const { return core_; }

 private:
  const std::shared_ptr<DeviceCore> core_;
};

// Null if it is no open device.
inline DeviceCore* CoreOf(Device* device) {
  auto* handle = dynamic_cast<DeviceHandle*>(device);
  return handle != nullptr ? handle->core().get() : nullptr;
}

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_DEVICE_HANDLE_H_
