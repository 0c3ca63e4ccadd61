// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/profile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/printable.h"

namespace heddle::run {
namespace {

constexpr size_t kTopLayers = 10;

std::string LayerOf(const package::Package& package,
                    const session::TracedCommand& command) {
  if (command.tag < package.layers.size()) {
    const uint32_t node = package.layers[command.tag].node;
    if (node < package.nodes.size()) return package.nodes[node];
  }
  return command.node;
}

absl::Status UseTimes(const CommandTimes& times, Profile* profile) {
  for (ProfiledCommand& c : profile->commands) {
    const auto found = times.find({c.traced.stream, c.traced.offset});
    if (found == times.end()) {
      return absl::DataLossError(absl::StrCat(
          "the card reports a command at offset ", c.traced.offset,
          " of stream ", c.traced.stream, " that has no recorded time"));
    }
    std::tie(c.traced.begin, c.traced.end) = found->second;
    c.traced.stalls.clear();  // nobody knows
  }
  std::stable_sort(profile->commands.begin(), profile->commands.end(),
                   [](const ProfiledCommand& a, const ProfiledCommand& b) {
                     return a.traced.end < b.traced.end;
                   });
  return absl::OkStatus();
}

void SumEngines(Profile* profile) {
  std::array<uint64_t, timing::kTimedEngines> free{};
  for (ProfiledCommand& c : profile->commands) {
    EngineProfile& engine = profile->engines[c.engine];
    c.start = std::max(c.traced.begin, free[c.engine]);
    free[c.engine] = std::max(free[c.engine], c.traced.end);
    ++engine.commands;
    engine.cycles += c.traced.end - std::min(c.start, c.traced.end);
    engine.stalls.resize(
        std::max(engine.stalls.size(), c.traced.stalls.size()));
    for (size_t i = 0; i < c.traced.stalls.size(); ++i) {
      engine.stalls[i].reason = c.traced.stalls[i].reason;
      engine.stalls[i].cycles += c.traced.stalls[i].cycles;
    }
  }
}

void SumLayers(const package::Package& package, Profile* profile) {
  timing::Timeline whole;
  whole.cycles = profile->cycles();
  for (const ProfiledCommand& c : profile->commands) {
    timing::TimedCommand timed;
    timed.tag = c.traced.tag;
    timed.engine = c.engine;
    timed.start = std::min(c.start, c.traced.end) - profile->begin;
    timed.end = c.traced.end - profile->begin;
    whole.commands.push_back(timed);
  }
  const std::vector<timing::LayerTime> times =
      timing::AttributeToLayers(whole, package.layers.size());
  for (size_t i = 0; i < times.size(); ++i) {
    const uint32_t node = package.layers[i].node;
    profile->layers.push_back(
        {node < package.nodes.size() ? package.nodes[node] : "",
         times[i].cycles});
  }
  std::stable_sort(profile->layers.begin(), profile->layers.end(),
                   [](const LayerProfile& a, const LayerProfile& b) {
                     return a.cycles > b.cycles;
                   });
}

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0
             ? 0
             : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

const char* TimeSourceName(TimeSource source) {
  switch (source) {
    case TimeSource::kCounted:
      return "counted";
    case TimeSource::kEstimated:
      return "estimated";
    case TimeSource::kRecorded:
      return "recorded";
  }
  return "";
}

CommandTimes RecordedTimes(const timing::Replay& replay) {
  CommandTimes times;
  for (const timing::ReplayedCommand& c : replay.commands) {
    const uint64_t start = replay.stream_starts[c.stream];
    times[{c.stream, c.offset}] = {start + c.begin, start + c.end};
  }
  return times;
}

absl::StatusOr<Profile> MakeProfile(const package::Package& package,
                                    const StreamCommands& streams,
                                    const session::RunTrace& trace,
                                    const CommandTimes* recorded,
                                    const CommandTimes* estimated) {
  Profile profile;
  profile.lost_for_room = trace.lost_for_room;
  profile.lost_by_card = trace.lost_by_card;
  for (const session::TracedCommand& traced : trace.commands) {
    const timing::StreamCommand* command = nullptr;
    if (traced.stream < streams.size()) {
      const auto& stream = streams[traced.stream];
      const auto found =
          std::lower_bound(stream.begin(), stream.end(), traced.offset,
                           [](const timing::StreamCommand& c, uint32_t offset) {
                             return c.offset < offset;
                           });
      if (found != stream.end() && found->offset == traced.offset) {
        command = &*found;
      }
    }
    if (command == nullptr || command->tag != traced.tag ||
        command->engine != traced.engine) {
      return absl::DataLossError(absl::StrCat(
          "the card reports a command at offset ", traced.offset, " of stream ",
          traced.stream, ", tag ", traced.tag,
          ", which is not in the package: the card or the driver is broken"));
    }
    ProfiledCommand profiled;
    profiled.traced = traced;
    profiled.engine = static_cast<int>(command->engine) - 1;
    profiled.mnemonic = command->mnemonic;
    profiled.layer = LayerOf(package, traced);
    profile.commands.push_back(std::move(profiled));
  }
  const CommandTimes* times = recorded;
  if (recorded != nullptr) {
    profile.source = TimeSource::kRecorded;
  } else if (trace.estimated) {
    profile.source = TimeSource::kEstimated;
    if (!trace.has_times()) times = estimated;
  }
  if (times != nullptr) {
    if (absl::Status s = UseTimes(*times, &profile); !s.ok()) return s;
  } else if (trace.estimated && !trace.has_times() && !trace.commands.empty()) {
    return absl::FailedPreconditionError(
        "the card reports which commands ran but not when, because its core "
        "has no timing and no estimate is available; use --core rtl, or record "
        "exact times once (heddle-timing MODEL.hpk, then heddle-run --cycles "
        "exact MODEL.hpk)");
  }
  if (!profile.commands.empty()) profile.begin = UINT64_MAX;
  for (const ProfiledCommand& c : profile.commands) {
    profile.begin = std::min(profile.begin, c.traced.begin);
    profile.end = std::max(profile.end, c.traced.end);
  }
  SumEngines(&profile);
  SumLayers(package, &profile);
  return profile;
}

std::string ProfileText(const Profile& profile, const std::string& file,
                        uint64_t retired) {
  const char* note =
      profile.source == TimeSource::kCounted ? "counted by the card"
      : profile.source == TimeSource::kRecorded
          ? "exact, recorded on RTL; a record has no stalls"
          : "ESTIMATED: the card's core has no timing; --core rtl counts, "
            "--cycles exact replays what the RTL counted";
  std::string text = absl::StrFormat(
      "trace         %s: %d commands in %d cycles (%s)\n", cli::Printable(file),
      profile.commands.size(), profile.cycles(), note);
  const uint64_t of_engines =
      profile.commands.size() + profile.lost_for_room + profile.lost_by_card;
  if (retired > of_engines) {
    absl::StrAppendFormat(
        &text,
        "              of %d that the card counts: the other "
        "%d only %s, such as end\n",
        retired, retired - of_engines,
        retired - of_engines == 1 ? "controls a stream" : "control streams");
  }
  if (profile.lost_for_room > 0) {
    absl::StrAppendFormat(&text,
                          "  LOST        the last %d commands: a trace has "
                          "room for %d\n",
                          profile.lost_for_room,
                          profile.commands.size() + profile.lost_by_card);
  }
  if (profile.lost_by_card > 0) {
    absl::StrAppendFormat(&text,
                          "  LOST        %d commands, which the card could not "
                          "write in time\n",
                          profile.lost_by_card);
  }
  absl::StrAppendFormat(&text, "  %-12s%10s %12s %9s  %s\n", "engine",
                        "commands", "cycles", "of all", "waited for");
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    const EngineProfile& engine = profile.engines[e];
    std::string stalls;
    for (const session::Stall& stall : engine.stalls) {
      if (stall.cycles == 0) continue;
      absl::StrAppend(&stalls, stalls.empty() ? "" : ", ", stall.reason, " ",
                      stall.cycles);
    }
    absl::StrAppendFormat(&text, "  %-12s%10d %12d %7.1f %%  %s\n",
                          timing::EngineName(e), engine.commands, engine.cycles,
                          Percent(engine.cycles, profile.cycles()), stalls);
  }
  absl::StrAppendFormat(&text, "  %-46s %12s %9s\n",
                        "layer, the most cycles first", "cycles", "of all");
  for (size_t i = 0; i < std::min(kTopLayers, profile.layers.size()); ++i) {
    const LayerProfile& layer = profile.layers[i];
    if (layer.cycles == 0) break;
    absl::StrAppendFormat(&text, "  %-46s %12d %7.1f %%\n",
                          cli::Printable(layer.name), layer.cycles,
                          Percent(layer.cycles, profile.cycles()));
  }
  return text;
}

}  // namespace heddle::run
