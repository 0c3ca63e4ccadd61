// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/trace.h"

#include <algorithm>

#include "runtime/hal/status.h"

namespace heddle::session {
namespace {

// Names of the stall counters of an engine (REGISTERS.md, trace_entry).
std::vector<Stall> StallsOf(isa::Engine engine,
                            const drm_heddle_trace_entry& entry) {
  switch (engine) {
    case isa::Engine::kMatrix:
      return {{"weights", entry.stall0},
              {"activations", entry.stall1},
              {"output", entry.stall2}};
    case isa::Engine::kLoad:
    case isa::Engine::kStore:
      return {{"device memory", entry.stall0}, {"SRAM", entry.stall1}};
    case isa::Engine::kVector:
      return {{"SRAM", entry.stall0}};
    case isa::Engine::kControl:
      break;
  }
  return {};
}

}  // namespace

bool RunTrace::has_times() const {
  return std::any_of(commands.begin(), commands.end(),
                     [](const TracedCommand& c) { return c.end != 0; });
}

std::shared_ptr<const TraceSource> TraceSource::Of(
    const package::Package& package) {
  auto source = std::make_shared<TraceSource>();
  source->names_.nodes = package.nodes;
  source->names_.sources = package.sources;
  for (const std::vector<uint32_t>& words : package.streams) {
    for (size_t at = 0; at < words.size();) {
      const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
      if (info == nullptr) break;  // the driver has refused it
      source->room_ += info->engine != isa::Engine::kControl;
      at += info->words;
    }
  }
  return source;
}

absl::StatusOr<RunTrace> TraceReader::Read() const {
  if (job_->error != 0) {
    return hal::FromErrno("reading the trace of an inference", job_->error);
  }
  RunTrace trace;
  const uint64_t room = job_->entries.size();
  const uint64_t told = std::min<uint64_t>(job_->commands, room);
  trace.lost_for_room = job_->commands - told;
  trace.commands.reserve(told);
  // Times are counted modulo 2^32, and commands end in order, or nearly so
  // where a core executes them one after another.
  uint64_t last = 0;
  for (uint64_t i = 0; i < told; ++i) {
    const drm_heddle_trace_entry& entry = job_->entries[i];
    const auto run = std::find(runs_.begin(), runs_.end(), entry.step);
    if ((entry.flags & DRM_HEDDLE_TRACE_VALID) == 0 || run == runs_.end()) {
      ++trace.lost_by_card;
      continue;
    }
    TracedCommand command;
    command.stream = static_cast<uint32_t>(run - runs_.begin());
    command.offset = entry.offset;
    command.tag = entry.tag;
    command.node = source_->NodeAt(command.stream, command.offset);
    command.engine = static_cast<isa::Engine>(entry.engine);
    const auto step =
        static_cast<int32_t>(entry.end - static_cast<uint32_t>(last));
    last = trace.commands.empty() ? entry.end
                                  : last + static_cast<uint64_t>(int64_t{step});
    command.end = last;
    command.begin = last - static_cast<uint32_t>(entry.end - entry.begin);
    command.stalls = StallsOf(command.engine, entry);
    trace.estimated |= (entry.flags & DRM_HEDDLE_TRACE_ESTIMATED) != 0;
    trace.commands.push_back(std::move(command));
  }
  return trace;
}

}  // namespace heddle::session
