// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/backend/compile_report.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/int64_range.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/choose.h"
#include "compiler/schedule/constants.h"
#include "compiler/schedule/device_graph_text.h"
#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/taps.h"
#include "compiler/stream/stream_text.h"
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
    RETURN_IF_ERROR(check(id, "input"));
  }
  for (TensorId id : graph.outputs) {
    RETURN_IF_ERROR(check(id, "output"));
  }
  for (const Node& node : graph.nodes) {
    for (TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      RETURN_IF_ERROR(check(id, node.Describe().c_str()));
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

// Microprograms and where they lie in region 0.
struct PlacedPrograms {
  uint64_t offset = 0;
  std::vector<uint8_t> bytes;

  KnownBytes known() const { return {offset, absl::MakeConstSpan(bytes)}; }
};

// Commands for a lowered graph, appended to `stream` with tags from `first_tag`
// on. `options`: whom the passes are told.
absl::StatusOr<MemoryPlan> EmitGraph(
    DeviceGraph* device, ConstantPool* constants, const isa::Config& config,
    const Features& features, const CompileOptions& options, uint32_t first_tag,
    StreamBuilder* stream, PlacedPrograms* placed) {
  BeginPass(options, "plan-memory");
  const ProgramTable programs = CollectPrograms(*device);
  const ConstantGroup program_constant{constants->Add(programs.bytes),
                                       AlignToRegion(programs.bytes.size())};
  *placed = {program_constant.offset, programs.bytes};
  placed->bytes.resize(AlignToRegion(placed->bytes.size()));
  ASSIGN_OR_RETURN(
      MemoryPlan plan,
      PlanMemory(device, config, (programs.bytes.size() + 15) / 16 * 16,
                 features));
  RETURN_IF_ERROR(
      EndPass(options, "plan-memory", [&] { return ToText(*device, plan); }));
  BeginPass(options, "emit");
  EmitNetwork(*device, plan, config, programs, program_constant, first_tag,
              stream);
  RETURN_IF_ERROR(EndPass(options, "emit",
                          [&] { return CommandsText(stream->commands()); }));
  return plan;
}

// Commands reach 32 bits of a region; the scratch memory is the plan's.
absl::Status CheckRegions(const DeviceGraph& device, uint64_t constants) {
  const auto check = [](const char* what, uint64_t bytes) -> absl::Status {
    if (bytes <= UINT32_MAX) return absl::OkStatus();
    return Reject(Rejection::kNoDeviceMemory,
                  absl::StrCat("the model's ", what, " take ", bytes,
                               " bytes, at most ", UINT32_MAX,
                               " can be addressed; make the batch or the "
                               "tensors smaller"));
  };
  RETURN_IF_ERROR(check("inputs and outputs", device.io_bytes));
  return check("constants", constants);
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

// How much of a package Generate makes.
enum class Scope {
  kVerdict,   // nothing, but whatever can refuse the graph is done
  kEstimate,  // its report; the package has no constants
  kPackage,
};

// The graph lowered, of which each attempt schedules a copy: once with fused
// poolings and once without, as far as it is asked for.
class Lowered {
 public:
  Lowered(const Graph& graph, const CompileOptions& options,
          const isa::Config& config)
      : graph_(graph), options_(options), config_(config) {}

  absl::StatusOr<const DeviceGraph*> Get(const Features& features) {
    std::unique_ptr<DeviceGraph>& known = graphs_[features.fuse_pool];
    if (known != nullptr) return known.get();
    BeginPass(options_, "lower");
    const TapSet taps = !options_.taps     ? TapSet::kNone
                        : options_.tap_all ? TapSet::kAll
                                           : TapSet::kQuantized;
    auto device = std::make_unique<DeviceGraph>();
    Lowering lowering(graph_, config_, features, device.get());
    RETURN_IF_ERROR(lowering.Run(taps));
    RETURN_IF_ERROR(
        EndPass(options_, "lower", [&] { return ToText(*device); }));
    known = std::move(device);
    return known.get();
  }

 private:
  const Graph& graph_;
  const CompileOptions& options_;
  const isa::Config& config_;
  std::unique_ptr<DeviceGraph> graphs_[2];
};

absl::StatusOr<BackendResult> Generate(const Graph& graph, Lowered* lowered,
                                       const CompileOptions& options,
                                       const isa::Config& limited,
                                       const Attempt& attempt, Scope scope,
                                       Facts* facts) {
  const Features& features = attempt.features;
  const isa::Config* config = &limited;
  ASSIGN_OR_RETURN(const DeviceGraph* source, lowered->Get(features));
  BeginPass(options, "choose-schedule");
  DeviceGraph device = source->Clone();
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
  const auto place = [&](ConstantPool constants) {
    PlaceConstants(&device, &constants);
    PlaceConstants(&taps, &constants);
    return constants;
  };
  ConstantPool constants = place(ConstantPool(ConstantPool::kSizesOnly));
  // Constants that are equal may make the difference.
  if (scope == Scope::kPackage ||
      !CheckRegions(device, constants.size()).ok()) {
    constants = place(ConstantPool(ConstantPool::kPack, constants.size()));
  }
  for (const auto& op : device.ops) facts->grouped |= op->groups.size() > 1;
  facts->loads = device.ops.size() > 3 && constants.size() > kConstantsToHide;
  RETURN_IF_ERROR(CheckRegions(device, constants.size()));
  RETURN_IF_ERROR(
      EndPass(options, "choose-schedule", [&] { return ToText(device); }));
  StreamBuilder stream(*config);
  PlacedPrograms programs, tap_programs;
  ASSIGN_OR_RETURN(MemoryPlan plan,
                   EmitGraph(&device, &constants, *config, features, options, 0,
                             &stream, &programs));
  if (!taps.ops.empty()) {
    ASSIGN_OR_RETURN(MemoryPlan tap_plan,
                     EmitGraph(&taps, &constants, *config, features, {},
                               device.ops.size(), &stream, &tap_programs));
    plan.scratch_bytes = std::max(plan.scratch_bytes, tap_plan.scratch_bytes);
  }
  BeginPass(options, "synchronise");
  ASSIGN_OR_RETURN(EncodedStream encoded, stream.Finish());
  RETURN_IF_ERROR(EndPass(options, "synchronise",
                          [&] { return StreamText(encoded.words); }));
  ASSIGN_OR_RETURN(const int64_t bound, Int64InputBound(graph));
  const uint64_t beside =
      plan.scratch_bytes + device.io_bytes + encoded.words.size() * 4;
  const uint64_t most = options.device_memory_bytes;
  if (most != 0 && beside + constants.size() > most &&
      constants.mode() == ConstantPool::kSizesOnly) {
    constants = place(ConstantPool(ConstantPool::kPack));
    for (const DeviceGraph* part : {&device, &taps}) {
      constants.Add(CollectPrograms(*part).bytes);
    }
  }
  const uint64_t needed = beside + constants.size();
  if (most != 0 && needed > most) {
    return Reject(
        Rejection::kNoDeviceMemory,
        absl::StrCat("the model needs ", needed, " bytes of device memory, ",
                     most, " are allowed"));
  }
  BackendResult result;
  if (scope == Scope::kVerdict) return result;

  BeginPass(options, "timeline");
  package::Package& p = result.package;
  p.model_name = graph.name;
  p.producer = kProducer;
  p.config = config->name;
  p.hw_version = reg::kVersionReset;
  p.weights = constants.Take();
  p.scratch_bytes = plan.scratch_bytes;
  p.io_bytes = device.io_bytes;
  p.inputs = Describe(graph, device, device.inputs);
  for (package::TensorInfo& input : p.inputs) {
    if (input.type != DataType::kInt64) continue;
    input.minimum = -bound;
    input.maximum = bound - 1;
  }
  p.outputs = Describe(graph, device, device.outputs);
  p.taps = Describe(graph, device, device.taps);
  const std::vector<KnownBytes> known = {programs.known(),
                                         tap_programs.known()};
  RETURN_IF_ERROR(FillReport(device, plan, ProgramBytes(device), encoded.words,
                             known, *config, options.details, &result));
  RETURN_IF_ERROR(EndPass(options, "timeline", [&] {
    return TimelineText(encoded.words, *config, known);
  }));
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < stream.commands().size(); ++i) {
    const uint32_t tag = std::visit([](const auto& c) { return c.header.tag; },
                                    stream.commands()[i]);
    if (tag == last) continue;
    last = tag;
    const uint32_t layer =
        tag < p.layers.size() ? tag : tap_owners[tag - p.layers.size()];
    p.sources.push_back({0, encoded.offsets[i], p.layers[layer].node});
  }
  CompileReport& report = result.report;
  report.weight_bytes = p.weights.size();
  report.scratch_bytes = p.scratch_bytes;
  report.io_bytes = p.io_bytes;
  report.stream_bytes = encoded.words.size() * 4;
  report.commands = encoded.commands;
  report.sram_peak_bytes = plan.sram_peak;
  p.streams.push_back(std::move(encoded.words));
  return result;
}

// Whether `a` serves the goal better than `b`. Among those that are as fast
// as the fastest so far, but for what estimates do not tell apart, less traffic
// counts: it leaves bandwidth to others and costs power.
bool Better(Goal goal, const CompileReport& a, const CompileReport& b,
            uint64_t fastest) {
  if (goal == Goal::kTraffic && a.dram_bytes != b.dram_bytes) {
    return a.dram_bytes < b.dram_bytes;
  }
  const uint64_t limit = fastest + fastest / 4000;
  const bool a_fast = a.estimated_cycles <= limit;
  const bool b_fast = b.estimated_cycles <= limit;
  if (a_fast != b_fast) return a_fast;
  if (a_fast && a.dram_bytes + a.dram_bytes / 50 < b.dram_bytes) return true;
  if (a_fast && b.dram_bytes + b.dram_bytes / 50 < a.dram_bytes) return false;
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
  RETURN_IF_ERROR(CheckTypes(graph));
  // Closed forms find candidates, the timeline decides: of the production
  // package, so that taps change nothing.
  CompileOptions production = options;
  production.taps = production.tap_all = production.details = false;
  production.after_pass = nullptr;
  const bool thorough = options.goal == Goal::kThorough;
  // The first attempt that succeeds is taken.
  const bool first_only = verdict_only || options.goal == Goal::kCompileTime;
  const bool final_differs =
      options.taps || options.details || options.after_pass != nullptr;
  const Scope scope = verdict_only                   ? Scope::kVerdict
                      : first_only && !final_differs ? Scope::kPackage
                                                     : Scope::kEstimate;
  Lowered lowered(graph, production, limited);
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
  uint64_t fastest = UINT64_MAX / 2;
  Facts facts;
  const size_t with_choice = attempts.size();
  for (size_t i = 0; i < attempts.size(); ++i) {
    absl::StatusOr<BackendResult> made = Generate(
        graph, &lowered, production, limited, attempts[i], scope, &facts);
    if (!made.ok() && attempts[i].features.fuse_pool &&
        RejectionOf(made.status()) == Rejection::kUnsupportedShape) {
      // A fused pooling asks for the whole image in SRAM; without, there are
      // tiles.
      for (Attempt& a : attempts) a.features.fuse_pool = false;
      made = Generate(graph, &lowered, production, limited, attempts[i], scope,
                      &facts);
    }
    production.progress = nullptr;
    if (!made.ok()) {
      if (i == 0) best = made.status();
      continue;
    }
    fastest = std::min(fastest, made->report.estimated_cycles);
    if (!best.ok() ||
        Better(options.goal, made->report, best->report, fastest)) {
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
        Generate(graph, &lowered, production, limited, attempt, scope, &facts);
    if (!made.ok()) return;
    fastest = std::min(fastest, made->report.estimated_cycles);
    if (!Better(options.goal, made->report, best->report, fastest)) return;
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
  // Who watches the passes sees those of the schedule that is taken, or how far
  // a refused graph comes.
  if (scope == Scope::kPackage || (!best.ok() && !options.after_pass)) {
    return best;
  }
  if (best.ok()) best->package = package::Package();
  CompileOptions final_options = options;
  final_options.progress = nullptr;
  // With taps, region 2 is another.
  Lowered again(graph, final_options, limited);
  const bool lower_again = options.taps || options.after_pass;
  return Generate(graph, lower_again ? &again : &lowered, final_options,
                  limited, best.ok() ? chosen : attempts[0], Scope::kPackage,
                  &facts);
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
