// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "compiler/backend/compile_report.h"
#include "compiler/base/diagnostic.h"
#include "compiler/lowering/int64_range.h"
#include "compiler/lowering/lowering.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/choose.h"
#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/taps.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::compiler {
namespace {

// See ChooseSchedule.
constexpr double kTrafficWeights[] = {0.02, 0.3};
constexpr double kMoreTrafficWeights[] = {0.005, 0.02, 0.08, 0.3, 1.0};
// See Attempt::group_divisor.
constexpr uint64_t kGroupDivisors[] = {8, 16};
constexpr uint64_t kMoreGroupDivisors[] = {2, 4, 8, 16, 32};

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

// Whether the operator's definition has int64 and no int32 where the node reads
// `id`: shapes, axes and the like.
bool NeedsInt64(const Node& node, TensorId id) {
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  for (size_t i = 0; info != nullptr && i < node.inputs.size(); ++i) {
    if (node.inputs[i] != id || info->input_types.empty()) continue;
    const size_t last = info->input_types.size() - 1;
    if (!Contains(info->input_types[std::min(i, last)], DataType::kInt32)) {
      return true;
    }
  }
  return false;
}

absl::Status CheckTypes(const Graph& graph) {
  auto check = [&](TensorId id, const char* role) -> absl::Status {
    const Tensor& t = graph.tensors[id];
    if (OnDevice(t.type) || t.type == DataType::kInt64) {
      return absl::OkStatus();
    }
    return Reject(
        Rejection::kUnsupportedDatatype,
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
    if (NarrowsInt64(node.domain, node.op)) continue;
    std::vector<TensorId> all = node.inputs;
    all.insert(all.end(), node.outputs.begin(), node.outputs.end());
    for (TensorId id : all) {
      if (id == kNoTensor || graph.tensors[id].is_constant() ||
          graph.tensors[id].type != DataType::kInt64) {
        continue;
      }
      if (NeedsInt64(node, id)) {
        return Reject(
            Rejection::kUnsupportedShape,
            absl::StrCat(node.Describe(), ": '", graph.tensors[id].name,
                         "' is computed at run time, it must be known when "
                         "compiling; make it an initializer or a Constant"));
      }
      return Reject(
          Rejection::kUnsupportedDatatype,
          absl::StrCat(node.Describe(), ": tensor '", graph.tensors[id].name,
                       "' has type int64, which the card only moves and "
                       "converts (as int32); convert it to int32"));
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

// Commands for a lowered graph, appended to `stream` with tags from `first_tag`
// on.
absl::StatusOr<MemoryPlan> EmitGraph(
    DeviceGraph* device, ConstantPool* constants, const isa::Config& config,
    const Features& features, uint32_t first_tag, StreamBuilder* stream) {
  const ProgramTable programs = CollectPrograms(*device);
  const ConstantGroup program_constant = constants->Add(programs.bytes);
  absl::StatusOr<MemoryPlan> plan = PlanMemory(
      device, config, (programs.bytes.size() + 15) / 16 * 16, features);
  if (!plan.ok()) return plan.status();
  EmitNetwork(*device, *plan, config, programs, program_constant, first_tag,
              stream);
  return plan;
}

// Commands reach 32 bits of a region; the scratch memory is the plan's.
absl::Status CheckRegions(const DeviceGraph& device) {
  const auto check = [](const char* what, uint64_t bytes) -> absl::Status {
    if (bytes <= UINT32_MAX) return absl::OkStatus();
    return Reject(Rejection::kNoDeviceMemory,
                  absl::StrCat("the model's ", what, " take ", bytes,
                               " bytes, at most ", UINT32_MAX,
                               " can be addressed; make the batch or the "
                               "tensors smaller"));
  };
  if (auto s = check("inputs and outputs", device.io_bytes); !s.ok()) return s;
  return check("constants", device.constants.bytes().size());
}

uint64_t ProgramBytes(const DeviceGraph& device) {
  return (CollectPrograms(device).bytes.size() + 15) / 16 * 16;
}

// Fewer bytes of constants take no time that is worth hiding.
constexpr size_t kConstantsToHide = 16 << 10;

// What GeneratePackage tries.
struct Attempt {
  Features features;
  bool choose = false;        // ChooseSchedule
  double traffic_weight = 0;  // its argument
  // Weights of a matrix operation are cut into groups of at most 1/so much of
  // SRAM; 0: as lowered. Small groups leave room to load others ahead.
  uint64_t group_divisor = 0;
};

// What decides which further attempts can bring anything.
struct Facts {
  bool grouped = false;  // some operation's weights are cut into groups
  bool loads = false;    // several operations share many constants
};

// `verdict_only`: everything that can refuse the graph is done, and no more;
// the result is then empty.
absl::StatusOr<BackendResult> Generate(const Graph& graph,
                                       const CompileOptions& options,
                                       const isa::Config& limited,
                                       const Attempt& attempt,
                                       bool verdict_only, Facts* facts) {
  const Features& features = attempt.features;
  const isa::Config* config = &limited;
  const auto stage = [&options](const char* name) {
    if (options.progress) options.progress(name);
  };
  stage("lowering");
  DeviceGraph device;
  Lowering lowering(graph, *config, features, &device);
  const TapSet tap_set = !options.taps     ? TapSet::kNone
                         : options.tap_all ? TapSet::kAll
                                           : TapSet::kQuantized;
  if (auto s = lowering.Run(tap_set); !s.ok()) return s;
  stage("memory plan");
  std::vector<uint32_t> tap_owners;
  DeviceGraph taps;
  if (options.taps) taps = MakeTapGraph(&device, &tap_owners);
  if (attempt.group_divisor > 0) {
    for (const auto& op : device.ops) {
      MatrixOp* matrix = op->AsMatrix();
      if (matrix == nullptr || matrix->groups.size() < 2) continue;
      matrix->Regroup(config->sram_bytes / attempt.group_divisor);
    }
  }
  if (attempt.choose) {
    const std::vector<uint32_t> index =
        ChooseSchedule(&device, *config, features, ProgramBytes(device),
                       attempt.traffic_weight);
    for (uint32_t& owner : tap_owners) owner = index[owner];
  }
  for (const auto& op : device.ops) op->Place(&device.constants);
  for (const auto& op : taps.ops) op->Place(&device.constants);
  for (const auto& op : device.ops) facts->grouped |= op->groups.size() > 1;
  facts->loads = device.ops.size() > 3 &&
                 device.constants.bytes().size() > kConstantsToHide;
  if (auto s = CheckRegions(device); !s.ok()) return s;
  StreamBuilder stream(*config);
  absl::StatusOr<MemoryPlan> plan =
      EmitGraph(&device, &device.constants, *config, features, 0, &stream);
  if (!plan.ok()) return plan.status();
  if (!taps.ops.empty()) {
    absl::StatusOr<MemoryPlan> tap_plan =
        EmitGraph(&taps, &device.constants, *config, features,
                  device.ops.size(), &stream);
    if (!tap_plan.ok()) return tap_plan.status();
    plan->scratch_bytes =
        std::max(plan->scratch_bytes, tap_plan->scratch_bytes);
  }
  stage("synchronisation");
  absl::StatusOr<EncodedStream> encoded = stream.Finish();
  if (!encoded.ok()) return encoded.status();
  const absl::StatusOr<int64_t> bound = Int64InputBound(graph);
  if (!bound.ok()) return bound.status();
  const uint64_t needed = device.constants.bytes().size() +
                          plan->scratch_bytes + device.io_bytes +
                          encoded->words.size() * 4;
  if (options.device_memory_bytes != 0 &&
      needed > options.device_memory_bytes) {
    return Reject(
        Rejection::kNoDeviceMemory,
        absl::StrCat("the model needs ", needed, " bytes of device memory, ",
                     options.device_memory_bytes, " are allowed"));
  }
  BackendResult result;
  if (verdict_only) return result;

  stage("timeline");
  package::Package& p = result.package;
  p.model_name = graph.name;
  p.producer = kProducer;
  p.config = config->name;
  p.hw_version = reg::kVersionReset;
  p.weights = device.constants.bytes();
  p.scratch_bytes = plan->scratch_bytes;
  p.io_bytes = device.io_bytes;
  p.inputs = Describe(graph, device, device.inputs);
  for (package::TensorInfo& input : p.inputs) {
    if (input.type != DataType::kInt64) continue;
    input.minimum = -*bound;
    input.maximum = *bound - 1;
  }
  p.outputs = Describe(graph, device, device.outputs);
  p.taps = Describe(graph, device, device.taps);
  if (auto s = FillReport(device, *plan, ProgramBytes(device), encoded->words,
                          *config, options.details, &result);
      !s.ok()) {
    return s;
  }
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < stream.commands().size(); ++i) {
    const uint32_t tag = std::visit([](const auto& c) { return c.header.tag; },
                                    stream.commands()[i]);
    if (tag == last) continue;
    last = tag;
    const uint32_t layer =
        tag < p.layers.size() ? tag : tap_owners[tag - p.layers.size()];
    p.sources.push_back({0, encoded->offsets[i], p.layers[layer].node});
  }
  CompileReport& report = result.report;
  report.weight_bytes = p.weights.size();
  report.scratch_bytes = p.scratch_bytes;
  report.io_bytes = p.io_bytes;
  report.stream_bytes = encoded->words.size() * 4;
  report.commands = encoded->commands;
  report.sram_peak_bytes = plan->sram_peak;
  p.streams.push_back(std::move(encoded->words));
  return result;
}

// Whether `a` serves the goal better than `b`.
bool Better(Goal goal, const CompileReport& a, const CompileReport& b) {
  if (goal == Goal::kTraffic && a.dram_bytes != b.dram_bytes) {
    return a.dram_bytes < b.dram_bytes;
  }
  return a.estimated_cycles < b.estimated_cycles;
}

// The best of all attempts; with `verdict_only` whether one succeeds.
absl::StatusOr<BackendResult> Search(const Graph& graph,
                                     const CompileOptions& options,
                                     bool verdict_only) {
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
  if (auto s = CheckTypes(graph); !s.ok()) return s;
  // Closed forms find candidates, the timeline decides: of the production
  // package, so that taps change nothing.
  CompileOptions production = options;
  production.taps = production.tap_all = production.details = false;
  const bool thorough = options.goal == Goal::kThorough;
  // The first attempt that succeeds is taken.
  const bool first_only = verdict_only || options.goal == Goal::kCompileTime;
  std::vector<Attempt> attempts;
  attempts.push_back({options.features, false, 0});
  if (options.features.cost_tiles || options.features.cascade) {
    const auto add = [&](double weight) {
      attempts.push_back({options.features, true, weight});
    };
    if (thorough) {
      std::for_each(std::begin(kMoreTrafficWeights),
                    std::end(kMoreTrafficWeights), add);
    } else {
      std::for_each(std::begin(kTrafficWeights), std::end(kTrafficWeights),
                    add);
    }
  }
  absl::StatusOr<BackendResult> best = absl::InternalError("no attempt");
  Attempt chosen;
  // The schedule first, with constants loaded one operation ahead; then how far
  // ahead is best for it.
  const int farthest = options.features.prefetch;
  for (Attempt& a : attempts) a.features.prefetch = std::min(farthest, 1);
  Facts facts;
  const size_t with_choice = attempts.size();
  for (size_t i = 0; i < attempts.size(); ++i) {
    absl::StatusOr<BackendResult> made =
        Generate(graph, production, limited, attempts[i], verdict_only, &facts);
    if (!made.ok() && attempts[i].features.fuse_pool &&
        RejectionOf(made.status()) == Rejection::kUnsupportedShape) {
      // A fused pooling asks for the whole image in SRAM; without, there are
      // tiles.
      for (Attempt& a : attempts) a.features.fuse_pool = false;
      made = Generate(graph, production, limited, attempts[i], verdict_only,
                      &facts);
    }
    production.progress = nullptr;
    if (!made.ok()) {
      if (i == 0) best = made.status();
      continue;
    }
    if (!best.ok() || Better(options.goal, made->report, best->report)) {
      best = std::move(made);
      chosen = attempts[i];
    }
    if (first_only) break;
    // The same without keeping groups of weights, if there are any.
    if (i + 1 == with_choice && facts.grouped &&
        options.features.keep_weights) {
      for (size_t k = 1; k < with_choice; ++k) {
        attempts.push_back(attempts[k]);
        attempts.back().features.keep_weights = false;
      }
    }
  }
  const auto improve = [&](const Attempt& attempt) {
    absl::StatusOr<BackendResult> made =
        Generate(graph, production, limited, attempt, verdict_only, &facts);
    if (!made.ok() || !Better(options.goal, made->report, best->report)) {
      return;
    }
    best = std::move(made);
    chosen = attempt;
  };
  if (verdict_only) return best;
  if (!first_only) {
    for (int ahead = 2; best.ok() && facts.loads && ahead <= farthest;
         ahead = thorough ? ahead + 1 : ahead * 2) {
      Attempt attempt = chosen;
      attempt.features.prefetch = ahead;
      improve(attempt);
    }
    const auto divide = [&](uint64_t divisor) {
      if (!best.ok() || !facts.grouped || farthest == 0) return;
      Attempt attempt = chosen;
      attempt.group_divisor = divisor;
      improve(attempt);
    };
    if (thorough) {
      std::for_each(std::begin(kMoreGroupDivisors),
                    std::end(kMoreGroupDivisors), divide);
    } else {
      std::for_each(std::begin(kGroupDivisors), std::end(kGroupDivisors),
                    divide);
    }
  }
  if (!best.ok() || (!options.taps && !options.details)) return best;
  CompileOptions final_options = options;
  final_options.progress = nullptr;
  return Generate(graph, final_options, limited, chosen, false, &facts);
}

}  // namespace

absl::StatusOr<BackendResult> GeneratePackage(const Graph& graph,
                                              const CompileOptions& options) {
  return Search(graph, options, false);
}

absl::Status CheckPackage(const Graph& graph, const CompileOptions& options) {
  return Search(graph, options, true).status();
}

}  // namespace heddle::compiler
