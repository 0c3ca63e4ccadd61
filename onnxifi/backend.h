// SPDX-License-Identifier: Apache-2.0
// Backend IDs and opened backends.
#ifndef HEDDLE_ONNXIFI_BACKEND_H_
#define HEDDLE_ONNXIFI_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "onnxifi/backend_state.h"
#include "onnxifi/descriptor.h"
#include "onnxifi/engine.h"
#include "onnxifi/host_nodes.h"
#include "onnxifi/info.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {

// What exists of one card, whichever ABI it was made through.
struct CardUse {
  std::atomic<uint64_t> graphs{0};
  std::atomic<int64_t> listings{0};  // of its IDs
};

// One card in one ABI. Lives, with its handle, as long as the library, so that
// the same card has the same ID again; is valid while it is listed.
class BackendId {
 public:
  BackendId(const DeviceInfo& device, Abi abi, OnnxSupport support,
            std::shared_ptr<CardUse> use)
      : abi(abi),
        use(std::move(use)),
        support_(std::move(support)),
        device_(std::make_shared<const DeviceInfo>(device)),
        info_(std::make_shared<const InfoTable>(MakeInfo(device, support_))) {}

  const Abi abi;
  const std::shared_ptr<CardUse> use;
  void* handle = nullptr;  // set once, before the ID is known to anybody

  // How often it was listed and not released.
  bool valid() const { return listings_.load() > 0; }
  void AddListing() {
    use->listings.fetch_add(1);
    listings_.fetch_add(1);
  }
  // False if there is none.
  bool RemoveListing();

  // As the card was when it was last looked at.
  std::shared_ptr<const DeviceInfo> device() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return device_;
  }
  std::shared_ptr<const InfoTable> info() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return info_;
  }
  // The same card, perhaps elsewhere or with other properties.
  void SetDevice(std::shared_ptr<const DeviceInfo> device);

 private:
  const OnnxSupport support_;
  std::atomic<int64_t> listings_{0};
  mutable std::mutex mutex_;
  std::shared_ptr<const DeviceInfo> device_;
  std::shared_ptr<const InfoTable> info_;
};

// An opened device. Graphs hold a reference, so releasing the handle first only
// defers the closing.
class Backend {
 public:
  static absl::StatusOr<std::shared_ptr<Backend>> Open(
      Engine* engine, std::shared_ptr<BackendId> id, LogLevel log_level,
      uint64_t optimization, HostNodes host_nodes);
  ~Backend();

  BackendId& id() const { return *id_; }
  Abi abi() const { return id_->abi; }
  LogLevel log_level() const { return log_level_; }
  // ONNXIFI_OPTIMIZATION_*
  uint64_t optimization() const { return optimization_; }
  HostNodes host_nodes() const { return host_nodes_; }
  EngineDevice& device() const { return *device_; }
  const std::shared_ptr<BackendState>& state() const { return state_; }
  // Whether the device has gone; from then on it has for everybody.
  bool gone();

 private:
  Backend() = default;
  std::shared_ptr<BackendId> id_;
  LogLevel log_level_ = LogLevel::kWarning;
  uint64_t optimization_ = ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT;
  HostNodes host_nodes_ = HostNodes::kFallback;
  std::shared_ptr<BackendState> state_;
  std::unique_ptr<EngineDevice> device_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_BACKEND_H_
