// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/session.h"

#include <unistd.h>

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/hal/status.h"
#include "runtime/session/device_core.h"
#include "runtime/session/device_handle.h"
#include "runtime/session/graph.h"
#include "runtime/session/host_buffer.h"
#include "runtime/session/registry.h"
#include "runtime/session/resident.h"
#include "runtime/session/segmented_graph.h"

namespace heddle::session {
namespace {

class GraphHandle : public Graph {
 public:
  using Graph::Start;
  explicit GraphHandle(std::shared_ptr<LoadedGraph> graph)
      : graph_(std::move(graph)) {}
  ~GraphHandle() override { graph_->WaitIdle(); }
  const package::Package& package() const override { return graph_->package(); }
  uint64_t device_bytes() const override { return graph_->device_bytes(); }
  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) override {
    if (absl::Status s = CheckTurns(inputs, outputs); !s.ok()) return s;
    return graph_->Start(inputs, outputs, std::move(done), options);
  }

 private:
  // Jobs of the card are ordered; who waits for the host has none yet.
  absl::Status CheckTurns(const std::vector<TensorBuffer>& inputs,
                          const std::vector<TensorBuffer>& outputs) const {
    for (const auto* list : {&inputs, &outputs}) {
      for (const TensorBuffer& buffer : *list) {
        if (buffer.resident == nullptr || graph_->core().forked() ||
            !graph_->core().turns().MustWait(
                {{buffer.resident.get(), list == &outputs}})) {
          continue;
        }
        return hal::Exhausted(
            hal::Resource::kDeviceResources,
            absl::StrCat("the resident tensor of '", buffer.name,
                         "' is used by a run of a model that is partly on the "
                         "host; wait for that run"));
      }
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<LoadedGraph> graph_;
};

class WatchHandle : public Watch {
 public:
  WatchHandle(std::shared_ptr<hal::Device> device,
              DeviceDescription description)
      : device_(std::move(device)), description_(std::move(description)) {}
  const DeviceDescription& description() const override { return description_; }
  bool present() noexcept override {
    if (!gone_ && hal::MeansGone(device_->Ping())) gone_ = true;
    return !gone_;
  }

 private:
  const std::shared_ptr<hal::Device> device_;
  const DeviceDescription description_;
  std::atomic<bool> gone_{false};
};

}  // namespace

ExhaustedKind ExhaustedResource(const absl::Status& status) {
  switch (hal::ExhaustedResource(status)) {
    case hal::Resource::kSystemMemory:
      return ExhaustedKind::kSystemMemory;
    case hal::Resource::kSystemResources:
      return ExhaustedKind::kSystemResources;
    case hal::Resource::kDeviceMemory:
      return ExhaustedKind::kDeviceMemory;
    case hal::Resource::kDeviceResources:
      return ExhaustedKind::kDeviceResources;
  }
  return ExhaustedKind::kSystemResources;
}

absl::StatusOr<std::vector<DeviceDescription>> ListDevices(
    const std::string& simulated_config) {
  return Registry::Get().List(simulated_config);
}

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& id,
                                                   const OpenOptions& options) {
  auto core = Registry::Get().Open(id, options.priority);
  if (!core.ok()) return core.status();
  return std::shared_ptr<Device>(
      std::make_shared<DeviceHandle>(*std::move(core)));
}

absl::StatusOr<std::shared_ptr<Resident>> MakeResident(
    std::shared_ptr<Device> device, uint64_t bytes) {
  auto* handle = dynamic_cast<DeviceHandle*>(device.get());
  if (handle == nullptr) {
    return absl::InvalidArgumentError("MakeResident needs an open device");
  }
  return ResidentBuffer::Make(handle->core(), bytes);
}

absl::StatusOr<std::shared_ptr<HostBuffer>> MakeHostBuffer(
    std::shared_ptr<Device> device, uint64_t bytes) {
  auto* handle = dynamic_cast<DeviceHandle*>(device.get());
  if (handle == nullptr) {
    return absl::InvalidArgumentError("MakeHostBuffer needs an open device");
  }
  return MappedHostBuffer::Make(handle->core(), bytes);
}

absl::StatusOr<std::shared_ptr<Watch>> WatchDevice(const std::string& id) {
  DeviceDescription description;
  auto device = Registry::Get().Connect(id, &description);
  if (!device.ok()) return device.status();
  return std::shared_ptr<Watch>(std::make_shared<WatchHandle>(
      *std::move(device), std::move(description)));
}

absl::StatusOr<std::shared_ptr<Graph>> LoadGraph(
    std::shared_ptr<Device> device, absl::string_view package_bytes,
    const LoadOptions& options) {
  auto* handle = dynamic_cast<DeviceHandle*>(device.get());
  if (handle == nullptr) {
    return absl::InvalidArgumentError("LoadGraph needs an open device");
  }
  // The card has the weights before the call is over.
  const std::shared_ptr<const void> caller(std::shared_ptr<const void>(),
                                           package_bytes.data());
  auto package = package::Parse(package_bytes, caller);
  if (!package.ok()) return package.status();
  if (!package->segments.empty()) {
    return SegmentedGraph::Load(handle->core(), *std::move(package), options);
  }
  auto graph = LoadedGraph::Load(handle->core(), *std::move(package), options);
  if (!graph.ok()) return graph.status();
  return std::shared_ptr<Graph>(
      std::make_shared<GraphHandle>(*std::move(graph)));
}

}  // namespace heddle::session
