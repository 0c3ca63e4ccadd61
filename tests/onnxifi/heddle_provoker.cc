// SPDX-License-Identifier: Apache-2.0
// The provoker of our simulated cards (onnxifi/conformance/provoker.h): the
// card whose control socket HEDDLE_PROVOKE_CONTROL names, and which has
// HEDDLE_PROVOKE_MEMORY (512M) of memory by itself.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "onnxifi/conformance/provoker.h"
#include "simulator/platform/control_client.h"

namespace {

std::string Env(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

// The simulator's commands for a word; none: there is no such thing.
std::vector<std::string> CommandsFor(const std::string& what, uint64_t amount) {
  const std::string memory =
      "memory " + (amount == 0 ? Env("HEDDLE_PROVOKE_MEMORY", "512M")
                               : std::to_string(amount));
  if (what == "unplug" || what == "plug") return {what};
  // The library sees what a card has when it is plugged.
  if (what == "memory") return {"unplug", memory, "plug"};
  if (what == "hang") return {"fault stuck_engine"};
  if (what == "bit_flip") {
    return {amount == 0 ? "fault bit_flip weights" : "fault bit_flip command"};
  }
  if (what == "reset") return {"fault none", memory};
  return {};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int onnxifiProvoke(
    const char* what, uint64_t amount) {
  const std::string control = Env("HEDDLE_PROVOKE_CONTROL", "");
  if (control.empty()) {
    std::fprintf(stderr,
                 "heddle provoker: HEDDLE_PROVOKE_CONTROL is not set\n");
    return ONNXIFI_PROVOKER_FAILED;
  }
  const std::vector<std::string> commands = CommandsFor(what, amount);
  if (commands.empty()) return ONNXIFI_PROVOKER_LACKS;
  for (const std::string& command : commands) {
    const auto answer = heddle::platform::SendCommand(control, command);
    if (!answer.ok()) {
      std::fprintf(stderr, "heddle provoker: %s: %s\n", command.c_str(),
                   std::string(answer.status().message()).c_str());
      return ONNXIFI_PROVOKER_FAILED;
    }
    if (answer->find("\"ok\":true") == std::string::npos) {
      std::fprintf(stderr, "heddle provoker: %s: %s\n", command.c_str(),
                   answer->c_str());
      return ONNXIFI_PROVOKER_FAILED;
    }
  }
  return ONNXIFI_PROVOKED;
}
