// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/backend.h"

#include <utility>

#include "onnxifi/status.h"

namespace heddle::onnxifi {

bool BackendId::RemoveListing() {
  int64_t count = listings_.load();
  while (count > 0) {
    if (listings_.compare_exchange_weak(count, count - 1)) return true;
  }
  return false;
}

void BackendId::SetDevice(std::shared_ptr<const DeviceInfo> device) {
  if (this->device() == device) return;
  auto info = std::make_shared<const InfoTable>(MakeInfo(*device, support_));
  std::lock_guard<std::mutex> lock(mutex_);
  device_ = std::move(device);
  info_ = std::move(info);
}

absl::StatusOr<std::shared_ptr<Backend>> Backend::Open(
    Engine* engine, std::shared_ptr<BackendId> id, LogLevel log_level,
    uint64_t optimization, HostNodes host_nodes) {
  std::shared_ptr<Backend> backend(new Backend);
  backend->log_level_ = log_level;
  backend->optimization_ = optimization;
  backend->host_nodes_ = host_nodes;
  backend->state_ = std::make_shared<BackendState>(log_level);
  auto device = engine->Open(*id->device());
  if (!device.ok()) return device.status();
  backend->id_ = std::move(id);
  backend->device_ = *std::move(device);
  backend->device_->OnRemoved([state = backend->state_] { state->MarkGone(); });
  if (backend->gone()) {
    return Fail(ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                "the device disappeared while being opened");
  }
  Log(log_level, LogLevel::kInfo, backend->id_->device()->name, "opened ");
  return backend;
}

Backend::~Backend() {
  // Closing a connection looks like losing it. (Without memory there is none.)
  if (state_ != nullptr) state_->Close();
}

bool Backend::gone() {
  if (!state_->gone() && !device_->available()) state_->MarkGone();
  return state_->gone();
}

}  // namespace heddle::onnxifi
