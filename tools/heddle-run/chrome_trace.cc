// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "rtl/spec/generated/isa.h"
#include "tools/heddle-run/profile.h"

namespace heddle::run {
namespace {

using nlohmann::ordered_json;

// One process: the card. Threads are its engines, in the order of their ids.
constexpr int kProcess = 1;

ordered_json Name(const char* of, int thread, const std::string& name) {
  return {{"ph", "M"},
          {"name", of},
          {"pid", kProcess},
          {"tid", thread},
          {"args", {{"name", name}}}};
}

ordered_json Event(const ProfiledCommand& command, double us_per_cycle) {
  const session::TracedCommand& traced = command.traced;
  ordered_json args = {{"layer", command.layer},  {"command", command.mnemonic},
                       {"stream", traced.stream}, {"offset", traced.offset},
                       {"tag", traced.tag},       {"begin", traced.begin},
                       {"end", traced.end}};
  if (!traced.stalls.empty()) {
    args["stalls"] = ordered_json::object();
    for (const session::Stall& stall : traced.stalls) {
      args["stalls"][stall.reason] = stall.cycles;
    }
  }
  const uint64_t start = std::min(command.start, traced.end);
  return {{"ph", "X"},
          {"name", command.layer.empty() ? command.mnemonic : command.layer},
          {"cat", command.mnemonic},
          {"pid", kProcess},
          {"tid", command.engine + 1},
          {"ts", static_cast<double>(start) * us_per_cycle},
          {"dur", static_cast<double>(traced.end - start) * us_per_cycle},
          {"args", std::move(args)}};
}

}  // namespace

std::string ChromeTrace(const package::Package& package,
                        const session::DeviceDescription& device,
                        const Profile& profile) {
  const isa::Config* config = isa::FindConfig(package.config);
  const uint32_t mhz = config == nullptr ? 1 : config->clock_mhz;
  ordered_json events = ordered_json::array();
  events.push_back(Name("process_name", 0,
                        package.model_name + " on " + device.id + " (" +
                            device.core + "), times " +
                            TimeSourceName(profile.source)));
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    events.push_back(Name("thread_name", e + 1, timing::EngineName(e)));
  }
  for (const ProfiledCommand& command : profile.commands) {
    events.push_back(Event(command, 1.0 / mhz));
  }
  const ordered_json json = {{"displayTimeUnit", "ns"},
                             {"otherData",
                              {{"schema", "heddle-trace/1"},
                               {"model", package.model_name},
                               {"config", package.config},
                               {"device", device.id},
                               {"core", device.core},
                               {"times", TimeSourceName(profile.source)},
                               {"clock_mhz", mhz},
                               {"cycles", profile.cycles()},
                               {"lost_for_room", profile.lost_for_room},
                               {"lost_by_card", profile.lost_by_card}}},
                             {"traceEvents", std::move(events)}};
  // Names are the user's bytes: what is no UTF-8 is replaced.
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace heddle::run
