// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/compile_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/backend/timeline_report.h"
#include "compiler/stream/access.h"

namespace heddle::compiler {
namespace {

const char* LayoutName(Layout layout) {
  switch (layout) {
    case Layout::kBlocked:
      return "blocked";
    case Layout::kPacked:
      return "packed";
    default:
      return "dense";
  }
}

OperandReport Operand(const DeviceGraph& graph, int value, bool copied) {
  const Storage& s = graph.StorageOf(value);
  OperandReport operand;
  operand.tensor = s.name;
  operand.place = !s.resident ? "device memory"
                  : copied    ? "SRAM, copied for its padding"
                              : "SRAM";
  operand.layout = LayoutName(s.layout);
  operand.shape = graph.values[value].shape;
  operand.bytes = s.SramBytes();
  return operand;
}

void FillDetails(const DeviceGraph& graph, const DeviceOp& op,
                 const OpPlan& plan, LayerReport* layer) {
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    layer->inputs.push_back(Operand(graph, op.inputs[k].value,
                                    k < plan.copy.size() && plan.copy[k]));
  }
  layer->output = Operand(graph, op.output, false);
  const Extent& e = graph.values[op.output].extent;
  layer->rows = e.h;
  layer->columns = e.w;
  layer->channels = e.c;
  layer->tile_rows = plan.tile.rows;
  layer->first_tile_rows = plan.tile.rows - plan.tile.lead;
  layer->tile_columns = plan.tile.columns;
  layer->tile_channels = plan.tile.channels;
  layer->groups = op.groups.size();
  layer->tiles = plan.tile.Count(e) * op.groups.size();
  for (const ConstantGroup& g : op.groups) layer->constant_bytes += g.bytes;
}

// The pieces of SRAM that the plan gives to tensors and layers, by address and
// first layer.
std::vector<BufferReport> DescribeBuffers(const DeviceGraph& graph,
                                          const MemoryPlan& plan,
                                          uint64_t program_bytes) {
  std::vector<BufferReport> buffers;
  const auto add = [&](const std::string& name, const char* kind,
                       uint64_t address, uint64_t bytes, size_t first,
                       size_t last) {
    if (bytes == 0) return;
    buffers.push_back({name, kind, address, bytes, first, last});
  };
  if (!graph.ops.empty() && plan.keep_programs) {
    add("microprograms", "programs", plan.programs, program_bytes, 0,
        graph.ops.size() - 1);
  }
  for (const Storage& s : graph.storages) {
    if (!s.resident || s.first_op < 0) continue;
    add(s.name, "tensor", s.sram, s.SramBytes(), s.first_op, s.last_op);
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const DeviceOp& op = *graph.ops[i];
    const OpPlan& p = plan.ops[i];
    // Once where both sides are the same place.
    const auto pair = [&](const std::string& name, const char* kind, uint32_t a,
                          uint32_t b, uint64_t bytes, size_t first) {
      add(name, kind, a, bytes, first, i);
      if (b != a) add(name, kind, b, bytes, first, i);
    };
    for (size_t k = 0; k < op.inputs.size() && k < p.inputs.size(); ++k) {
      const Storage& s = graph.StorageOf(op.inputs[k].value);
      if (s.resident && !p.copy[k]) continue;
      pair(s.name, "operand", p.inputs[k][0], p.inputs[k][1],
           InputTile(graph, op, k, StoredTile(op, p)).bytes, i);
    }
    const Storage& result = graph.StorageOf(op.output);
    if (!result.resident) {
      pair(result.name, "result", p.output[0], p.output[1],
           OutputTile(graph, op, StoredTile(op, p)).bytes, i);
    }
    add(op.name, "temporary", p.temporary, op.temporary_bytes, i, i);
  }
  // Places of constants, each once, from the first load to the last use.
  std::map<std::tuple<size_t, uint32_t, uint64_t>, size_t> constants;
  for (const ConstantUse& use : plan.constants) {
    const size_t loaded = std::upper_bound(plan.first_step.begin(),
                                           plan.first_step.end(), use.when) -
                          plan.first_step.begin() - 1;
    const auto [it, added] =
        constants.try_emplace({use.op, use.address, use.bytes}, loaded);
    if (!added) it->second = std::min(it->second, loaded);
  }
  for (const auto& [place, first] : constants) {
    const auto& [op, address, bytes] = place;
    add(graph.ops[op]->name, "constants", address, bytes, first, op);
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const BufferReport& a, const BufferReport& b) {
                     return std::tie(a.address, a.first_layer) <
                            std::tie(b.address, b.first_layer);
                   });
  return buffers;
}

// When commands touch the buffers.
void TimeBuffers(const std::vector<uint32_t>& words, const isa::Config& config,
                 CompileReport* report) {
  std::vector<BufferReport>& buffers = report->buffers;
  std::vector<std::vector<size_t>> alive(report->layers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t l = buffers[i].first_layer; l <= buffers[i].last_layer; ++l) {
      alive[l].push_back(i);
    }
  }
  std::vector<bool> touched(buffers.size());
  for (const CommandReport& command : report->commands_in_time) {
    if (command.layer < 0) continue;
    const size_t at = command.offset / sizeof(uint32_t);
    const auto decoded = isa::DecodeAny(&words[at], words.size() - at);
    if (!decoded.ok()) continue;  // FillReport decoded it before
    for (const Access& access : AccessesOf(*decoded, config)) {
      if (access.space != kSramSpace) continue;
      for (size_t i : alive[command.layer]) {
        BufferReport& b = buffers[i];
        if (access.begin >= b.address + b.bytes || access.end <= b.address) {
          continue;
        }
        b.first_cycle =
            touched[i] ? std::min(b.first_cycle, command.start) : command.start;
        b.last_cycle = std::max(b.last_cycle, command.end);
        touched[i] = true;
      }
    }
  }
}

}  // namespace

absl::Status FillReport(const DeviceGraph& graph, const MemoryPlan& plan,
                        uint64_t program_bytes,
                        const std::vector<uint32_t>& words,
                        const std::vector<timing::KnownBytes>& constants,
                        const isa::Config& config, bool details,
                        BackendResult* result) {
  const absl::StatusOr<timing::Timeline> timeline =
      timing::SimulateTimeline(words, config, constants);
  if (!timeline.ok()) {
    return absl::InternalError(
        absl::StrCat("the compiler emitted a stream that cannot run: ",
                     timeline.status().message()));
  }
  const std::vector<timing::LayerTime> times =
      timing::AttributeToLayers(*timeline, graph.ops.size());
  CompileReport& report = result->report;
  package::Package& package = result->package;
  std::map<std::string, uint32_t> node_index;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const DeviceOp& op = *graph.ops[i];
    LayerReport layer;
    layer.name = op.name;
    layer.op = op.op;
    layer.engine = op.engine;
    layer.sources = op.sources;
    layer.output_shape = graph.values[op.output].shape;
    layer.macs = op.macs;
    TimeLayer(times[i], config, &layer);
    if (details) FillDetails(graph, op, plan.ops[i], &layer);
    const auto [it, fresh] =
        node_index.try_emplace(op.name, package.nodes.size());
    if (fresh) package.nodes.push_back(op.name);
    package::Layer entry;
    entry.node = it->second;
    entry.engine = layer.engine;
    entry.macs = layer.macs;
    entry.dram_bytes = layer.dram_bytes;
    entry.estimated_cycles = layer.estimated_cycles;
    package.layers.push_back(entry);
    report.layers.push_back(std::move(layer));
  }
  FillTimes(*timeline, config, details, &report);
  package.macs = report.macs;
  package.estimated_cycles = report.estimated_cycles;
  if (details) {
    report.buffers = DescribeBuffers(graph, plan, program_bytes);
    TimeBuffers(words, config, &report);
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
