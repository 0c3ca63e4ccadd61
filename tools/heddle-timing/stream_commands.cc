// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/stream_commands.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace heddle::timing {
namespace {

bool ByIndex(const isa::Command& command) {
  if (const auto* run = std::get_if<isa::Vrun>(&command)) {
    return run->gather_a || run->scatter_d || run->pick_a;
  }
  return std::holds_alternative<isa::LoadGather>(command) ||
         std::holds_alternative<isa::StoreScatter>(command);
}

}  // namespace

absl::StatusOr<std::vector<StreamCommand>> EngineCommands(
    const std::vector<uint32_t>& words) {
  std::vector<StreamCommand> commands;
  for (size_t at = 0; at < words.size();) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("offset ", at * 4, ": ", command.status().message()));
    }
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
    if (info->engine != isa::Engine::kControl) {
      commands.push_back(
          {static_cast<uint32_t>(at * 4),
           std::visit([](const auto& c) { return c.header.tag; }, *command),
           info->engine, info->mnemonic, ByIndex(*command)});
    }
    at += isa::WordsOf(*command);
  }
  return commands;
}

}  // namespace heddle::timing
