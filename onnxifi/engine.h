// SPDX-License-Identifier: Apache-2.0
// What the ONNXIFI objects need from the rest of the system: devices, the
// compiler and runs. The product's engine (session_engine.cc) uses
// runtime/session and the compiler; that of the tests is testing/fake_engine.h.
//
// Statuses: Fail (status.h) and compiler::Reject keep their code; Unavailable
// means that the device is gone. All functions are thread-safe and may throw
// std::bad_alloc.
#ifndef HEDDLE_ONNXIFI_ENGINE_H_
#define HEDDLE_ONNXIFI_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {

struct DeviceInfo {
  std::string id;  // where it is
  // Equal for the same card also after it was plugged again, there or elsewhere
  // and with other properties; different for another one: what a backend ID
  // stands for.
  std::string identity;
  std::string name;           // "h256 (simulated, functional)"
  std::string config;         // "h256"
  uint64_t memory_bytes = 0;  // that can be allocated
  // Peaks of the configuration at its clock, per second; 0: not known.
  uint64_t macs_fp32 = 0, memory_bandwidth = 0;
  struct Pci {
    uint32_t domain = 0, bus = 0, device = 0;
  };
  std::optional<Pci> pci;  // absent if the system has no such PCI device
};

// What models the compiler takes.
struct OnnxSupport {
  int min_ir_version = 0, max_ir_version = 0;
  std::vector<std::pair<std::string, int>> opsets;  // {"ai.onnx", 17}
};

struct CompileRequest {
  absl::string_view model;  // ModelProto
  std::string config;
  uint64_t memory_bytes = 0;
  uint64_t optimization = 0;  // ONNXIFI_OPTIMIZATION_*; 0: HIGH_THROUGHPUT
  // Nodes that the card lacks run on the host.
  bool host_nodes = true;
  LogLevel log_level = LogLevel::kWarning;  // of what is said about the steps
  const std::map<std::string, compiler::TensorData>* weights = nullptr;
  std::map<std::string, compiler::Shape> input_shapes;  // others bound to 1
};

struct TensorInfo {
  std::string name;
  compiler::DataType type = compiler::DataType::kUndefined;
  compiler::Shape shape;
  uint64_t bytes = 0;
  // Of an output: axes whose size the values of a run decide (bit i: axis i);
  // `shape` is then the most that there can be.
  uint64_t bounded = 0;
};

struct EngineBuffer {
  std::string name;
  void* data = nullptr;
  uint64_t bytes = 0;
  compiler::Shape shape;  // of the program's tensor
  // Of an output with bounded axes, which may be given less room than the
  // program's tensor has: that one's bytes, the largest shape that is taken,
  // and the axes among them whose size must be the one there.
  uint64_t bounded = 0, whole_bytes = 0, element_bytes = 0;
  compiler::Shape most;
  uint64_t exact = 0;
};

// A model on a device. The destructor waits for its runs; it must not be called
// from `done`.
class EngineGraph {
 public:
  virtual ~EngineGraph() = default;
  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;
  // Whether it runs by an emulation, or partly on the host (FALLBACK).
  virtual bool emulated() const = 0;
  // Reads the inputs and begins the run. After OK, `done` is called exactly
  // once, from a thread of the engine or before Start returns, when the outputs
  // are written or the run has failed; after removal of the device promptly.
  // After an error or an exception it is never called. `done` does not block.
  // `shapes` are those of the outputs, in their order; of those with bounded
  // axes they become, before `done` says that the run ended well, what there
  // is.
  virtual absl::Status Start(const std::vector<EngineBuffer>& inputs,
                             const std::vector<EngineBuffer>& outputs,
                             std::vector<compiler::Shape>* shapes,
                             std::function<void(const absl::Status&)> done) = 0;
};

// An open device.
class EngineDevice {
 public:
  // Runs in flight that it takes at least.
  static constexpr int kMaxRuns = 64;
  virtual ~EngineDevice() = default;
  // What it is, which for the same card may differ from one plug to the next.
  virtual const DeviceInfo& info() const = 0;
  // False once the device is gone; never true again. Cheap.
  virtual bool available() = 0;
  // `callback` is called once, from a thread of the engine, when the device
  // goes (at once if it is gone), perhaps also when this object goes. At most
  // one per device; it does not block.
  virtual void OnRemoved(std::function<void()> callback) = 0;
  // Compiles and loads.
  virtual absl::StatusOr<std::unique_ptr<EngineGraph>> Load(
      const CompileRequest& request) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual OnnxSupport onnx_support() const = 0;
  // The devices that are present now.
  virtual absl::StatusOr<std::vector<DeviceInfo>> ListDevices() = 0;
  // What the card with the identity of `device` is now, wherever it is;
  // Unavailable if it is not present. The answer stays the same object, and
  // needs neither memory nor a descriptor, until the card goes or is forgotten.
  virtual absl::StatusOr<std::shared_ptr<const DeviceInfo>> Find(
      const DeviceInfo& device) = 0;
  // Gives back what Find keeps.
  virtual void Forget(const DeviceInfo& device) noexcept = 0;
  // Opens the card with the identity of `device`, never another one.
  virtual absl::StatusOr<std::unique_ptr<EngineDevice>> Open(
      const DeviceInfo& device) = 0;
  // Whether the device could run the model; true if only by an emulation, or
  // partly on the host. Does not touch the device.
  virtual absl::StatusOr<bool> Analyse(const CompileRequest& request) = 0;
};

// The engine of this library; which one is decided at link time. Called once,
// at the first use.
std::unique_ptr<Engine> MakeEngine();

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_ENGINE_H_
