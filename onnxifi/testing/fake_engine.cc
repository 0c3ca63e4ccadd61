// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/testing/fake_engine.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <thread>
#include <utility>

#include "onnxifi/signature.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

using Lock = std::unique_lock<std::mutex>;

uint64_t Pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

TensorInfo Bind(const DeclaredTensor& declared,
                const std::map<std::string, compiler::Shape>& shapes,
                Dimensions* dimensions) {
  TensorInfo info;
  info.name = declared.name;
  info.type = declared.type;
  const auto given = shapes.find(declared.name);
  if (given != shapes.end()) {
    info.shape = given->second;
    for (size_t i = 0; i < declared.dims.size(); ++i) {
      if (!declared.dims[i].parameter.empty()) {
        (*dimensions)[declared.dims[i].parameter] = info.shape[i];
      }
    }
  } else {
    for (const DeclaredDim& dim : declared.dims) {
      int64_t value = dim.value;
      if (value < 0) {
        const auto bound = dimensions->find(dim.parameter);
        value = bound == dimensions->end() ? 1 : bound->second;
      }
      info.shape.push_back(value);
    }
  }
  info.bytes =
      compiler::ElementCount(info.shape) * compiler::ElementBytes(info.type);
  return info;
}

}  // namespace

class FakeDevice : public EngineDevice {
 public:
  explicit FakeDevice(DeviceInfo info);
  ~FakeDevice() override;
  const DeviceInfo& info() const override { return info_; }
  bool available() override;
  void OnRemoved(std::function<void()> callback) override;
  absl::StatusOr<std::unique_ptr<EngineGraph>> Load(
      const CompileRequest& request) override;

  const DeviceInfo info_;
  const std::string name;
  // Guarded by the world's mutex.
  bool gone = false;
  std::function<void()> removed;
};

// The part of a graph's device that outlives it.
class FakeGraph : public EngineGraph {
 public:
  FakeGraph(FakeDevice* device, const CompileRequest& request,
            const Signature& signature, uint64_t memory)
      : name_(device->name), memory_(memory) {
    Dimensions dimensions;
    for (const DeclaredTensor& input : signature.inputs) {
      if (request.weights->count(input.name) != 0) continue;
      inputs_.push_back(Bind(input, request.input_shapes, &dimensions));
    }
    for (const DeclaredTensor& output : signature.outputs) {
      outputs_.push_back(Bind(output, request.input_shapes, &dimensions));
      // A type that the model leaves open is inferred.
      TensorInfo& made = outputs_.back();
      if (made.type != compiler::DataType::kUndefined || inputs_.empty()) {
        continue;
      }
      made.type = inputs_[0].type;
      made.bytes = compiler::ElementCount(made.shape) *
                   compiler::ElementBytes(made.type);
    }
    for (const auto& [name, data] : *request.weights) {
      if (!data.bytes.empty()) weights_.push_back(data.bytes.ToVector());
    }
    auto& world = FakeWorld::Get();
    {
      Lock lock(world.mutex_);
      generation_ = world.cards_[name_].generation;
      emulated_ = world.emulated_;
    }
    thread_ = std::thread([this] { Loop(); });
    Lock lock(world.mutex_);
    ++world.live_graphs_;
  }

  ~FakeGraph() override {
    auto& world = FakeWorld::Get();
    {
      Lock lock(world.mutex_);
      stop_ = true;
      world.changed_.notify_all();
    }
    thread_.join();
    Lock lock(world.mutex_);
    --world.live_graphs_;
    world.cards_[name_].used -= memory_;
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  bool emulated() const override { return emulated_; }

  absl::Status Start(const std::vector<EngineBuffer>& inputs,
                     const std::vector<EngineBuffer>& outputs,
                     std::vector<compiler::Shape>*,
                     std::function<void(const absl::Status&)> done) override {
    auto& world = FakeWorld::Get();
    if (auto s = world.Pass(Point::kStart); !s.ok()) return s;
    Job job;
    for (const EngineBuffer& output : outputs) {
      std::vector<uint8_t> bytes(output.bytes, 1);
      for (const EngineBuffer& input : inputs) {
        Add(static_cast<const uint8_t*>(input.data), input.bytes, &bytes);
      }
      for (const auto& weight : weights_) {
        Add(weight.data(), weight.size(), &bytes);
      }
      job.results.push_back(std::move(bytes));
    }
    job.outputs = outputs;
    job.done = std::move(done);
    Lock lock(world.mutex_);
    if (GoneLocked()) return absl::UnavailableError("fake card is gone");
    jobs_.push_back(std::move(job));
    ++world.starts_;
    world.changed_.notify_all();
    return absl::OkStatus();
  }

 private:
  struct Job {
    std::vector<std::vector<uint8_t>> results;
    std::vector<EngineBuffer> outputs;
    std::function<void(const absl::Status&)> done;
  };

  static void Add(const uint8_t* data, uint64_t size,
                  std::vector<uint8_t>* bytes) {
    for (size_t i = 0; i < bytes->size() && size > 0; ++i) {
      (*bytes)[i] = static_cast<uint8_t>((*bytes)[i] + data[i % size]);
    }
  }

  bool GoneLocked() const {
    const auto& card = FakeWorld::Get().cards_[name_];
    return !card.present || card.generation != generation_;
  }

  void Loop() {
    auto& world = FakeWorld::Get();
    Lock lock(world.mutex_);
    while (true) {
      world.changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      const auto end = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(world.run_time_ms_);
      world.changed_.wait_until(lock, end, [&] { return GoneLocked(); });
      world.changed_.wait(lock,
                          [&] { return world.gate_open_ || GoneLocked(); });
      lock.unlock();
      absl::Status status = world.Pass(Point::kRun);
      lock.lock();
      if (GoneLocked()) status = absl::UnavailableError("fake card is gone");
      lock.unlock();
      if (status.ok()) {
        for (size_t i = 0; i < job.outputs.size(); ++i) {
          std::copy(job.results[i].begin(), job.results[i].end(),
                    static_cast<uint8_t*>(job.outputs[i].data));
        }
      }
      job.done(status);
      job = Job();
      lock.lock();
    }
  }

  const std::string name_;
  const uint64_t memory_;
  int generation_ = 0;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<std::vector<uint8_t>> weights_;
  bool emulated_ = false;
  // Guarded by the world's mutex.
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

FakeDevice::FakeDevice(DeviceInfo info)
    : info_(std::move(info)), name(info_.identity) {
  auto& world = FakeWorld::Get();
  Lock lock(world.mutex_);
  gone = !world.cards_[name].present;
  world.devices_.insert(this);
}

FakeDevice::~FakeDevice() {
  auto& world = FakeWorld::Get();
  std::function<void()> told;
  {
    Lock lock(world.mutex_);
    world.devices_.erase(this);
    told.swap(removed);
  }
  // As the product's, whose connection ends.
  if (told != nullptr) told();
}

bool FakeDevice::available() {
  Lock lock(FakeWorld::Get().mutex_);
  return !gone;
}

void FakeDevice::OnRemoved(std::function<void()> callback) {
  Lock lock(FakeWorld::Get().mutex_);
  if (!gone) {
    removed = std::move(callback);
    return;
  }
  lock.unlock();
  callback();
}

absl::StatusOr<std::unique_ptr<EngineGraph>> FakeDevice::Load(
    const CompileRequest& request) {
  auto& world = FakeWorld::Get();
  if (auto s = world.Pass(Point::kLoad); !s.ok()) return s;
  auto signature = ReadSignature(request.model);
  if (!signature.ok()) return signature.status();
  const uint64_t memory = Pages(request.model.size());
  {
    Lock lock(world.mutex_);
    if (!world.refusal_.ok()) return world.refusal_;
    if (gone) return absl::UnavailableError("fake card is gone");
    world.optimization_ = request.optimization;
    auto& card = world.cards_[name];
    if (card.used + memory > card.info.memory_bytes) {
      return Fail(ONNXIFI_STATUS_NO_DEVICE_MEMORY, "fake card is full");
    }
    card.used += memory;
  }
  try {
    return std::make_unique<FakeGraph>(this, request, *signature, memory);
  } catch (...) {
    Lock lock(world.mutex_);
    world.cards_[name].used -= memory;
    throw;
  }
}

class FakeEngine : public Engine {
 public:
  OnnxSupport onnx_support() const override {
    return {3, 8, {{"ai.onnx", 17}}};
  }

  absl::StatusOr<std::vector<DeviceInfo>> ListDevices() override {
    auto& world = FakeWorld::Get();
    if (auto s = world.Pass(Point::kList); !s.ok()) return s;
    std::vector<DeviceInfo> devices;
    Lock lock(world.mutex_);
    for (const auto& [name, card] : world.cards_) {
      if (card.present) devices.push_back(card.info);
    }
    return devices;
  }

  absl::StatusOr<std::shared_ptr<const DeviceInfo>> Find(
      const DeviceInfo& device) override {
    auto& world = FakeWorld::Get();
    Lock lock(world.mutex_);
    const auto card = world.cards_.find(device.identity);
    if (card == world.cards_.end() || !card->second.present) {
      return absl::UnavailableError("fake card is gone");
    }
    return std::make_shared<const DeviceInfo>(card->second.info);
  }

  void Forget(const DeviceInfo&) noexcept override {}

  absl::StatusOr<std::unique_ptr<EngineDevice>> Open(
      const DeviceInfo& device) override {
    auto& world = FakeWorld::Get();
    if (auto s = world.Pass(Point::kOpen); !s.ok()) return s;
    auto found = Find(device);
    if (!found.ok()) return found.status();
    return std::make_unique<FakeDevice>(**found);
  }

  absl::StatusOr<bool> Analyse(const CompileRequest& request) override {
    auto& world = FakeWorld::Get();
    if (auto s = world.Pass(Point::kAnalyse); !s.ok()) return s;
    auto signature = ReadSignature(request.model);
    if (!signature.ok()) return signature.status();
    Lock lock(world.mutex_);
    if (!world.refusal_.ok()) return world.refusal_;
    return world.emulated_;
  }
};

std::unique_ptr<Engine> MakeEngine() { return std::make_unique<FakeEngine>(); }

FakeWorld& FakeWorld::Get() {
  static FakeWorld* world = [] {
    auto* made = new FakeWorld;
    made->Reset();
    return made;
  }();
  return *world;
}

void FakeWorld::Reset() {
  {
    Lock lock(mutex_);
    failures_.clear();
    hook_ = nullptr;
    run_time_ms_ = 0;
    gate_open_ = true;
    emulated_ = false;
    refusal_ = absl::OkStatus();
    starts_ = 0;
    changed_.notify_all();
  }
  std::vector<std::string> others;
  {
    Lock lock(mutex_);
    for (const auto& [name, card] : cards_) {
      if (name != "card0" && card.present) others.push_back(name);
    }
  }
  for (const std::string& name : others) Unplug(name);
  Plug("card0");
}

void FakeWorld::Plug(const std::string& name, uint64_t memory_bytes) {
  Lock lock(mutex_);
  Card& card = cards_[name];
  if (!card.present) ++card.generation;
  card.present = true;
  card.info.id = name + "#" + std::to_string(card.generation);
  card.info.identity = name;
  card.info.name = "fake " + name;
  card.info.config = "h256";
  card.info.memory_bytes = memory_bytes;
  card.info.macs_fp32 = 1000000000000000;  // more than any run does
  card.info.pci = DeviceInfo::Pci{1, 2, 3};
}

void FakeWorld::Unplug(const std::string& name) {
  std::vector<std::function<void()>> callbacks;
  {
    Lock lock(mutex_);
    cards_[name].present = false;
    for (FakeDevice* device : devices_) {
      if (device->name != name || device->gone) continue;
      device->gone = true;
      if (device->removed) callbacks.push_back(std::move(device->removed));
      device->removed = nullptr;
    }
    changed_.notify_all();
  }
  for (const auto& callback : callbacks) callback();
}

void FakeWorld::FailAt(Point point, absl::Status status, int skip) {
  Lock lock(mutex_);
  failures_[point] = {skip, std::move(status)};
}

void FakeWorld::SetHook(std::function<void(Point)> hook) {
  Lock lock(mutex_);
  hook_ = std::move(hook);
}

void FakeWorld::SetRunTime(int milliseconds) {
  Lock lock(mutex_);
  run_time_ms_ = milliseconds;
}

void FakeWorld::CloseGate() {
  Lock lock(mutex_);
  gate_open_ = false;
}

void FakeWorld::OpenGate() {
  Lock lock(mutex_);
  gate_open_ = true;
  changed_.notify_all();
}

void FakeWorld::SetEmulated(bool emulated) {
  Lock lock(mutex_);
  emulated_ = emulated;
}

void FakeWorld::SetRejection(absl::Status refusal) {
  Lock lock(mutex_);
  refusal_ = std::move(refusal);
}

int FakeWorld::live_graphs() {
  Lock lock(mutex_);
  return live_graphs_;
}

int FakeWorld::live_devices() {
  Lock lock(mutex_);
  return static_cast<int>(devices_.size());
}

uint64_t FakeWorld::optimization() {
  Lock lock(mutex_);
  return optimization_;
}

int FakeWorld::starts() {
  Lock lock(mutex_);
  return starts_;
}

uint64_t FakeWorld::memory_used(const std::string& name) {
  Lock lock(mutex_);
  return cards_[name].used;
}

absl::Status FakeWorld::Pass(Point point) {
  std::function<void(Point)> hook;
  {
    Lock lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(point);
  Lock lock(mutex_);
  const auto failure = failures_.find(point);
  if (failure == failures_.end()) return absl::OkStatus();
  if (failure->second.skip-- > 0) return absl::OkStatus();
  absl::Status status = std::move(failure->second.status);
  failures_.erase(failure);
  return status;
}

}  // namespace heddle::onnxifi
