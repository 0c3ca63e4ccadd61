// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/stream_text.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {

std::string CommandsText(const std::vector<isa::Command>& commands) {
  std::string text;
  for (const isa::Command& command : commands) {
    absl::StrAppend(&text, isa::ToString(command), "\n");
  }
  return text;
}

std::string StreamText(const std::vector<uint32_t>& words) {
  std::vector<isa::Command> commands;
  for (size_t at = 0; at < words.size();) {
    const absl::StatusOr<isa::Command> command =
        isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) {
      return absl::StrCat(CommandsText(commands), command.status().message(),
                          "\n");
    }
    commands.push_back(*command);
    at += isa::WordsOf(*command);
  }
  return CommandsText(commands);
}

std::string TimelineText(const std::vector<uint32_t>& words,
                         const isa::Config& config,
                         const std::vector<timing::KnownBytes>& constants) {
  const absl::StatusOr<timing::Timeline> timeline =
      timing::SimulateTimeline(words, config, constants);
  if (!timeline.ok()) {
    return absl::StrFormat("%s\n", timeline.status().message());
  }
  std::string text =
      absl::StrFormat("%9s %9s  %-7s %4s  %-8s %s\n", "start", "end", "engine",
                      "op", "command", "offset");
  for (const timing::TimedCommand& c : timeline->commands) {
    const isa::CommandInfo* info =
        isa::FindCommand(static_cast<uint32_t>(c.opcode));
    absl::StrAppendFormat(
        &text, "%9d %9d  %-7s %4d  %-8s %#x\n", c.start, c.end,
        c.engine < 0 ? "front" : timing::EngineName(c.engine), c.tag,
        info == nullptr ? "?" : info->mnemonic, c.offset);
  }
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    const timing::EngineTime& t = timeline->engines[e];
    absl::StrAppendFormat(
        &text, "%s: %d of %d cycles busy, %d bytes of device memory\n",
        timing::EngineName(e), t.busy, timeline->cycles, t.bytes);
  }
  return text;
}

}  // namespace heddle::compiler
