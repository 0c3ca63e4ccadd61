// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/backend/card_types.h"
#include "compiler/backend/compile_report.h"
#include "compiler/backend/lowered_graphs.h"
#include "compiler/backend/producer.h"
#include "compiler/backend/required_version.h"
#include "compiler/backend/search_progress.h"
#include "compiler/backend/timeline_report.h"
#include "compiler/backend/weight_streaming.h"
#include "compiler/base/count_text.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/base/thread_pool.h"
#include "compiler/device_ops/int64_range.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"
#include "compiler/passes/expand.h"
#include "compiler/schedule/choose.h"
#include "compiler/schedule/constants.h"
#include "compiler/schedule/device_graph_text.h"
#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/taps.h"
#include "compiler/stream/stream_text.h"

namespace heddle::compiler {
namespace {

// See ChooseSchedule.
constexpr double kTrafficWeights[] = {0.02, 0.3};
constexpr double kMoreTrafficWeights[] = {0.005, 0.02, 0.08, 0.3, 1.0};
// See SchedulePrices: what makes commands few, whatever the cost.
constexpr double kManyCycles = 10'000;
// Of the few operations of a small graph more boxes are tried: what a command
// costs beside its time depends on what runs beside it, and in the closed form
// transfers have a price of their own. Jobs of fewer cycles are all latency;
// of more, boxes differ by little, and each attempt takes long.
constexpr size_t kFewOperations = 8;
constexpr double kCommandPrices[] = {-60, 100, 300};
constexpr uint64_t kShortJob = 2000, kLongJob = 1 << 20;
// See Attempt::group_divisor.
constexpr uint64_t kGroupDivisors[] = {8, 16};
constexpr uint64_t kMoreGroupDivisors[] = {2, 4, 8, 16, 32};

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

  timing::KnownBytes known() const {
    return {offset, absl::MakeConstSpan(bytes)};
  }
};

// Commands for a lowered graph, appended to `stream` with tags from `first_tag`
// on. `options`: whom the passes are told.
absl::StatusOr<MemoryPlan> EmitGraph(
    DeviceGraph* device, ConstantPool* constants, const isa::Config& config,
    const Features& features, bool stream_constants,
    const CompileOptions& options, uint32_t first_tag, StreamBuilder* stream,
    PlacedPrograms* placed) {
  BeginPass(options, "plan-memory");
  const ProgramTable programs = CollectPrograms(*device);
  const ConstantGroup program_constant{constants->Add(programs.bytes),
                                       AlignToRegion(programs.bytes.size())};
  *placed = {program_constant.offset, programs.bytes};
  placed->bytes.resize(AlignToRegion(placed->bytes.size()));
  ASSIGN_OR_RETURN(MemoryPlan plan,
                   PlanMemory(device, config, BytesOf(*device, programs),
                              features, stream_constants));
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

// What no schedule changes: to look for one would only delay the answer.
absl::Status CheckRoom(const DeviceGraph& device, uint64_t most) {
  if (most == 0 || device.io_bytes <= most) return absl::OkStatus();
  return Reject(Rejection::kNoDeviceMemory,
                absl::StrCat("the model's inputs and outputs take ",
                             BytesText(device.io_bytes), " of device memory, ",
                             BytesText(most),
                             " are available; make the batch or the tensors "
                             "smaller, split the model, or use a card with "
                             "more memory"));
}

uint64_t BytesOfPrograms(const DeviceGraph& device) {
  return CollectPrograms(device).bytes.size();
}
// Of those that stay in SRAM.
uint64_t KeptPrograms(const DeviceGraph& device, const isa::Config& config) {
  const uint64_t bytes = BytesOfPrograms(device);
  return MayKeepPrograms(bytes, config) ? bytes : 0;
}

// Fewer bytes of constants take no time that is worth hiding.
constexpr size_t kConstantsToHide = 16 << 10;

// Fewer bytes of weights are moved sooner than their place is found out.
constexpr uint64_t kWeightsToStay = 4 << 20;

// What GeneratePackage tries.
struct Attempt : GraphVariant {
  bool choose = false;    // ChooseSchedule
  SchedulePrices prices;  // its argument
  // Weights of a matrix operation are cut into groups of at most 1/so much of
  // SRAM; 0: as lowered. Small groups leave room to load others ahead.
  uint64_t group_divisor = 0;
  // See PlanMemory. Loads that wait for room are in front of others.
  bool stream_constants = true;
  // What the file has beside the weights, as far as it is known: they are
  // packed where they stay.
  package::Room room = {};
  // Constants are packed whatever is made, so that their places are final.
  bool pack = false;
};

// What decides which further attempts can bring anything.
struct Facts {
  bool grouped = false;   // some operation's weights are cut into groups
  bool loads = false;     // several operations share many constants
  bool operands = false;  // not only the first operation loads operands
  bool outputs = false;   // of the network, that operations read
  bool few = false;       // operations
  bool too_long = false;  // an attempt's commands make no streams, or too many
  bool no_room = false;   // for inputs and outputs, whatever the schedule
  // What equal constants save, once an attempt has packed all of them to know.
  std::optional<uint64_t> equal_bytes;
};

// How much of a package Generate makes.
enum class Scope {
  kVerdict,   // nothing, but whatever can refuse the graph is done
  kEstimate,  // its report; the package has no constants
  kPackage,
};

void FindOperands(const DeviceGraph& device, Facts* facts) {
  for (size_t i = 1; i < device.ops.size(); ++i) {
    for (const OpInput& in : device.ops[i]->inputs) {
      const Storage& s = device.StorageOf(in.value);
      if (s.resident || in.rows.kind == AxisNeed::kDirect) continue;
      facts->operands = true;
      facts->outputs |= MayStayAsOutput(s);
    }
  }
}

absl::StatusOr<BackendResult> Generate(
    const Graph& graph, LoweredGraphs* lowered, ThreadPool* threads,
    const CompileOptions& options, const isa::Config& limited,
    const Attempt& attempt, Scope scope, Facts* facts) {
  const Features& features = attempt.features;
  const isa::Config* config = &limited;
  ASSIGN_OR_RETURN(const DeviceGraph* source, lowered->Get(attempt));
  const absl::Status room = CheckRoom(*source, options.device_memory_bytes);
  facts->no_room = !room.ok();
  RETURN_IF_ERROR(room);
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
        ChooseSchedule(&device, *config, features,
                       KeptPrograms(device, *config), attempt.prices);
    for (uint32_t& owner : tap_owners) owner = index[owner];
  }
  const auto place = [&](ConstantPool constants) {
    PlaceConstants(&device, &constants, threads);
    PlaceConstants(&taps, &constants, threads);
    return constants;
  };
  ConstantPool constants = place(ConstantPool(ConstantPool::kSizesOnly));
  // Constants that are equal may make the difference.
  if (scope == Scope::kPackage || attempt.pack ||
      !CheckRegions(device, constants.size()).ok()) {
    package::Room room = attempt.room;
    room.after += BytesOfPrograms(device) + BytesOfPrograms(taps);
    constants = place(ConstantPool(constants.size(), room));
  }
  for (const auto& op : device.ops) facts->grouped |= op->groups.size() > 1;
  facts->few = source->ops.size() <= kFewOperations;
  facts->loads = device.ops.size() > 3 && constants.size() > kConstantsToHide;
  RETURN_IF_ERROR(CheckRegions(device, constants.size()));
  RETURN_IF_ERROR(
      EndPass(options, "choose-schedule", [&] { return ToText(device); }));
  StreamBuilder stream(*config);
  PlacedPrograms programs, tap_programs;
  ASSIGN_OR_RETURN(
      MemoryPlan plan,
      EmitGraph(&device, &constants, *config, features,
                attempt.stream_constants, options, 0, &stream, &programs));
  FindOperands(device, facts);
  if (!taps.ops.empty()) {
    ASSIGN_OR_RETURN(MemoryPlan tap_plan,
                     EmitGraph(&taps, &constants, *config, features, false, {},
                               device.ops.size(), &stream, &tap_programs));
    plan.scratch_bytes = std::max(plan.scratch_bytes, tap_plan.scratch_bytes);
  }
  BeginPass(options, "synchronise");
  // What waits between two streams lies behind the scratch memory.
  const uint64_t waiting = AlignToRegion(plan.scratch_bytes);
  StreamLimits limits;
  if (options.stream_bytes != 0) limits.bytes = options.stream_bytes;
  auto in_streams = stream.FinishInStreams(limits, kScratchRegion, waiting);
  facts->too_long |=
      RejectionOf(in_streams.status()) == Rejection::kUnsupportedShape;
  RETURN_IF_ERROR(in_streams.status());
  SplitStreams split = *std::move(in_streams);
  ASSIGN_OR_RETURN(const int64_t bound, Int64InputBound(graph));
  const uint64_t most = options.device_memory_bytes;
  const auto scratch_bytes = [&] {
    return split.kept_bytes > 0 ? waiting + split.kept_bytes
                                : plan.scratch_bytes;
  };
  const auto need_with = [&](uint64_t weight_bytes) {
    return DeviceNeed{weight_bytes, scratch_bytes(), device.io_bytes,
                      StreamPages(split.streams)};
  };
  package::WeightPlan weight_plan;
  uint64_t copy_wait_cycles = 0;
  bool fits = most == 0 || need_with(constants.size()).Total() <= most;
  if (!fits) {
    const DeviceNeed need = need_with(constants.size());
    const bool sizes_only = constants.mode() == ConstantPool::kSizesOnly;
    // Equal ones may make the difference; not if another schedule's are far
    // from that.
    const bool hopeless =
        facts->equal_bytes &&
        need.Total() - std::min(need.Total(), 2 * *facts->equal_bytes) > most;
    if (sizes_only && !hopeless) {
      constants = place(ConstantPool(ConstantPool::kPack));
      for (const DeviceGraph* part : {&device, &taps}) {
        constants.Add(CollectPrograms(*part).bytes);
      }
      fits = need_with(constants.size()).Total() <= most;
      facts->equal_bytes =
          need.weights - std::min(need.weights, constants.size());
    }
    if (!fits) {
      auto streamed = StreamWeights(stream, *config, limits.bytes, need, most,
                                    options.weight_windows);
      if (!streamed.ok() && sizes_only) {
        Attempt packed = attempt;
        packed.pack = true;
        return Generate(graph, lowered, threads, options, limited, packed,
                        scope, facts);
      }
      RETURN_IF_ERROR(streamed.status());
      split = std::move(streamed->split);
      weight_plan = std::move(streamed->plan);
      copy_wait_cycles = streamed->wait_cycles;
    }
  }
  plan.scratch_bytes = scratch_bytes();
  std::vector<EncodedStream>& streams = split.streams;
  // What the card executes. The timeline wants to know which microprograms are
  // loaded, and gets the streams that address all weights.
  std::vector<std::vector<uint32_t>> words_of;
  for (size_t s = 0; s < streams.size() && !weight_plan.empty(); ++s) {
    ASSIGN_OR_RETURN(auto words,
                     AddressWeights(streams[s].words, static_cast<uint32_t>(s),
                                    weight_plan, *config));
    words_of.push_back(std::move(words));
  }
  RETURN_IF_ERROR(EndPass(options, "synchronise", [&] {
    std::string text = WeightPlanText(weight_plan);
    for (const EncodedStream& s : streams) {
      if (weight_plan.empty()) text += StreamText(s.words);
    }
    for (const auto& words : words_of) text += StreamText(words);
    return text;
  }));
  BackendResult result;
  if (scope == Scope::kVerdict) return result;

  BeginPass(options, "timeline");
  package::Package& p = result.package;
  p.model_name = graph.name;
  p.producer = kProducer;
  p.config = config->name;
  result.weights = constants.Take();
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
  CompileReport& report = result.report;
  for (const EncodedStream& s : streams) report.commands += s.commands;
  std::vector<uint32_t> joined;
  if (streams.size() > 1) {
    for (const EncodedStream& s : streams) AppendStream(s.words, &joined);
  }
  const std::vector<uint32_t>& words =
      streams.size() > 1 ? joined : streams[0].words;
  const std::vector<timing::KnownBytes> known = {programs.known(),
                                                 tap_programs.known()};
  RETURN_IF_ERROR(FillReport(device, plan, BytesOfPrograms(device), words,
                             known, *config, options.details, &result));
  if (scope == Scope::kPackage) {
    p.hw_version = RequiredVersion(words, known);
    FillBounds(words, *config, &report);
  }
  RETURN_IF_ERROR(EndPass(options, "timeline",
                          [&] { return TimelineText(words, *config, known); }));
  for (EncodedStream& s : streams) {
    const auto index = static_cast<uint32_t>(p.streams.size());
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < s.tags.size(); ++i) {
      const uint32_t tag = s.tags[i];
      if (tag == last) continue;
      last = tag;
      const uint32_t layer =
          tag < p.layers.size() ? tag : tap_owners[tag - p.layers.size()];
      p.sources.push_back({index, s.offsets[i], p.layers[layer].node});
    }
    p.streams.push_back(
        std::move(weight_plan.empty() ? s.words : words_of[index]));
  }
  p.weight_plan = std::move(weight_plan);
  FillMemory(p, constants.size(), &report);
  report.copy_wait_cycles = copy_wait_cycles;
  report.sram_peak_bytes = plan.sram_peak;
  return result;
}

// An attempt that has succeeded.
struct Tried {
  Attempt attempt;      // with the room that its package needs
  uint64_t cycles = 0;  // of a job, copies of weights included
  uint64_t dram_bytes = 0;
};

Tried Remember(const Attempt& attempt, const BackendResult& made) {
  Tried tried{attempt,
              made.report.estimated_cycles + made.report.copy_wait_cycles,
              made.report.dram_bytes};
  if (made.report.weight_bytes >= kWeightsToStay) {
    tried.attempt.room = package::RoomBeside(made.package);
  }
  return tried;
}

// Whether `a` serves the goal better than `b`. Among those that are as fast
// as the fastest so far, but for what estimates do not tell apart, less traffic
// counts: it leaves bandwidth to others and costs power.
bool Better(Goal goal, const Tried& a, const Tried& b, uint64_t fastest) {
  if (goal == Goal::kTraffic && a.dram_bytes != b.dram_bytes) {
    return a.dram_bytes < b.dram_bytes;
  }
  const uint64_t limit = fastest + fastest / 4000;
  const bool a_fast = a.cycles <= limit;
  const bool b_fast = b.cycles <= limit;
  if (a_fast != b_fast) return a_fast;
  if (a_fast && a.dram_bytes + a.dram_bytes / 50 < b.dram_bytes) return true;
  if (a_fast && b.dram_bytes + b.dram_bytes / 50 < a.dram_bytes) return false;
  return a.cycles < b.cycles;
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
  LoweredGraphs lowered(graph, production, limited);
  ThreadPool threads(options.threads);
  std::vector<Attempt> attempts;
  attempts.push_back({{options.features}, false, {}});
  if (options.features.cost_tiles || options.features.cascade) {
    const auto add = [&](double weight) {
      attempts.push_back({{options.features}, true, {weight}});
    };
    if (thorough) {
      std::for_each(std::begin(kMoreTrafficWeights),
                    std::end(kMoreTrafficWeights), add);
    } else {
      std::for_each(std::begin(kTrafficWeights), std::end(kTrafficWeights),
                    add);
    }
  }
  absl::StatusOr<BackendResult> first = absl::InternalError("no attempt");
  Facts facts;
  std::optional<Tried> best;
  uint64_t fastest = UINT64_MAX / 2;
  const auto consider = [&](const Tried& tried) {
    fastest = std::min(fastest, tried.cycles);
    if (!best || Better(options.goal, tried, *best, fastest)) best = tried;
  };
  // Tries `batch` on all threads, and considers what came out in its order, so
  // that the best is the same whoever is done first. Whether one was refused
  // that need not be: a fused pooling asks for the whole image in SRAM;
  // without, there are tiles.
  std::optional<SearchProgress> search;
  const auto try_all = [&](SearchStage stage,
                           const std::vector<Attempt>& batch) {
    search->Begin(stage, batch.size());
    std::vector<Facts> found(batch.size(), facts);
    std::vector<std::optional<Tried>> tried(batch.size());
    std::vector<uint8_t> pool_at_fault(batch.size());
    threads.For(batch.size(), [&](size_t i) {
      ThreadPool self(1);
      const absl::StatusOr<BackendResult> made =
          Generate(graph, &lowered, &self, production, limited, batch[i], scope,
                   &found[i]);
      if (made.ok()) {
        tried[i] = Remember(batch[i], *made);
      } else {
        pool_at_fault[i] =
            batch[i].features.fuse_pool &&
            RejectionOf(made.status()) == Rejection::kUnsupportedShape;
      }
      search->Ended();
    });
    bool without_pool = false;
    for (size_t i = 0; i < batch.size(); ++i) {
      facts.grouped |= found[i].grouped;
      facts.too_long |= found[i].too_long;
      facts.operands |= found[i].operands;
      facts.outputs |= found[i].outputs;
      facts.loads = found[i].loads;
      facts.few = found[i].few;
      without_pool |= pool_at_fault[i] != 0;
      if (tried[i]) consider(*tried[i]);
    }
    return without_pool;
  };
  const auto without_pool = [](std::vector<Attempt>* batch) {
    for (Attempt& a : *batch) a.features.fuse_pool = false;
  };
  // The schedule first, with constants loaded one operation ahead; then how far
  // ahead is best for it.
  const int farthest = options.features.prefetch;
  const bool always = options.features.always_rewrite;
  for (Attempt& a : attempts) {
    a.features.prefetch = std::min(farthest, 1);
    a.features.short_first = always && options.features.short_first;
    a.features.early_operands = always && options.features.early_operands;
    a.features.keep_outputs = always && options.features.keep_outputs;
    a.order = always && options.features.order;
    a.recompute = always && options.features.recompute;
  }
  for (size_t i = 0; i < attempts.size() && (i == 0 || first_only); ++i) {
    const auto attempt = [&] {
      return Generate(graph, &lowered, &threads, production, limited,
                      attempts[i], scope, &facts);
    };
    absl::StatusOr<BackendResult> made = attempt();
    if (!made.ok() && attempts[i].features.fuse_pool &&
        RejectionOf(made.status()) == Rejection::kUnsupportedShape) {
      without_pool(&attempts);
      made = attempt();
    }
    production.progress = nullptr;
    if (made.ok()) consider(Remember(attempts[i], *made));
    if (i == 0 || made.ok()) first = std::move(made);
    if (facts.no_room) return first;
    if (first.ok()) break;
  }
  // What is loaded ahead of a stream's end is loaded again behind it, and takes
  // a part of the window: where memory is short, nothing is, and pieces are
  // small.
  const auto without_prefetch = [&] {
    std::vector<Attempt> batch;
    for (const uint64_t divisor : {uint64_t{0}, std::end(kGroupDivisors)[-1]}) {
      for (Attempt a : attempts) {
        a.features.prefetch = 0;
        a.group_divisor = divisor;
        batch.push_back(a);
      }
    }
    return batch;
  };
  const auto short_of_memory = [&] {
    return !best && RejectionOf(first.status()) == Rejection::kNoDeviceMemory &&
           options.device_memory_bytes != 0;
  };
  if (first_only && short_of_memory()) {
    for (const Attempt& attempt : without_prefetch()) {
      auto made = Generate(graph, &lowered, &threads, production, limited,
                           attempt, scope, &facts);
      if (!made.ok()) continue;
      consider(Remember(attempt, *made));
      first = std::move(made);
      break;
    }
  }
  // Larger boxes where buffers are single, and squares where windows overlap.
  const auto of_few_commands = [&] {
    Attempt a = attempts[0];
    a.choose = true;
    a.prices.command_cycles = kManyCycles;
    a.features.prefetch = 0;
    return a;
  };
  if (first_only && !first.ok() && facts.too_long) {
    auto made = Generate(graph, &lowered, &threads, production, limited,
                         of_few_commands(), scope, &facts);
    if (made.ok()) consider(Remember(of_few_commands(), *made));
    first = std::move(made);
  }
  if (verdict_only) return first;
  if (!first_only) {
    search.emplace(options, threads.threads(),
                   SearchSize{attempts.size() - 1, facts.grouped, facts.loads,
                              facts.operands, facts.outputs, facts.few});
    std::vector<Attempt> batch(attempts.begin() + 1, attempts.end());
    if (try_all(SearchStage::kTraffic, batch)) {
      without_pool(&batch);
      try_all(SearchStage::kTraffic, batch);
    }
    // The same without keeping groups of weights, if there are any.
    if (facts.grouped && options.features.keep_weights) {
      for (Attempt& a : batch) a.features.keep_weights = false;
      try_all(SearchStage::kReload, batch);
    }
    if (short_of_memory()) {
      batch = without_prefetch();
      try_all(SearchStage::kReload, batch);
    }
    if (!best && facts.too_long) {
      try_all(SearchStage::kReload, {of_few_commands()});
    }
    batch.clear();
    for (int ahead = 2; best && facts.loads && ahead <= farthest;
         ahead = thorough ? ahead + 1 : ahead * 2) {
      batch.push_back(best->attempt);
      batch.back().features.prefetch = ahead;
    }
    try_all(SearchStage::kAhead, batch);
    batch.clear();
    // With small groups, there is room for those of operations farther ahead.
    const int farther = std::min(farthest, 4);
    const auto divide = [&](uint64_t divisor) {
      if (!best || !facts.grouped || farthest == 0) return;
      batch.push_back(best->attempt);
      batch.back().group_divisor = divisor;
      if (batch.back().features.prefetch >= farther) return;
      batch.push_back(batch.back());
      batch.back().features.prefetch = farther;
    };
    if (thorough) {
      std::for_each(std::begin(kMoreGroupDivisors),
                    std::end(kMoreGroupDivisors), divide);
    } else {
      std::for_each(std::begin(kGroupDivisors), std::end(kGroupDivisors),
                    divide);
    }
    try_all(SearchStage::kGroups, batch);
    // Operands of tiles may be worth more than constants in time.
    batch.clear();
    for (int ahead = 0; ahead < 2 && best && facts.loads; ++ahead) {
      const int distance = ahead == 0 ? best->attempt.features.prefetch : 1;
      if (distance > farthest) continue;
      if (ahead == 1 && best->attempt.features.prefetch == 1) continue;
      batch.push_back(best->attempt);
      batch.back().stream_constants = false;
      batch.back().features.prefetch = distance;
    }
    try_all(SearchStage::kOperands, batch);
    // The first tiles may be short.
    batch.clear();
    if (best && best->attempt.choose && options.features.short_first &&
        !always) {
      batch.push_back(best->attempt);
      batch.back().features.short_first = true;
    }
    try_all(SearchStage::kShortFirst, batch);
    batch.clear();
    for (const double price : kCommandPrices) {
      if (!best || best->cycles < kShortJob || best->cycles > kLongJob ||
          !facts.few || !options.features.cost_tiles || always) {
        continue;
      }
      for (const bool is_short : {false, true}) {
        if (is_short && !options.features.short_first) continue;
        batch.push_back(best->attempt);
        batch.back().choose = true;
        batch.back().prices.command_cycles = price;
        batch.back().features.short_first = is_short;
      }
    }
    try_all(SearchStage::kCommands, batch);
    // Outputs that are read again in SRAM; operands beside the operation before
    // them.
    batch.clear();
    if (best && facts.outputs && options.features.keep_outputs && !always) {
      batch.push_back(best->attempt);
      batch.back().features.keep_outputs = true;
    }
    try_all(SearchStage::kOutputs, batch);
    batch.clear();
    if (best && facts.operands && options.features.early_operands && !always) {
      batch.push_back(best->attempt);
      batch.back().features.early_operands = true;
    }
    try_all(SearchStage::kEarly, batch);
    // The same in another order, if there is a better one, and with copies of
    // what is cheap: last, so that they are taken only where they beat all that
    // the graph allows as it is.
    const auto change = [&](SearchStage stage, bool Attempt::*rewrite) {
      batch.clear();
      for (const Attempt& a : attempts) {
        if (a.choose != best->attempt.choose) continue;
        batch.push_back(best->attempt);
        batch.back().*rewrite = true;
        batch.back().prices = a.prices;
      }
      try_all(stage, batch);
    };
    if (best && options.features.order && !always &&
        lowered.OrderDiffers(best->attempt)) {
      change(SearchStage::kOrder, &Attempt::order);
    }
    if (best && options.features.recompute && !always &&
        lowered.HasCopies(best->attempt)) {
      change(SearchStage::kCopies, &Attempt::recompute);
    }
  }
  // Who watches the passes sees those of the schedule that is taken, or how far
  // a refused graph comes.
  if (scope == Scope::kPackage || (!best && !options.after_pass)) {
    return first;
  }
  first = absl::InternalError("no attempt");
  CompileOptions final_options = options;
  final_options.progress = nullptr;
  if (search) search->Begin(SearchStage::kPackage, 1);
  // With taps, region 2 is another.
  LoweredGraphs again(graph, final_options, limited);
  const bool lower_again = options.taps || options.after_pass;
  return Generate(graph, lower_again ? &again : &lowered, &threads,
                  final_options, limited, best ? best->attempt : attempts[0],
                  Scope::kPackage, &facts);
}

}  // namespace

namespace {

// Of a graph that the front end's passes may not have seen.
absl::StatusOr<BackendResult> SearchExpanded(const Graph& graph,
                                             const CompileOptions& options,
                                             bool check) {
  for (const Node& node : graph.nodes) {
    if (IsControl(node)) return WhyControl(node);
  }
  if (!HasExpanded(graph)) return Search(graph, options, check);
  Graph expanded = graph;
  RETURN_IF_ERROR(ExpandOperators(&expanded));
  return Search(expanded, options, check);
}

}  // namespace

absl::StatusOr<BackendResult> GeneratePackage(const Graph& graph,
                                              const CompileOptions& options) {
  return SearchExpanded(graph, options, false);
}

absl::Status CheckNodeOnCard(const Graph& graph, const Node& node) {
  if (IsControl(node)) return WhyControl(node);
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    RETURN_IF_ERROR(CheckType(
        graph.tensors[id], absl::StrCat(node.Describe(), ": input").c_str()));
  }
  RETURN_IF_ERROR(CheckTypes(graph, node));
  return CheckLowering(node);
}

absl::Status CheckPackage(const Graph& graph, const CompileOptions& options) {
  return SearchExpanded(graph, options, true).status();
}

}  // namespace heddle::compiler
