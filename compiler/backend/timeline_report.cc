// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/timeline_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/backend/traffic.h"
#include "compiler/package/expected_job.h"

namespace heddle::compiler {
namespace {

constexpr int kMatrix = 2, kVector = 3;  // of timing::TimedCommand::engine

uint64_t DivUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// MACs per cycle of the engine that a layer's MACs run on.
uint64_t PeakOf(const std::string& engine, const isa::Config& config) {
  return engine == "matrix" ? uint64_t{config.lanes_in} * config.lanes_out
                            : isa::kVectorLanes;
}

std::string BoundOf(const timing::LayerTime& time, const isa::Config& config) {
  if (time.cycles == 0) return "hidden";
  const uint64_t matrix = time.busy[kMatrix], vector = time.busy[kVector];
  const uint64_t dram = DivUp(time.bytes, config.dram_bytes_per_cycle);
  const uint64_t most = std::max({matrix, vector, dram});
  if (2 * most < time.cycles) return "waiting";
  if (most == matrix) return "matrix";
  return most == vector ? "vector" : "DRAM";
}

void FillCommands(const timing::Timeline& timeline, CompileReport* report) {
  for (const timing::TimedCommand& c : timeline.commands) {
    CommandReport command;
    const isa::CommandInfo* info =
        isa::FindCommand(static_cast<uint32_t>(c.opcode));
    if (info != nullptr) command.mnemonic = info->mnemonic;
    // What only makes taps belongs to no layer.
    if (c.engine >= 0 && c.tag < report->layers.size()) {
      command.layer = static_cast<int>(c.tag);
    }
    command.engine = c.engine;
    command.offset = c.offset;
    command.start = c.start;
    command.end = c.end;
    command.bytes = c.bytes;
    report->commands_in_time.push_back(command);
  }
}

}  // namespace

void AppendStream(const std::vector<uint32_t>& stream,
                  std::vector<uint32_t>* joined) {
  if (!joined->empty()) {
    joined->resize(joined->size() - isa::End::kWords);
    isa::Append(isa::Command(isa::Barrier()), joined);
  }
  joined->insert(joined->end(), stream.begin(), stream.end());
}

void TimeLayer(const timing::LayerTime& time, const isa::Config& config,
               LayerReport* layer) {
  layer->dram_bytes = time.bytes;
  layer->estimated_cycles = time.cycles;
  layer->first_cycle = time.first;
  layer->last_cycle = time.last;
  layer->busy_cycles = time.busy;
  layer->commands = time.commands;
  layer->bound = BoundOf(time, config);
  if (time.cycles == 0) return;
  layer->utilisation = static_cast<double>(layer->macs) /
                       (static_cast<double>(time.cycles) *
                        static_cast<double>(PeakOf(layer->engine, config)));
}

void FillTimes(const timing::Timeline& timeline, const isa::Config& config,
               bool details, CompileReport* report) {
  for (const LayerReport& layer : report->layers) {
    report->macs += layer.macs;
    report->dram_bytes += layer.dram_bytes;
  }
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    const timing::EngineTime& t = timeline.engines[e];
    EngineReport engine;
    engine.name = timing::EngineName(e);
    engine.commands = t.commands;
    engine.bytes = t.bytes;
    engine.busy = t.busy;
    engine.wait_for = t.wait_for;
    engine.wait_for_commands = t.wait_for_commands;
    engine.finished = t.finished;
    report->engines.push_back(std::move(engine));
  }
  report->bus_busy_cycles = timeline.bus_busy;
  report->estimated_cycles = timeline.cycles;
  report->estimated_utilisation =
      timeline.cycles == 0 ? 0
                           : static_cast<double>(report->macs) /
                                 (static_cast<double>(timeline.cycles) *
                                  config.lanes_in * config.lanes_out);
  report->sram_bytes = config.sram_bytes;
  if (details) FillCommands(timeline, report);
}

void FillBounds(const std::vector<uint32_t>& words, const isa::Config& config,
                CompileReport* report) {
  std::map<std::string, uint64_t> macs;  // by engine
  for (const LayerReport& layer : report->layers) {
    const uint64_t compute = DivUp(layer.macs, PeakOf(layer.engine, config));
    macs[layer.engine] += layer.macs;
    report->layer_bound_cycles +=
        std::max(compute, DivUp(layer.dram_bytes, config.dram_bytes_per_cycle));
  }
  for (const auto& [engine, sum] : macs) {
    report->compute_bound_cycles = std::max(report->compute_bound_cycles,
                                            DivUp(sum, PeakOf(engine, config)));
  }
  report->dram_bound_cycles =
      DivUp(LeastTraffic(words, config), config.dram_bytes_per_cycle);
}

void FillMemory(const package::Package& package, uint64_t weight_bytes,
                CompileReport* report) {
  const package::WeightPlan& plan = package.weight_plan;
  report->resident_weight_bytes =
      plan.empty() ? weight_bytes : plan.resident_bytes();
  report->copied_weight_bytes = plan.copied_bytes();
  report->window_bytes = plan.windows * plan.window_bytes;
  report->region0_bytes = plan.empty() ? weight_bytes : plan.device_bytes;
  report->weight_bytes = weight_bytes;
  report->scratch_bytes = package.scratch_bytes;
  report->io_bytes = package.io_bytes;
  for (const auto& stream : package.streams) {
    report->stream_bytes += stream.size() * sizeof(uint32_t);
  }
  report->estimated_job_cycles = package::ExpectedJobCycles(package);
}

}  // namespace heddle::compiler
