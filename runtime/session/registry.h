// SPDX-License-Identifier: Apache-2.0
// The devices that this process can use, and the simulated cards that it has
// started. One per process, never destroyed; a child of fork() starts anew.
#ifndef HEDDLE_RUNTIME_SESSION_REGISTRY_H_
#define HEDDLE_RUNTIME_SESSION_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/session/device_core.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"
#include "runtime/session/session.h"

namespace heddle::session {

class Registry {
 public:
  static Registry& Get();

  // Devices of HEDDLE_DEVICE that are there now.
  absl::StatusOr<std::vector<DeviceDescription>> List(
      const std::string& simulated_config);
  absl::StatusOr<std::shared_ptr<DeviceCore>> Open(const std::string& id,
                                                   int priority);
  // Opens a card and asks what it is.
  absl::StatusOr<std::shared_ptr<hal::Device>> Connect(
      const std::string& id, DeviceDescription* description);

 private:
  Registry() = default;
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  // Socket of the cards of `spec`, which are started at its first use. A start
  // that failed is tried again by the next use.
  absl::StatusOr<std::string> Start(const DeviceSpec& spec, bool warn);
  absl::StatusOr<std::unique_ptr<hal::Transport>> Reach(const DeviceSpec& spec,
                                                        uint32_t card);
  absl::StatusOr<std::shared_ptr<hal::Device>> Connect(
      const DeviceSpec& spec, uint32_t card, DeviceDescription* description);
  // Cards of heddle.ko that `spec` means.
  absl::StatusOr<std::vector<DeviceDescription>> ListNodes(
      const DeviceSpec& spec);
  absl::StatusOr<DeviceSpec> Choose(const std::string& simulated_config);
  // Cards that are there and cannot be used, which must not hide the others.
  struct Unreadable {
    // Not OK: no card can be asked now, because this process lacks something.
    absl::Status Add(const absl::Status& status);
    std::vector<absl::Status> all;
  };
  // The end of a listing: an error only if there is no usable card.
  absl::StatusOr<std::vector<DeviceDescription>> End(
      std::vector<DeviceDescription> devices, const Unreadable& unreadable);
  // Says once per text on standard error what keeps a card from being listed.
  void WarnOnce(const absl::Status& status);

  std::mutex mutex_;
  // What was found without HEDDLE_DEVICE. A card that went away may come back;
  // nothing else takes its place.
  std::optional<DeviceSpec> found_;
  std::set<std::string> warned_;
  std::map<std::string, PrivateCards> started_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_REGISTRY_H_
