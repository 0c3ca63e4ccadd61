// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/device_model.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/session/device_spec.h"
#include "tools/cli/missing_device.h"
#include "tools/heddle-run/estimated_times.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::run {
namespace {

// Devices of HEDDLE_DEVICE of that configuration ("" = that of the first one).
absl::StatusOr<std::vector<session::DeviceDescription>> ListOf(
    const std::string& config) {
  const auto devices = session::ListDevices(config);
  if (!devices.ok()) return devices.status();
  std::vector<session::DeviceDescription> list;
  for (const session::DeviceDescription& device : *devices) {
    const std::string& wanted =
        config.empty() ? devices->front().config : config;
    if (device.config == wanted) list.push_back(device);
  }
  if (!list.empty()) return list;
  if (devices->empty()) {
    const char* form = std::getenv("HEDDLE_DEVICE");
    return absl::UnavailableError(
        cli::MissingDevice(form != nullptr ? form : ""));
  }
  return absl::UnavailableError(absl::StrCat(
      "no device of configuration ", config, " (", devices->front().id, " is ",
      devices->front().config, "); give --device sim:config=", config));
}

// At least one.
absl::StatusOr<std::vector<session::DeviceDescription>> ChooseDevices(
    std::string config, const DeviceModel::Settings& settings) {
  std::vector<session::DeviceDescription> chosen;
  const auto add = [&]() -> absl::Status {
    auto list = ListOf(config);
    if (!list.ok()) return list.status();
    if (!settings.all_devices) list->resize(1);
    for (session::DeviceDescription& d : *list) chosen.push_back(std::move(d));
    config = chosen.front().config;
    return absl::OkStatus();
  };
  if (settings.devices.empty()) {
    if (absl::Status s = add(); !s.ok()) return s;
  }
  for (const std::string& device : settings.devices) {
    // The session takes it from there.
    setenv("HEDDLE_DEVICE", device.c_str(), 1);
    if (absl::Status s = add(); !s.ok()) return s;
  }
  return chosen;
}

absl::StatusOr<std::shared_ptr<session::CardPool>> LoadOnAll(
    const std::vector<session::DeviceDescription>& descriptions,
    std::string package, const session::LoadOptions& load) {
  std::vector<std::shared_ptr<session::Device>> devices;
  for (const session::DeviceDescription& description : descriptions) {
    auto device = session::OpenDevice(description.id);
    // It has just gone: the others do.
    if (absl::IsUnavailable(device.status())) continue;
    if (!device.ok()) return device.status();
    devices.push_back(*std::move(device));
  }
  if (devices.empty()) {
    return absl::UnavailableError("all cards are gone");
  }
  session::CardPoolOptions options;
  options.load = load;
  const auto bytes = std::make_shared<const std::string>(std::move(package));
  return session::CardPool::Load(devices, *bytes, bytes, options);
}

}  // namespace

absl::StatusOr<std::string> SimulatedDevice(const std::string& device,
                                            const std::string& core,
                                            const std::string& config) {
  auto spec = session::ParseDeviceSpec(device.empty() ? "sim" : device);
  if (!spec.ok()) return spec.status();
  if (spec->kind != session::DeviceSpec::Kind::kSim) {
    return absl::InvalidArgumentError(
        absl::StrCat("--core ", core, ": the device '", device,
                     "' is not a private simulated card; give --device sim"));
  }
  const std::string other = spec->Option("core", core);
  if (other != core) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--core ", core, ": the device '", device, "' specifies core=", other));
  }
  spec->options["core"] = core;
  if (!config.empty()) spec->options.emplace("config", config);
  return spec->ToString();
}

absl::StatusOr<std::unique_ptr<DeviceModel>> DeviceModel::Load(
    absl::string_view bytes, bool is_package, compiler::CompileOptions options,
    const Settings& settings) {
  std::string package_bytes;
  const bool is_set = is_package && package::IsShapeSet(bytes);
  if (is_set) {
    const auto set =
        package::ParseShapeSet(bytes, compiler::KeptByCaller(bytes));
    if (!set.ok()) return set.status();
    options.config = set->config;
  } else if (is_package) {
    const auto package = package::Parse(bytes);
    if (!package.ok()) return package.status();
    options.config = package->config;
    package_bytes = std::string(bytes);
  }
  auto model = std::make_unique<DeviceModel>();
  const auto descriptions = ChooseDevices(options.config, settings);
  if (!descriptions.ok()) return descriptions.status();
  model->device_ = descriptions->front();
  const bool several = descriptions->size() > 1;
  if (several && is_set) {
    return absl::InvalidArgumentError(
        "a package of several shapes runs on one card: give one --device, or "
        "the model and --shape");
  }
  if (!is_package) {
    options.config = model->device_.config;
    options.device_memory_bytes = model->device_.memory_bytes;
    for (const session::DeviceDescription& device : *descriptions) {
      options.device_memory_bytes =
          std::min(options.device_memory_bytes, device.memory_bytes);
    }
    if (settings.cache != nullptr) {
      auto compiled = compiler::CompileOnnxCached(
          bytes, options, *settings.cache, &model->cache_use_);
      if (!compiled.ok()) return compiled.status();
      package_bytes = *std::move(compiled);
    } else {
      auto compiled = compiler::CompileOnnx(bytes, options);
      if (!compiled.ok()) return compiled.status();
      package_bytes = std::move(compiled->package);
    }
  }
  session::LoadOptions load;
  load.taps = options.taps;
  load.trace = settings.traced;
  load.host_threads = settings.host_threads;
  load.host_time = settings.host_time;
  if (several) {
    auto pool = LoadOnAll(*descriptions, package_bytes, load);
    if (!pool.ok()) return pool.status();
    model->pool_ = *std::move(pool);
    model->graph_ = model->pool_;
  } else if (auto device = session::OpenDevice(model->device_.id);
             !device.ok()) {
    return device.status();
  } else if (is_set) {
    ShapeSetRequest request;
    if (settings.shape_set != nullptr) request = *settings.shape_set;
    request.options = options;
    request.cache = settings.cache;
    auto special = LoadSpecialised(*device, bytes, request, load);
    if (!special.ok()) return special.status();
    model->graph_ = std::move(special->taken.graph);
    model->specialisation_ = std::move(special->text);
    model->cache_use_ = std::move(special->cache_use);
    if (settings.traced) package_bytes = *special->taken.package;
  } else {
    auto graph = session::LoadGraph(*device, package_bytes, load);
    if (!graph.ok()) return graph.status();
    model->graph_ = *std::move(graph);
  }
  if (settings.traced) {
    // The graph has given its streams to the card.
    const auto package = package::Parse(package_bytes);
    if (!package.ok()) return package.status();
    for (const std::vector<uint32_t>& words : package->streams) {
      auto commands = timing::EngineCommands(words);
      if (!commands.ok()) return commands.status();
      model->streams_.push_back(*std::move(commands));
    }
    if (model->device_.core == "functional") {
      auto times = EstimatedTimes(*package);
      // Of commands that no machine can run, the card tells as well.
      if (times.ok()) model->estimated_times_ = *std::move(times);
    }
  }
  for (const auto& info : model->package().outputs) {
    model->outputs_.push_back(
        compiler::TensorData::Zeros(info.type, info.shape));
  }
  if (options.taps) {
    for (const auto& info : model->package().taps) {
      model->taps_.push_back(
          compiler::TensorData::Zeros(info.type, info.shape));
    }
  }
  return model;
}

absl::Status DeviceModel::Run(const std::vector<compiler::TensorData>& inputs,
                              bool with_taps, bool traced) {
  const package::Package& p = package();
  std::vector<session::TensorBuffer> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // The session only reads inputs.
    in.push_back({p.inputs[i].name,
                  const_cast<uint8_t*>(inputs[i].bytes.data()),
                  inputs[i].bytes.size()});
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    // A run before may have left less (below).
    if (outputs_[i].shape != p.outputs[i].shape) {
      outputs_[i] =
          compiler::TensorData::Zeros(p.outputs[i].type, p.outputs[i].shape);
    }
    out.push_back({p.outputs[i].name, outputs_[i].bytes.data(),
                   outputs_[i].bytes.size()});
  }
  // A tap may be an output, too: the session gives it once.
  std::map<std::string, size_t> output;
  for (size_t i = 0; i < outputs_.size(); ++i) output[p.outputs[i].name] = i;
  for (size_t i = 0; with_taps && i < taps_.size(); ++i) {
    if (output.count(p.taps[i].name) > 0) continue;
    out.push_back(
        {p.taps[i].name, taps_[i].bytes.data(), taps_[i].bytes.size()});
  }
  session::RunOptions options;
  options.trace = traced;
  std::shared_ptr<session::Run> run;
  absl::Status status;
  do {
    const auto start = std::chrono::steady_clock::now();
    auto started = graph_->Start(in, out, nullptr, options);
    if (!started.ok()) return started.status();
    run = *std::move(started);
    status = run->Wait(absl::InfiniteFuture());
    latency_ms_ = std::chrono::duration<double, std::milli>(
                      std::chrono::steady_clock::now() - start)
                      .count();
    // Of several cards, the one that went takes it along; another has room.
  } while (pool_ != nullptr && absl::IsUnavailable(status));
  statistics_ = run->statistics();
  for (size_t i = 0; status.ok() && i < outputs_.size(); ++i) {
    const auto actual = run->OutputShape(p.outputs[i].name);
    if (!actual.has_value()) continue;
    outputs_[i].shape = *actual;
    outputs_[i].bytes.resize(static_cast<uint64_t>(outputs_[i].count()) *
                             compiler::ElementBytes(outputs_[i].type));
  }
  if (traced && status.ok()) {
    auto trace = run->trace();
    if (!trace.ok()) return trace.status();
    trace_ = *std::move(trace);
  }
  for (size_t i = 0; with_taps && i < taps_.size(); ++i) {
    const auto same = output.find(p.taps[i].name);
    if (same != output.end()) taps_[i] = outputs_[same->second];
  }
  return status;
}

}  // namespace heddle::run
