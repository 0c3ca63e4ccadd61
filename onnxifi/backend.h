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
#include "onnxifi/info.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {

// Graphs of one device, whichever ABI they were made through.
struct GraphCount {
  std::atomic<uint64_t> live{0};
};

// One device in one ABI. Lives, with its handle, as long as the library, so
// that the same device has the same ID again; is valid while it is listed.
class BackendId {
 public:
  BackendId(DeviceInfo device, Abi abi, const OnnxSupport& support,
            std::shared_ptr<GraphCount> graphs)
      : abi(abi),
        identity(device.identity),
        info(MakeInfo(device, support)),
        graphs(std::move(graphs)),
        device_(std::move(device)) {}

  const Abi abi;
  const std::string identity;
  const InfoTable info;
  const std::shared_ptr<GraphCount> graphs;
  void* handle = nullptr;  // set once, before the ID is known to anybody

  // How often it was listed and not released.
  bool valid() const { return listings_.load() > 0; }
  void AddListing() { listings_.fetch_add(1); }
  // False if there is none.
  bool RemoveListing();

  DeviceInfo device() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return device_;
  }
  // The same card, perhaps under another path.
  void SetDevice(const DeviceInfo& device) {
    std::lock_guard<std::mutex> lock(mutex_);
    device_ = device;
  }

 private:
  std::atomic<int64_t> listings_{0};
  mutable std::mutex mutex_;
  DeviceInfo device_;
};

// An opened device. Graphs hold a reference, so releasing the handle first only
// defers the closing.
class Backend {
 public:
  static absl::StatusOr<std::shared_ptr<Backend>> Open(
      Engine* engine, std::shared_ptr<BackendId> id, LogLevel log_level,
      uint64_t optimization);

  BackendId& id() const { return *id_; }
  Abi abi() const { return id_->abi; }
  LogLevel log_level() const { return log_level_; }
  // ONNXIFI_OPTIMIZATION_*
  uint64_t optimization() const { return optimization_; }
  EngineDevice& device() const { return *device_; }
  const std::shared_ptr<BackendState>& state() const { return state_; }
  // Whether the device has gone; from then on it has for everybody.
  bool gone();

 private:
  Backend() = default;
  std::shared_ptr<BackendId> id_;
  LogLevel log_level_ = LogLevel::kWarning;
  uint64_t optimization_ = ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT;
  std::shared_ptr<BackendState> state_;
  std::unique_ptr<EngineDevice> device_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_BACKEND_H_
