// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/backend/compile_report.h"
#include "compiler/backend/lowering.h"
#include "compiler/backend/plan.h"
#include "compiler/backend/schedule.h"
#include "compiler/diagnostic.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::compiler {
namespace {

constexpr char kProducer[] = "heddle-compile 0.1";

// Types that device memory and the vector engine can hold.
bool OnDevice(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kBool:
      return true;
    default:
      return false;
  }
}

absl::Status CheckTypes(const Graph& graph) {
  auto check = [&](TensorId id, const char* role) -> absl::Status {
    const Tensor& t = graph.tensors[id];
    if (OnDevice(t.type)) return absl::OkStatus();
    return Refuse(
        Refusal::kUnsupportedDatatype,
        absl::StrCat(role, " '", t.name, "' has type ", DataTypeName(t.type),
                     ", which the card does not hold; convert it to "
                     "float, int32, int16, int8 or uint8"));
  };
  for (TensorId id : graph.inputs) {
    if (auto s = check(id, "input"); !s.ok()) return s;
  }
  for (TensorId id : graph.outputs) {
    if (auto s = check(id, "output"); !s.ok()) return s;
  }
  for (const Node& node : graph.nodes) {
    for (TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      if (auto s = check(id, node.Describe().c_str()); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

std::vector<package::TensorInfo> Describe(
    const Graph& graph, const DeviceGraph& device,
    const std::vector<std::pair<std::string, int>>& tensors) {
  std::vector<package::TensorInfo> out;
  for (const auto& [name, value] : tensors) {
    const Storage& s = device.StorageOf(value);
    const Tensor& t = graph.tensors[graph.FindTensor(name)];
    package::TensorInfo info;
    info.name = name;
    info.type = t.type;
    info.shape = t.shape;
    info.offset = (s.tap_offset >= 0 ? s.tap_offset : s.dram_offset) +
                  device.values[value].offset;
    info.size = ElementCount(t.shape) * ElementBytes(t.type);
    out.push_back(info);
  }
  return out;
}

}  // namespace

absl::StatusOr<BackendResult> GeneratePackage(const Graph& graph,
                                              const CompileOptions& options) {
  const isa::Config* found = isa::FindConfig(options.config);
  if (found == nullptr) {
    std::string names;
    for (const isa::Config& c : isa::kConfigs)
      absl::StrAppend(&names, " ", c.name);
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown configuration '", options.config, "'; there are:", names));
  }
  isa::Config limited = *found;
  if (options.sram_bytes != 0) {
    limited.sram_bytes =
        std::min<uint64_t>(options.sram_bytes, limited.sram_bytes);
  }
  const isa::Config* config = &limited;
  const auto stage = [&options](const char* name) {
    if (options.progress) options.progress(name);
  };
  if (auto s = CheckTypes(graph); !s.ok()) return s;
  stage("lowering");
  DeviceGraph device;
  Lowering lowering(graph, *config, &device);
  const TapSet taps = !options.taps     ? TapSet::kNone
                      : options.tap_all ? TapSet::kAll
                                        : TapSet::kQuantized;
  if (auto s = lowering.Run(taps); !s.ok()) return s;
  stage("memory plan");
  const ProgramTable programs = CollectPrograms(device);
  const ConstantGroup program_constant = device.constants.Add(programs.bytes);
  const uint64_t program_bytes = (programs.bytes.size() + 15) / 16 * 16;
  absl::StatusOr<MemoryPlan> plan = PlanMemory(&device, *config, program_bytes);
  if (!plan.ok()) return plan.status();
  stage("commands");
  StreamBuilder stream(*config);
  EmitNetwork(device, *plan, *config, programs, program_constant, &stream);
  stage("synchronisation");
  absl::StatusOr<EncodedStream> encoded = stream.Finish();
  if (!encoded.ok()) return encoded.status();

  stage("timeline");
  BackendResult result;
  package::Package& p = result.package;
  p.model_name = graph.name;
  p.producer = kProducer;
  p.config = config->name;
  p.hw_version = reg::kVersionReset;
  p.weights = device.constants.bytes();
  p.scratch_bytes = plan->scratch_bytes;
  p.io_bytes = device.io_bytes;
  p.inputs = Describe(graph, device, device.inputs);
  p.outputs = Describe(graph, device, device.outputs);
  p.taps = Describe(graph, device, device.taps);
  if (auto s = FillReport(device, *plan, program_bytes, encoded->words, *config,
                          options.details, &result);
      !s.ok()) {
    return s;
  }
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < stream.commands().size(); ++i) {
    const uint32_t tag = std::visit([](const auto& c) { return c.header.tag; },
                                    stream.commands()[i]);
    if (tag == last) continue;
    last = tag;
    p.sources.push_back({0, encoded->offsets[i], p.layers[tag].node});
  }
  CompileReport& report = result.report;
  report.weight_bytes = p.weights.size();
  report.scratch_bytes = p.scratch_bytes;
  report.io_bytes = p.io_bytes;
  report.stream_bytes = encoded->words.size() * 4;
  report.commands = encoded->commands;
  report.sram_peak_bytes = plan->sram_peak;
  p.streams.push_back(std::move(encoded->words));
  const uint64_t needed = report.weight_bytes + report.scratch_bytes +
                          report.io_bytes + report.stream_bytes;
  if (options.device_memory_bytes != 0 &&
      needed > options.device_memory_bytes) {
    return Refuse(
        Refusal::kNoDeviceMemory,
        absl::StrCat("the model needs ", needed, " bytes of device memory, ",
                     options.device_memory_bytes, " are allowed"));
  }
  return result;
}

}  // namespace heddle::compiler
