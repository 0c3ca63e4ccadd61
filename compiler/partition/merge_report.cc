// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/merge_report.h"

#include <algorithm>
#include <utility>

#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

void MergeReport(const CompileReport& segment, CompileReport* whole) {
  const uint64_t before = whole->estimated_cycles;
  const size_t layers = whole->layers.size();
  for (LayerReport layer : segment.layers) {
    layer.first_cycle += before;
    layer.last_cycle += before;
    whole->layers.push_back(std::move(layer));
  }
  for (CommandReport command : segment.commands_in_time) {
    if (command.layer >= 0) command.layer += static_cast<int>(layers);
    command.start += before;
    command.end += before;
    whole->commands_in_time.push_back(command);
  }
  for (BufferReport buffer : segment.buffers) {
    buffer.first_layer += layers;
    buffer.last_layer += layers;
    buffer.first_cycle += before;
    buffer.last_cycle += before;
    whole->buffers.push_back(std::move(buffer));
  }
  whole->engines.resize(
      std::max(whole->engines.size(), segment.engines.size()));
  for (size_t e = 0; e < segment.engines.size(); ++e) {
    const EngineReport& from = segment.engines[e];
    EngineReport& to = whole->engines[e];
    to.name = from.name;
    to.commands += from.commands;
    to.bytes += from.bytes;
    to.busy += from.busy;
    for (size_t i = 0; i < to.wait_for.size(); ++i) {
      to.wait_for[i] += from.wait_for[i];
    }
    to.wait_for_commands += from.wait_for_commands;
    to.finished += from.finished;
  }
  for (uint64_t CompileReport::*sum :
       {&CompileReport::compute_bound_cycles, &CompileReport::dram_bound_cycles,
        &CompileReport::layer_bound_cycles, &CompileReport::bus_busy_cycles,
        &CompileReport::dram_bytes, &CompileReport::macs,
        &CompileReport::weight_bytes, &CompileReport::region0_bytes,
        &CompileReport::window_bytes, &CompileReport::resident_weight_bytes,
        &CompileReport::copied_weight_bytes, &CompileReport::copy_wait_cycles,
        &CompileReport::scratch_bytes, &CompileReport::io_bytes,
        &CompileReport::stream_bytes, &CompileReport::commands,
        &CompileReport::estimated_cycles}) {
    whole->*sum += segment.*sum;
  }
  for (uint64_t CompileReport::*most :
       {&CompileReport::sram_bytes, &CompileReport::sram_peak_bytes}) {
    whole->*most = std::max(whole->*most, segment.*most);
  }
}

void FinishMerge(const std::string& config, CompileReport* whole) {
  const isa::Config* found = isa::FindConfig(config);
  if (found == nullptr || whole->estimated_cycles == 0) return;
  whole->estimated_utilisation = static_cast<double>(whole->macs) /
                                 (static_cast<double>(whole->estimated_cycles) *
                                  found->lanes_in * found->lanes_out);
}

}  // namespace heddle::compiler
