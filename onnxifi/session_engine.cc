// SPDX-License-Identifier: Apache-2.0
// The product's engine: devices and runs of runtime/session, models through the
// compiler.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/clock.h"
#include "compiler/base/diagnostic.h"
#include "compiler/cache/compile_cache.h"
#include "compiler/compiler.h"
#include "compiler/import/importer.h"
#include "compiler/judge.h"
#include "compiler/ops/define.h"
#include "compiler/other_shapes.h"
#include "compiler/partition/support.h"
#include "compiler/shapes/compile_shape_set.h"
#include "onnxifi/engine.h"
#include "onnxifi/environment.h"
#include "onnxifi/log.h"
#include "onnxifi/placement.h"
#include "onnxifi/signature.h"
#include "onnxifi/status.h"
#include "onnxifi/variable_outputs.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/session/session.h"
#include "runtime/session/shape_set_graph.h"

namespace heddle::onnxifi {
namespace {

// Which resource was exhausted, in ONNXIFI's terms; other statuses unchanged.
absl::Status Translate(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status) ||
      compiler::RejectionOf(status) != compiler::Rejection::kNone) {
    return status;
  }
  onnxStatus code = ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
  switch (session::ExhaustedResource(status)) {
    case session::ExhaustedKind::kSystemMemory:
      code = ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
      break;
    case session::ExhaustedKind::kSystemResources:
      code = ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
      break;
    case session::ExhaustedKind::kDeviceMemory:
      code = ONNXIFI_STATUS_NO_DEVICE_MEMORY;
      break;
    case session::ExhaustedKind::kDeviceResources:
      code = ONNXIFI_STATUS_NO_DEVICE_RESOURCES;
      break;
  }
  return Fail(code, std::string(status.message()));
}

absl::Status TranslateNoexcept(const absl::Status& status) noexcept {
  try {
    return Translate(status);
  } catch (const std::bad_alloc&) {
    return NoMemory();  // whatever else is short
  }
}

compiler::CompileOptions OptionsOf(const CompileRequest& request) {
  compiler::CompileOptions options;
  options.config = request.config;
  options.input_shapes = request.input_shapes;
  // onnxInitGraph compiles before it knows any shape.
  options.open_dimensions_are_one = true;
  options.device_memory_bytes = request.memory_bytes;
  options.host_nodes = request.host_nodes;
  options.placement = DefaultPlacement();
  options.host_profile = DefaultHostProfile();
  if (request.weights != nullptr) options.weights = *request.weights;
  switch (request.optimization) {
    case ONNXIFI_OPTIMIZATION_LOW_POWER:
      // What costs most is the way to and from device memory.
      options.goal = compiler::Goal::kTraffic;
      break;
    case ONNXIFI_OPTIMIZATION_LOW_DELAY:
      options.goal = compiler::Goal::kCompileTime;
      break;
    case ONNXIFI_OPTIMIZATION_AOT:
      options.goal = compiler::Goal::kThorough;
      break;
    default:
      // One core, one run at a time: latency and throughput are one figure.
      options.goal = compiler::Goal::kSpeed;
  }
  if (request.log_level <= LogLevel::kDebug) {
    options.progress = [level = request.log_level](const char* stage,
                                                   double part) {
      // A stage is one line, however often it tells how far it is.
      if (part <= 0) Log(level, LogLevel::kDebug, stage, "compiling: ");
    };
  }
  return options;
}

// Whether a node is run as something larger than it is: a grouped convolution
// that is not depthwise becomes an ordinary one with zeros between the groups.
bool Emulated(const compiler::Graph& graph) {
  for (const compiler::Node& node : graph.nodes) {
    if (node.op != "QLinearConv" || node.IntAttribute("group", 1) == 1) {
      continue;
    }
    const int64_t group = node.IntAttribute("group", 1);
    const compiler::Shape& x = graph.tensors[node.inputs[0]].shape;
    const compiler::Shape& y = graph.tensors[node.outputs[0]].shape;
    if (x[1] != group || y[1] != group) return true;
  }
  return false;
}

// The status of a model that the compiler refuses.
absl::Status Refused(const CompileRequest& request,
                     const compiler::CompileOptions& options,
                     const absl::Status& refusal) {
  const compiler::Rejection kind = compiler::RejectionOf(refusal);
  const bool shape = kind == compiler::Rejection::kMismatchingShape ||
                     kind == compiler::Rejection::kUnsupportedShape;
  return shape && !compiler::OtherShapesMayHelp(request.model, options)
             ? WhateverShapes(Translate(refusal))
             : Translate(refusal);
}

std::vector<TensorInfo> TensorsOf(
    const std::vector<package::TensorInfo>& tensors) {
  std::vector<TensorInfo> result;
  for (const package::TensorInfo& tensor : tensors) {
    result.push_back({tensor.name, tensor.type, tensor.shape, tensor.size, 0});
  }
  return result;
}

std::vector<session::TensorBuffer> BuffersOf(
    const std::vector<EngineBuffer>& buffers) {
  std::vector<session::TensorBuffer> result;
  for (const EngineBuffer& buffer : buffers) {
    result.push_back({buffer.name, buffer.data, buffer.bytes});
  }
  return result;
}

std::string Summary(const compiler::CompileResult& result,
                    const std::string& config) {
  const compiler::CompileReport& report = result.report;
  const auto timed = [clock_mhz = compiler::ClockMhz(config)](uint64_t cycles) {
    const std::string time = compiler::AtTheClock(cycles, clock_mhz);
    return time.empty() ? "" : absl::StrCat(": ", time);
  };
  return absl::StrCat("compiled: ", report.layers.size(), " operations, ",
                      report.commands, " commands, ", report.estimated_cycles,
                      " cycles (estimated)", timed(report.estimated_cycles),
                      report.estimated_job_cycles == 0
                          ? ""
                          : absl::StrCat(", ", report.estimated_job_cycles,
                                         " of the job with its copies",
                                         timed(report.estimated_job_cycles)),
                      ", ", report.dram_bytes, " bytes of traffic, ",
                      report.region0_bytes + report.window_bytes +
                          report.scratch_bytes + report.io_bytes +
                          report.stream_bytes,
                      " bytes of device memory",
                      report.copied_weight_bytes == 0
                          ? ""
                          : absl::StrCat(", ", report.copied_weight_bytes,
                                         " bytes of weights are copied from "
                                         "host memory for each run"));
}

// The end of a run, which tells its shapes when its handle is there, too: the
// session may call back before it gives the handle.
class Ending {
 public:
  Ending(const std::vector<EngineBuffer>& outputs,
         std::vector<compiler::Shape>* shapes,
         std::function<void(const absl::Status&)> done)
      : outputs_(outputs, shapes),
        done_(std::move(done)),
        missing_(outputs_.any() ? 2 : 1) {}
  const VariableOutputs& outputs() const { return outputs_; }
  // `run` lives until over().
  void Began(const session::Run* run) noexcept {
    if (!outputs_.any()) return;
    run_ = run;
    Arrive();
  }
  void Ended(const absl::Status& status) noexcept {
    status_ = status;
    Arrive();
  }
  bool over() const { return over_; }

 private:
  void Arrive() noexcept {
    if (missing_.fetch_sub(1) > 1) return;
    done_(status_.ok() ? Settle() : TranslateNoexcept(status_));
    done_ = nullptr;
    over_ = true;
  }
  absl::Status Settle() noexcept {
    if (!outputs_.any()) return absl::OkStatus();
    try {
      return outputs_.Settle(*run_);
    } catch (const std::bad_alloc&) {
      return NoMemory();
    }
  }

  VariableOutputs outputs_;
  std::function<void(const absl::Status&)> done_;
  const session::Run* run_ = nullptr;
  absl::Status status_;
  std::atomic<int> missing_;
  std::atomic<bool> over_{false};
};

class SessionGraph : public EngineGraph {
 public:
  SessionGraph(std::shared_ptr<session::Graph> graph, bool emulated)
      : graph_(std::move(graph)),
        inputs_(TensorsOf(graph_->package().inputs)),
        outputs_(TensorsOf(graph_->package().outputs)),
        emulated_(emulated) {
    for (TensorInfo& output : outputs_) {
      output.bounded = graph_->BoundedAxes(output.name);
    }
  }

  ~SessionGraph() override {
    // The runs wait for their ends here, then the graph goes.
    std::list<Entry> runs;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      runs.swap(runs_);
    }
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  bool emulated() const override { return emulated_; }

  absl::Status Start(const std::vector<EngineBuffer>& inputs,
                     const std::vector<EngineBuffer>& outputs,
                     std::vector<compiler::Shape>* shapes,
                     std::function<void(const absl::Status&)> done) override {
    // A run is dropped here or in the destructor, never in its own callback.
    const auto ending =
        std::make_shared<Ending>(outputs, shapes, std::move(done));
    std::list<Entry> added(1), over;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (auto it = runs_.begin(); it != runs_.end();) {
        const auto current = it++;
        if (current->ending->over()) over.splice(over.end(), runs_, current);
      }
    }
    auto run = graph_->Start(
        BuffersOf(inputs), ending->outputs().buffers(),
        [ending](const absl::Status& status) { ending->Ended(status); });
    if (!run.ok()) {
      // The buffers are the program's own in number, name and size: what is
      // wrong are values that the card cannot hold.
      if (absl::IsInvalidArgument(run.status())) {
        return Fail(ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                    std::string(run.status().message()));
      }
      return Translate(run.status());
    }
    added.front().run = *std::move(run);
    added.front().ending = ending;
    const session::Run* const handle = added.front().run.get();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      runs_.splice(runs_.end(), added);
    }
    ending->Began(handle);
    return absl::OkStatus();
  }

 private:
  struct Entry {
    std::shared_ptr<session::Run> run;
    std::shared_ptr<const Ending> ending;
  };
  const std::shared_ptr<session::Graph> graph_;
  const std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  const bool emulated_;
  std::mutex mutex_;
  std::list<Entry> runs_;
};

DeviceInfo InfoOf(const session::DeviceDescription& device) {
  DeviceInfo info;
  info.id = device.id;
  info.config = device.config;
  info.memory_bytes = device.memory_bytes;
  if (const isa::Config* config = isa::FindConfig(device.config)) {
    const uint64_t hz = uint64_t{config->clock_mhz} * 1000000;
    // The vector engine's: one multiply-accumulate per lane and cycle.
    info.macs_fp32 = isa::kVectorLanes * hz;
    info.memory_bandwidth = config->dram_bytes_per_cycle * hz;
  }
  info.name = absl::StrCat(
      "Heddle ", device.config,
      device.simulated ? absl::StrCat(" (simulated, ", device.core, ")") : "");
  info.identity = device.unique == 0
                      ? device.id
                      : absl::StrCat(device.transport, " ", device.unique);
  // Of other transports the PCI address is not one of this system.
  if (device.transport == "drm") {
    info.pci = DeviceInfo::Pci{device.pci_bdf >> 16, device.pci_bdf >> 8 & 0xff,
                               device.pci_bdf >> 3 & 0x1f};
  }
  return info;
}

// Whether `found` is the card that `wanted` names. Cards that carry one serial
// number are told apart by their place, which the identity then ends with.
bool SameCard(const DeviceInfo& wanted, const DeviceInfo& found) {
  return wanted.identity == found.identity ||
         wanted.identity == absl::StrCat(found.identity, " ", found.id);
}

class SessionDevice : public EngineDevice {
 public:
  // `gone`: what others have learned of the card; or null.
  SessionDevice(std::shared_ptr<session::Device> device, DeviceInfo info,
                std::shared_ptr<const std::atomic<bool>> gone)
      : device_(std::move(device)),
        info_(std::move(info)),
        gone_(std::move(gone)) {}
  const DeviceInfo& info() const override { return info_; }
  bool available() override {
    return device_->available() && (gone_ == nullptr || !*gone_);
  }
  void OnRemoved(std::function<void()> callback) override {
    device_->OnRemoved(std::move(callback));
  }
  absl::StatusOr<std::unique_ptr<EngineGraph>> Load(
      const CompileRequest& request) override {
    const compiler::CompileOptions options = OptionsOf(request);
    std::string missing;
    auto held = FromShapeSets(request, options, &missing);
    if (!held.ok()) return Translate(held.status());
    if (*held != nullptr) return held;
    const compiler::FileCache* cache = CompileCache();
    absl::StatusOr<compiler::CacheKey> key = absl::NotFoundError("");
    if (cache != nullptr) {
      key = compiler::CompileKey(request.model, options);
      if (key.ok()) {
        auto found = cache->Find(*key);
        // One that cannot be loaded is compiled again.
        if (found.ok() && !found->empty()) {
          auto graph = LoadKept(*found);
          if (graph.ok()) {
            Log(request.log_level, LogLevel::kInfo, cache->folder(),
                "using the compiled model in the cache: ");
            return graph;
          }
          if (absl::IsUnavailable(graph.status()) ||
              absl::IsResourceExhausted(graph.status())) {
            return Translate(graph.status());
          }
        }
      }
    }
    if (!MayCompile()) {
      return Fail(
          ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
          absl::StrCat(
              missing.empty()
                  ? "no package in HEDDLE_SHAPE_SETS belongs to this model"
                  : missing,
              "; HEDDLE_NO_COMPILE forbids compiling: unset "
              "it, or add what is missing with "
              "heddle-compile --shape-set"));
    }
    std::string kept;
    if (absl::Status s = Compile(request, options, &kept); !s.ok()) return s;
    if (key.ok()) {
      if (const absl::Status s = cache->Store(*key, kept); !s.ok()) {
        Log(request.log_level, LogLevel::kInfo, s.message());
      }
    }
    auto graph = LoadKept(kept);
    if (!graph.ok()) return Translate(graph.status());
    return graph;
  }

 private:
  // A specialisation that somebody compiled before; null: there is none, and
  // `missing` says what a package of the model holds instead.
  absl::StatusOr<std::unique_ptr<EngineGraph>> FromShapeSets(
      const CompileRequest& request, compiler::CompileOptions options,
      std::string* missing) {
    const bool weights =
        request.weights != nullptr && !request.weights->empty();
    if (ShapeSets().empty() || weights) return nullptr;
    const std::string model = compiler::ModelSha256(request.model);
    for (const auto& file : ShapeSets()) {
      const package::ShapeSet& set = file->set;
      if (set.model_sha256 != model || set.config != info_.config) continue;
      // onnxInitGraph asks before it knows any shape.
      const auto values = request.input_shapes.empty()
                              ? set.specialisations.front().values
                              : set.ValuesOf(request.input_shapes);
      if (!values.ok()) continue;
      if (!set.Choose(*values).has_value()) {
        *missing = set.Missing(*values);
        continue;
      }
      options.input_shapes = set.ShapesOf(*values);
      auto graph = TakeFrom(*file, request, options);
      if (graph.ok() && *graph == nullptr) continue;
      if (graph.ok()) {
        Log(request.log_level, LogLevel::kInfo,
            absl::StrCat(file->path, ": ", set.Text(*values)),
            "using the compiled package ");
      } else if (!absl::IsUnavailable(graph.status()) &&
                 !absl::IsResourceExhausted(graph.status())) {
        Log(request.log_level, LogLevel::kWarning, graph.status().message(),
            "not using a package of HEDDLE_SHAPE_SETS: ");
        continue;
      }
      return graph;
    }
    return nullptr;
  }

  absl::StatusOr<std::unique_ptr<EngineGraph>> TakeFrom(
      const ShapeSetFile& file, const CompileRequest& request,
      const compiler::CompileOptions& options) {
    std::shared_ptr<session::ShapeSetGraph> graphs;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto& entry = shape_sets_[&file];
      if (entry == nullptr) {
        session::ShapeSetOptions load;
        load.load = HostOptions();
        auto loaded = session::ShapeSetGraph::Load(
            device_, file.bytes, compiler::KeptByCaller(file.bytes), load);
        if (!loaded.ok()) return loaded.status();
        entry = *std::move(loaded);
      }
      graphs = entry;
    }
    const auto analysed = compiler::AnalyseOnnx(
        request.model, options, compiler::KeptByCaller(request.model));
    if (!analysed.ok()) return analysed.status();
    auto taken = graphs->For(options.input_shapes);
    if (!taken.ok()) return taken.status();
    const bool host = !taken->graph->package().segments.empty();
    if (host && !request.host_nodes) return nullptr;
    return std::make_unique<SessionGraph>(std::move(taken->graph),
                                          Emulated(*analysed) || host);
  }

  // What the cache keeps: the package, and a byte that says whether the graph
  // is emulated.
  static absl::Status Compile(const CompileRequest& request,
                              compiler::CompileOptions options,
                              std::string* kept) {
    auto analysed = compiler::AnalyseOnnx(
        request.model, options, compiler::KeptByCaller(request.model));
    if (!analysed.ok()) return Refused(request, options, analysed.status());
    if (compiler::HasEmptyTensors(*analysed)) options.host_nodes = false;
    auto compiled =
        compiler::CompileAnalysed(*analysed, request.model, options);
    if (!compiled.ok()) return Translate(compiled.status());
    if (request.log_level <= LogLevel::kInfo) {
      Log(request.log_level, LogLevel::kInfo,
          Summary(*compiled, options.config));
    }
    for (const compiler::HostNode& node : compiled->report.host_nodes) {
      Log(request.log_level, LogLevel::kInfo, node.reason, "on the host: ");
    }
    const bool emulated =
        Emulated(*analysed) || !compiled->report.host_nodes.empty();
    *kept = std::move(compiled->package);
    kept->push_back(emulated ? 1 : 0);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<EngineGraph>> LoadKept(
      const std::string& kept) {
    absl::string_view package(kept);
    const bool emulated = package.back() != 0;
    package.remove_suffix(1);
    auto graph = session::LoadGraph(device_, package, HostOptions());
    if (!graph.ok()) return graph.status();
    return std::make_unique<SessionGraph>(*std::move(graph), emulated);
  }

  const std::shared_ptr<session::Device> device_;
  const DeviceInfo info_;
  const std::shared_ptr<const std::atomic<bool>> gone_;
  std::mutex mutex_;
  std::map<const ShapeSetFile*, std::shared_ptr<session::ShapeSetGraph>>
      shape_sets_;
};
static_assert(EngineDevice::kMaxRuns <= session::kMaxRunsInFlight);

class SessionEngine : public Engine {
 public:
  OnnxSupport onnx_support() const override {
    return {compiler::kMinIrVersion,
            compiler::kMaxIrVersion,
            {{"ai.onnx", compiler::kMaxOpset}, {"com.microsoft", 1}}};
  }

  absl::StatusOr<std::vector<DeviceInfo>> ListDevices() override {
    auto listed = session::ListDevices();
    if (absl::IsResourceExhausted(listed.status()) ||
        absl::IsInvalidArgument(listed.status())) {
      return Translate(listed.status());
    }
    if (!listed.ok()) {
      // Nothing to run on is an answer: as an error it would keep ONNX's
      // wrapper from every other vendor's devices.
      WarnOnce(listed.status());
      return std::vector<DeviceInfo>();
    }
    const char* asked = std::getenv("HEDDLE_DEVICE");
    if (asked != nullptr && absl::string_view(asked) == "none") {
      // The application sees no devices, and its user may not know of this.
      WarnOnce(absl::UnavailableError(
          "HEDDLE_DEVICE is 'none'; unset it to use a card"));
    }
    std::vector<DeviceInfo> devices;
    std::set<std::string> identities;
    for (const session::DeviceDescription& device : *listed) {
      DeviceInfo info = InfoOf(device);
      // Cards that carry one serial number are told apart by their place.
      if (!identities.insert(info.identity).second) {
        absl::StrAppend(&info.identity, " ", info.id);
      }
      devices.push_back(std::move(info));
    }
    return devices;
  }

  absl::StatusOr<std::shared_ptr<const DeviceInfo>> Find(
      const DeviceInfo& device) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = watched_.find(device.identity);
    if (known != watched_.end()) {
      if (known->second.watch->present()) return known->second.info;
      known->second.gone->store(true);
      watched_.erase(known);
    }
    auto found = Reach(device, &session::WatchDevice);
    if (!found.ok()) return found.status();
    auto info = std::make_shared<const DeviceInfo>(std::move(found->second));
    watched_.emplace(device.identity,
                     Watched{std::move(found->first), info,
                             std::make_shared<std::atomic<bool>>(false)});
    return info;
  }

  void Forget(const DeviceInfo& device) noexcept override {
    std::lock_guard<std::mutex> lock(mutex_);
    watched_.erase(device.identity);
  }

  absl::StatusOr<std::unique_ptr<EngineDevice>> Open(
      const DeviceInfo& device) override {
    auto found = Reach(
        device, [](const std::string& id) { return session::OpenDevice(id); });
    if (!found.ok()) return found.status();
    return std::make_unique<SessionDevice>(
        std::move(found->first), std::move(found->second), GoneOf(device));
  }

  absl::StatusOr<bool> Analyse(const CompileRequest& request) override {
    const compiler::CompileOptions options = OptionsOf(request);
    auto judged = compiler::JudgeOnnx(request.model, options);
    if (!judged.ok()) return Refused(request, options, judged.status());
    return judged->uses_host || Emulated(judged->graph);
  }

 private:
  struct Watched {
    std::shared_ptr<session::Watch> watch;
    std::shared_ptr<const DeviceInfo> info;
    std::shared_ptr<std::atomic<bool>> gone;  // set when that has been noticed
  };

  // A session may learn that its card was removed later than the monitor of its
  // ID does; this keeps the ID and the backend from disagreeing. If the
  // monitored card is still present, a card opened just now is that one, not
  // one plugged in since. Null: none is monitored.
  std::shared_ptr<const std::atomic<bool>> GoneOf(const DeviceInfo& device) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = watched_.find(device.identity);
    return known != watched_.end() && known->second.watch->present()
               ? known->second.gone
               : nullptr;
  }

  // Opens with `open` the card that `device` names: where it was, or where it
  // is now.
  template <typename OpenFunction>
  auto Reach(const DeviceInfo& device, OpenFunction open) -> absl::StatusOr<
      std::pair<std::decay_t<decltype(*open(device.id))>, DeviceInfo>> {
    auto opened = open(device.id);
    if (opened.ok()) {
      DeviceInfo info = InfoOf((*opened)->description());
      if (SameCard(device, info)) {
        info.identity = device.identity;
        return std::make_pair(*std::move(opened), std::move(info));
      }
    } else if (absl::IsResourceExhausted(opened.status())) {
      return Translate(opened.status());
    }
    auto devices = ListDevices();
    if (!devices.ok()) return devices.status();
    for (const DeviceInfo& candidate : *devices) {
      if (candidate.identity != device.identity) continue;
      opened = open(candidate.id);
      if (!opened.ok()) return Translate(opened.status());
      DeviceInfo info = InfoOf((*opened)->description());
      if (!SameCard(device, info)) break;  // it was changed meanwhile
      info.identity = device.identity;
      return std::make_pair(*std::move(opened), std::move(info));
    }
    return absl::UnavailableError("the card of this backend ID is gone");
  }

  void WarnOnce(const absl::Status& status) {
    std::lock_guard<std::mutex> lock(warned_mutex_);
    if (!warned_.insert(std::string(status.message())).second) return;
    Log(DefaultLogLevel(), LogLevel::kWarning, status.message(), "no device: ");
  }

  std::mutex mutex_;
  std::map<std::string, Watched> watched_;
  std::mutex warned_mutex_;
  std::set<std::string> warned_;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine() {
  return std::make_unique<SessionEngine>();
}

}  // namespace heddle::onnxifi
