// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/stream_trace.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "simulator/timing/calibration.h"

namespace heddle::platform {

StreamTracer::StreamTracer(const isa::Config& config, const uint32_t* stream,
                           size_t words)
    : stream_(stream),
      words_(words),
      builder_(config, timing::CalibrationOf(config)) {}

void StreamTracer::Retired(const uint8_t* sram) {
  const auto command = isa::DecodeAny(stream_ + at_, words_ - at_);
  if (!command.ok()) return;  // none that could be executed
  const uint64_t* program = nullptr;
  if (const auto* run = std::get_if<isa::Vrun>(&*command)) {
    program = reinterpret_cast<const uint64_t*>(sram + size_t{run->prog_addr} *
                                                           isa::kWordBytes);
  }
  builder_.Add(static_cast<uint32_t>(at_ * sizeof(uint32_t)), *command,
               program);
  at_ += isa::WordsOf(*command);
}

EstimatedTrace StreamTracer::Finish() {
  EstimatedTrace trace;
  // Whatever runs in program order can run, so this has a result.
  auto timeline = builder_.Finish();
  if (!timeline.ok()) return trace;
  trace.cycles = timeline->cycles;
  std::stable_sort(
      timeline->commands.begin(), timeline->commands.end(),
      [](const timing::TimedCommand& a, const timing::TimedCommand& b) {
        return std::tie(a.end, a.engine) < std::tie(b.end, b.engine);
      });
  for (const timing::TimedCommand& c : timeline->commands) {
    if (c.engine < 0) continue;
    desc::TraceEntry entry;
    entry.begin = static_cast<uint32_t>(c.taken);
    entry.end = static_cast<uint32_t>(c.end);
    entry.offset = c.offset;
    entry.tag = c.tag;
    entry.flags = desc::kTraceEntryFlagsValidMask |
                  desc::kTraceEntryFlagsEstimatedMask |
                  static_cast<uint32_t>(c.engine + 1);
    for (size_t i = 0; i < c.stalls.size(); ++i) {
      entry.stall[i] = static_cast<uint32_t>(c.stalls[i]);
    }
    trace.entries.push_back(entry);
  }
  return trace;
}

}  // namespace heddle::platform
