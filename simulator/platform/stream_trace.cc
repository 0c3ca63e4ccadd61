// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/stream_trace.h"

#include <cstddef>

#include "rtl/spec/generated/isa.h"

namespace heddle::platform {
namespace {

constexpr size_t kTagWord = 3;

}  // namespace

std::vector<desc::TraceEntry> TraceOf(const std::vector<uint32_t>& stream,
                                      uint64_t commands, uint32_t step) {
  std::vector<desc::TraceEntry> entries;
  size_t at = 0;
  for (uint64_t i = 0; i < commands && at < stream.size(); ++i) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(stream[at]));
    if (info == nullptr || info->words > stream.size() - at) break;
    if (info->engine != isa::Engine::kControl) {
      desc::TraceEntry entry;
      entry.offset = static_cast<uint32_t>(at * sizeof(uint32_t));
      entry.tag = stream[at + kTagWord];
      entry.flags = desc::kTraceEntryFlagsValidMask |
                    desc::kTraceEntryFlagsEstimatedMask |
                    step << desc::kTraceEntryFlagsStepShift |
                    static_cast<uint32_t>(info->engine);
      entries.push_back(entry);
    }
    at += info->words;
  }
  return entries;
}

}  // namespace heddle::platform
