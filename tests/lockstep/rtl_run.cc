// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/rtl_run.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/run_package.h"
#include "simulator/rtl/core_model.h"
#include "simulator/timing/timeline.h"
#include "tests/lockstep/package_program.h"

namespace heddle::lockstep {
namespace {

constexpr int kMatrix = 2, kVector = 3;  // as CommandTime::engine

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Gives every command that an engine takes its place in the stream: engines
// take and finish their commands in stream order.
class Activity : public rtl::CoreObserver {
 public:
  explicit Activity(size_t layers) : layer_waits_(layers) {}

  // Before a stream runs.
  absl::Status Expect(const std::vector<uint32_t>& words,
                      const isa::Config& config) {
    auto timeline = timing::SimulateTimeline(words, config, {});
    if (!timeline.ok()) return timeline.status();
    for (Queue& q : queues_) q = {};
    start_ = now_;
    first_command_ = commands_.size();
    first_change_ = changes_.size();
    for (const timing::TimedCommand& c : timeline->commands) {
      if (c.engine < 0) continue;
      queues_[c.engine].commands.push_back(commands_.size());
      commands_.push_back({c.engine, c.tag, c.offset, 0, 0});
    }
    return absl::OkStatus();
  }
  // Before a cycle.
  void Tick() {
    uint32_t set = 0;
    for (uint32_t e = 0; e < 4; ++e) {
      set |= (queues_[e].taken > queues_[e].done) << e;
    }
    if (changes_.size() == first_change_ || changes_.back().second != set) {
      changes_.push_back({now_, set});
    }
    ++now_;
  }

  void OnAccept(isa::Engine engine) override {
    Queue& q = queues_[Index(engine)];
    if (q.taken < q.commands.size()) {
      commands_[q.commands[q.taken]].accepted = now_;
    }
    ++q.taken;
  }
  void OnDone(isa::Engine engine) override {
    Queue& q = queues_[Index(engine)];
    if (q.done < q.commands.size()) commands_[q.commands[q.done]].done = now_;
    ++q.done;
  }
  void OnSramWrite(isa::Engine, uint32_t, const uint8_t*, uint32_t) override {}
  void OnMemoryWrite(uint64_t, uint32_t) override {}
  void OnMatrixWait(uint32_t reasons) override {
    const Queue& q = queues_[kMatrix];
    Count(reasons, &waits_);
    if (q.done >= q.commands.size()) return;
    const uint32_t layer = commands_[q.commands[q.done]].layer;
    if (layer < layer_waits_.size()) Count(reasons, &layer_waits_[layer]);
  }

  // Of the cycles since Expect(), the last `cycles` were the stream's; those
  // before cleared SRAM and set regions.
  void EndStream(uint64_t cycles) {
    const uint64_t before = now_ - start_ - std::min(cycles, now_ - start_);
    const auto shift = [&](uint64_t* time) {
      *time = std::max(*time, start_ + before) - before;
    };
    for (size_t i = first_command_; i < commands_.size(); ++i) {
      shift(&commands_[i].accepted);
      shift(&commands_[i].done);
    }
    for (size_t i = first_change_; i < changes_.size(); ++i) {
      shift(&changes_[i].first);
    }
    shift(&now_);
  }

  void Finish(NetworkRun* run) {
    changes_.push_back({now_, 0});
    run->commands_in_time = std::move(commands_);
    run->waits = waits_;
    run->layers.resize(layer_waits_.size());
    for (size_t i = 0; i < run->layers.size(); ++i) {
      run->layers[i].waits = layer_waits_[i];
    }
    for (const CommandTime& c : run->commands_in_time) {
      if (c.layer >= run->layers.size()) continue;
      LayerRun& l = run->layers[c.layer];
      l.first = l.commands == 0 ? c.accepted : std::min(l.first, c.accepted);
      l.last = std::max(l.last, c.done);
      ++l.commands;
    }
    // Cycles go to their layers in the order of the layers; what comes after
    // the last layer's end (the end of the stream) belongs to the last one.
    uint64_t from = 0;
    for (size_t i = 0; i < run->layers.size(); ++i) {
      const bool final = i + 1 == run->layers.size();
      const uint64_t to = final ? now_ : std::max(from, run->layers[i].last);
      run->layers[i].cycles = to - from;
      AddSets(from, to, &run->layers[i].sets);
      from = to;
    }
    AddSets(0, now_, &run->sets);
  }

 private:
  struct Queue {
    std::vector<size_t> commands;  // indices
    size_t taken = 0, done = 0;
  };

  static int Index(isa::Engine engine) { return static_cast<int>(engine) - 1; }
  static void Count(uint32_t reasons, MatrixWaits* waits) {
    // The first reason there is, in this order.
    ++(reasons & rtl::kWaitOutput    ? waits->output
       : reasons & rtl::kWaitWeights ? waits->weights
                                     : waits->operands);
  }
  void AddSets(uint64_t from, uint64_t to, CyclesBySet* sets) const {
    auto at = std::upper_bound(changes_.begin(), changes_.end(),
                               std::make_pair(from, UINT32_MAX));
    if (at != changes_.begin()) --at;
    for (; at + 1 < changes_.end() && at->first < to; ++at) {
      const uint64_t begin = std::max(from, at->first);
      const uint64_t end = std::min(to, (at + 1)->first);
      if (begin < end) (*sets)[at->second] += end - begin;
    }
  }

  uint64_t now_ = 0;
  // Where the stream begins.
  uint64_t start_ = 0;
  size_t first_command_ = 0, first_change_ = 0;
  std::array<Queue, 4> queues_;
  std::vector<CommandTime> commands_;
  std::vector<std::pair<uint64_t, uint32_t>> changes_;  // cycle, set from it on
  MatrixWaits waits_;
  std::vector<MatrixWaits> layer_waits_;
};

double PeakOf(const std::string& engine, const isa::Config& config) {
  return engine == "matrix" ? 1.0 * config.lanes_in * config.lanes_out
                            : 1.0 * isa::kVectorLanes;
}

}  // namespace

std::string EngineSetName(uint32_t set) {
  std::string name;
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    if (set >> e & 1) {
      absl::StrAppend(&name, name.empty() ? "" : "+", timing::EngineName(e));
    }
  }
  return name.empty() ? "nobody" : name;
}

std::vector<compiler::TensorData> InputsFor(const package::Package& package) {
  std::vector<compiler::TensorData> inputs;
  for (const package::TensorInfo& info : package.inputs) {
    inputs.push_back(
        compiler::RandomData(info.type, info.shape, inputs.size() + 1));
  }
  return inputs;
}

absl::StatusOr<NetworkRun> RunOnCore(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs,
    const RunOptions& options) {
  const isa::Config* config = isa::FindConfig(package.config);
  auto programs = ProgramsOf(package, inputs);
  if (!programs.ok()) return programs.status();
  auto core = rtl::MakeCore(*config);
  if (!core.ok()) return core.status();
  Activity activity(package.layers.size());
  NetworkRun m;
  m.observed = options.look && (*core)->Observe(&activity);
  std::vector<uint8_t> memory = programs->front().memory;
  const uint64_t code = (memory.size() + 4095) / 4096 * 4096;
  const double before = CpuSeconds();
  for (const Program& program : *programs) {
    const size_t bytes = program.words.size() * 4;
    memory.resize(code + bytes);
    std::memcpy(&memory[code], program.words.data(), bytes);
    (*core)->memory()->Attach(memory.data(), memory.size());
    platform::CoreRequest request;
    request.stream_address = code;
    request.stream_bytes = bytes;
    std::copy(std::begin(program.regions), std::end(program.regions),
              request.regions);
    if (auto s = activity.Expect(program.words, *config); !s.ok()) return s;
    (*core)->Start(request);
    while ((*core)->busy()) {
      if (m.observed) {
        activity.Tick();
        (*core)->Step(1);
      } else {
        (*core)->Step(1000);
      }
    }
    const platform::CoreResult& r = (*core)->result();
    if (r.run.status != isa::Error::kOk) {
      return absl::InternalError(
          absl::StrCat("status ", static_cast<int>(r.run.status), " at offset ",
                       r.run.fault_offset, ", node '",
                       program.node(r.run.fault_offset), "'"));
    }
    if (m.observed) activity.EndStream(r.cycles);
    m.cycles += r.cycles;
    m.macs += r.run.macs;
    m.commands += r.run.commands;
    m.bytes_loaded += r.run.bytes_loaded;
    m.bytes_stored += r.run.bytes_stored;
    m.matrix_busy += r.matrix_busy;
    m.vector_busy += r.vector_busy;
    m.dma_busy += r.dma_busy;
  }
  m.cpu_seconds = CpuSeconds() - before;
  if (m.observed) activity.Finish(&m);
  rtl::DeviceMemory* dram = (*core)->memory();
  m.beats = dram->read_beats() + dram->write_beats();
  if (options.check) {
    auto want = compiler::RunPackage(package, inputs);
    if (!want.ok()) return want.status();
    const uint64_t io = programs->front().regions[2].base;
    for (const package::TensorInfo& info : package.outputs) {
      if (std::memcmp(&memory[io + info.offset],
                      want->outputs[info.name].bytes.data(), info.size) != 0) {
        return absl::InternalError(
            absl::StrCat("output '", info.name, "' differs from the model"));
      }
    }
  }
  return m;
}

NetworkBounds BoundsOf(const package::Package& package,
                       const isa::Config& config) {
  const double bus = config.dram_bytes_per_cycle;
  NetworkBounds bounds;
  bounds.layers.resize(package.layers.size());
  // Closed-form cycles of each layer's matrix and vector commands.
  std::vector<std::array<double, 2>> computing(package.layers.size());
  for (const auto& stream : package.streams) {
    auto timeline = timing::SimulateTimeline(
        stream, config, {{0, absl::MakeConstSpan(package.weights)}});
    if (!timeline.ok()) continue;
    for (const timing::TimedCommand& c : timeline->commands) {
      if (c.engine < kMatrix || c.tag >= computing.size()) continue;
      computing[c.tag][c.engine - kMatrix] +=
          static_cast<double>(c.end - c.start);
    }
  }
  std::map<std::string, double> ideal;  // by engine
  for (size_t i = 0; i < package.layers.size(); ++i) {
    const package::Layer& l = package.layers[i];
    Bounds& b = bounds.layers[i];
    b.ideal = static_cast<double>(l.macs) / PeakOf(l.engine, config);
    b.layers = std::max(b.ideal, static_cast<double>(l.dram_bytes) / bus);
    b.array = computing[i][l.engine == "matrix" ? 0 : kVector - kMatrix];
    ideal[l.engine] += b.ideal;
    bounds.whole.layers += b.layers;
    bounds.whole.array += b.array;
  }
  double bytes = static_cast<double>(package.weights.size());
  for (const auto* tensors : {&package.inputs, &package.outputs}) {
    for (const package::TensorInfo& t : *tensors) {
      bytes += static_cast<double>(t.size);
    }
  }
  bounds.whole.ideal = bytes / bus;
  for (const auto& [engine, cycles] : ideal) {
    bounds.whole.ideal = std::max(bounds.whole.ideal, cycles);
  }
  return bounds;
}

}  // namespace heddle::lockstep
