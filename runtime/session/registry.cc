// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/registry.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/hal/null_transport.h"

namespace heddle::session {

namespace {

const char* CoreName(uint32_t kind) {
  return kind <= static_cast<uint32_t>(isa::CoreKind::kFunctional)
             ? isa::ToString(static_cast<isa::CoreKind>(kind))
             : "unknown";
}

absl::StatusOr<DeviceDescription> Describe(const DeviceSpec& spec,
                                           uint32_t card, hal::Device* device) {
  const auto memory = device->Memory();
  if (!memory.ok()) return memory.status();
  const drm_heddle_device_info& info = device->info();
  DeviceDescription d;
  const bool null = spec.kind == DeviceSpec::Kind::kNull;
  const bool drm = spec.kind == DeviceSpec::Kind::kDrm;
  d.id =
      null || drm ? spec.ToString() : absl::StrCat(spec.ToString(), "#", card);
  d.transport = null ? "null" : drm ? "drm" : "hosted";
  d.config = device->config().name;
  d.core = null ? "null" : CoreName(info.core_kind);
  d.unique = info.unique;
  d.memory_bytes = memory->total;
  d.pci_vendor = info.pci_vendor;
  d.pci_device = info.pci_device;
  d.pci_bdf = info.pci_bdf;
  d.simulated =
      info.core_kind != static_cast<uint32_t>(isa::CoreKind::kSilicon);
  return d;
}

}  // namespace

Registry& Registry::Get() {
  static Registry* const registry = [] {
    auto* made = new Registry;
    // Handlers before a fork run in the reverse order: the transports' locks
    // are taken while ours is held, so theirs has to be registered first.
    hal::PrepareForFork();
    pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
    return made;
  }();
  return *registry;
}

void Registry::BeforeFork() { Get().mutex_.lock(); }
void Registry::AfterForkInParent() { Get().mutex_.unlock(); }
void Registry::AfterForkInChild() {
  // The parent's cards end with the parent, not with its children.
  Get().started_.clear();
  Get().mutex_.unlock();
}

absl::StatusOr<std::string> Registry::Start(const DeviceSpec& spec, bool warn) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string key = spec.ToString();
  auto it = started_.find(key);
  if (it == started_.end()) {
    auto started = StartPrivateCards(spec);
    if (!started.ok()) return started.status();
    it = started_.emplace(key, *std::move(started)).first;
    if (warn) {
      std::fprintf(stderr,
                   "heddle: no Heddle card found; using a simulated one (%s) "
                   "for the lifetime "
                   "of this process (HEDDLE_DEVICE selects a device)\n",
                   spec.Option("config", isa::kConfigs[0].name).c_str());
    }
  }
  return it->second.socket;
}

void Registry::WarnOnce(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string text(status.message());
  if (warned_.count(text) != 0) return;
  std::fprintf(stderr, "heddle: %s\n", text.c_str());
  warned_.insert(std::move(text));
}

absl::StatusOr<DeviceSpec> Registry::Choose(
    const std::string& simulated_config) {
  const char* text = std::getenv("HEDDLE_DEVICE");
  auto spec = ParseDeviceSpec(text != nullptr ? text : "");
  if (!spec.ok()) {
    return absl::Status(
        spec.status().code(),
        absl::StrCat("HEDDLE_DEVICE: ", spec.status().message()));
  }
  if (spec->kind != DeviceSpec::Kind::kAuto) return spec;
  std::unique_lock<std::mutex> lock(mutex_);
  if (found_.has_value()) return *found_;
  const auto nodes = hal::ListDrm();
  if (nodes.ok() && !nodes->empty()) {
    spec->kind = DeviceSpec::Kind::kDrm;
    found_ = *spec;
    return spec;
  }
  lock.unlock();
  if (absl::IsFailedPrecondition(nodes.status()) ||
      absl::IsResourceExhausted(nodes.status())) {
    return nodes.status();
  }
  if (!nodes.ok()) WarnOnce(nodes.status());
  const auto running = hal::ListHosted(kSystemSocket);
  if (absl::IsResourceExhausted(running.status())) return running.status();
  if (running.ok() && !running->empty()) {
    spec->kind = DeviceSpec::Kind::kHosted;
    spec->socket = kSystemSocket;
    return spec;
  }
  spec->kind = DeviceSpec::Kind::kSim;
  if (!simulated_config.empty()) {
    spec->options["config"] = simulated_config;
  }
  const auto socket = Start(*spec, /*warn=*/true);
  if (!socket.ok()) return socket.status();
  return spec;
}

absl::StatusOr<std::vector<DeviceDescription>> Registry::List(
    const std::string& simulated_config) {
  auto spec = Choose(simulated_config);
  if (!spec.ok()) return spec.status();
  std::vector<uint32_t> cards = {0};
  if (spec->kind == DeviceSpec::Kind::kDrm) return ListNodes(*spec);
  if (spec->kind == DeviceSpec::Kind::kNone) cards.clear();
  if (spec->kind == DeviceSpec::Kind::kHosted ||
      spec->kind == DeviceSpec::Kind::kSim) {
    std::string socket = spec->socket;
    if (spec->kind == DeviceSpec::Kind::kSim) {
      const auto started = Start(*spec, /*warn=*/false);
      if (!started.ok()) return started.status();
      socket = *started;
    }
    auto present = hal::ListHosted(socket);
    if (!present.ok()) return present.status();
    cards = *std::move(present);
  }
  std::vector<DeviceDescription> devices;
  Unreadable unreadable;
  for (uint32_t card : cards) {
    if (spec->card.has_value() && *spec->card != card) continue;
    DeviceDescription description;
    const auto device = Connect(*spec, card, &description);
    if (device.ok()) {
      devices.push_back(std::move(description));
    } else if (absl::Status s = unreadable.Add(device.status()); !s.ok()) {
      return s;
    }
  }
  return End(std::move(devices), unreadable);
}

absl::Status Registry::Unreadable::Add(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return status;
  // Unavailable: it has just gone.
  if (!absl::IsUnavailable(status)) all.push_back(status);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeviceDescription>> Registry::End(
    std::vector<DeviceDescription> devices, const Unreadable& unreadable) {
  if (devices.empty() && !unreadable.all.empty()) return unreadable.all.front();
  for (const absl::Status& status : unreadable.all) WarnOnce(status);
  return devices;
}

absl::StatusOr<std::vector<DeviceDescription>> Registry::ListNodes(
    const DeviceSpec& spec) {
  std::vector<DeviceSpec> specs = {spec};
  const bool all = spec.node.empty() && !spec.serial.has_value();
  if (all) {
    const auto nodes = hal::ListDrm();
    if (!nodes.ok()) return nodes.status();
    specs.assign(nodes->size(), spec);
    for (size_t i = 0; i < specs.size(); ++i) specs[i].node = (*nodes)[i];
  }
  std::vector<DeviceDescription> devices;
  std::set<uint64_t> serials;
  Unreadable unreadable;
  for (DeviceSpec& one : specs) {
    DeviceDescription description;
    const auto device = Connect(one, 0, &description);
    if (!device.ok()) {
      if (absl::Status s = unreadable.Add(device.status()); !s.ok()) return s;
      continue;
    }
    const uint64_t serial = description.unique;
    if (all && serial != 0 && serials.insert(serial).second) {
      one.serial = serial;
      description.id = one.ToString();
    }
    devices.push_back(std::move(description));
  }
  return End(std::move(devices), unreadable);
}

absl::StatusOr<std::unique_ptr<hal::Transport>> Registry::Reach(
    const DeviceSpec& spec, uint32_t card) {
  switch (spec.kind) {
    case DeviceSpec::Kind::kDrm: {
      if (!spec.serial.has_value()) return hal::OpenDrm(spec.node);
      const auto node = hal::FindDrm(*spec.serial);
      if (!node.ok()) return node.status();
      return hal::OpenDrm(*node);
    }
    case DeviceSpec::Kind::kHosted:
      return hal::OpenHosted(spec.socket, card);
    case DeviceSpec::Kind::kSim: {
      const auto socket = Start(spec, /*warn=*/false);
      if (!socket.ok()) return socket.status();
      return hal::OpenHosted(*socket, card);
    }
    case DeviceSpec::Kind::kNull: {
      hal::NullOptions options;
      options.config =
          isa::FindConfig(spec.Option("config", isa::kConfigs[0].name));
      if (const std::string memory = spec.Option("memory", "");
          !memory.empty()) {
        const auto bytes = ParseBytes(memory);
        if (!bytes.ok()) return bytes.status();
        options.memory_bytes = *bytes;
      }
      return hal::MakeNullTransport(options);
    }
    default:
      return absl::InvalidArgumentError(
          "not the ID of a device; use one from ListDevices");
  }
}

absl::StatusOr<std::shared_ptr<hal::Device>> Registry::Connect(
    const DeviceSpec& spec, uint32_t card, DeviceDescription* description) {
  auto transport = Reach(spec, card);
  if (!transport.ok()) return transport.status();
  auto device = hal::Device::Open(*std::move(transport));
  if (!device.ok()) return device.status();
  auto described = Describe(spec, card, device->get());
  if (!described.ok()) return described.status();
  *description = *std::move(described);
  return device;
}

absl::StatusOr<std::shared_ptr<hal::Device>> Registry::Connect(
    const std::string& id, DeviceDescription* description) {
  const auto spec = ParseDeviceSpec(id);
  if (!spec.ok()) return spec.status();
  return Connect(*spec, spec->card.value_or(0), description);
}

absl::StatusOr<std::shared_ptr<DeviceCore>> Registry::Open(
    const std::string& id, int priority) {
  DeviceDescription description;
  auto device = Connect(id, &description);
  if (!device.ok()) return device.status();
  return DeviceCore::Open(*std::move(device), std::move(description), priority);
}

}  // namespace heddle::session
