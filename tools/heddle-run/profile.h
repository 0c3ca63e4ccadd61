// SPDX-License-Identifier: Apache-2.0
// The trace of an inference as a profile: what each engine did when, for which
// layer, and what it waited for.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_PROFILE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_PROFILE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"
#include "simulator/timing/timeline.h"
#include "tools/heddle-timing/replay.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::run {

// Whose times they are.
enum class TimeSource {
  kCounted,    // by the card
  kEstimated,  // by the compiler or the card, whose core has no timing
  kRecorded,   // on RTL, for a card that has none (heddle-timing)
};
// "counted", "estimated", "recorded".
const char* TimeSourceName(TimeSource source);

struct ProfiledCommand {
  session::TracedCommand traced;  // begin and end from the source
  int engine = 0;                 // as of the timeline: 0 .. 3
  const char* mnemonic = "";
  std::string layer;
  // begin, or the end of its engine's command before if that is later: an
  // engine shows one command at a time.
  uint64_t start = 0;
};

struct EngineProfile {
  uint64_t commands = 0;
  uint64_t cycles = 0;  // with a command
  std::vector<session::Stall> stalls;
};

struct LayerProfile {
  std::string name;
  // What the whole is longer for it (AttributeToLayers); they add up to the
  // cycles of the whole.
  uint64_t cycles = 0;
};

struct Profile {
  TimeSource source = TimeSource::kCounted;
  std::vector<ProfiledCommand> commands;  // in the order of the trace
  uint64_t begin = 0, end = 0;  // of the first command, of the last one
  std::array<EngineProfile, timing::kTimedEngines> engines;
  std::vector<LayerProfile> layers;  // by cycles, the most first
  uint64_t lost_for_room = 0, lost_by_card = 0;

  uint64_t cycles() const { return end - begin; }
};

using StreamCommands = std::vector<std::vector<timing::StreamCommand>>;
// Begin and end of a command, by stream and offset.
using CommandTimes =
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, uint64_t>>;

// Those of a record, stream behind stream.
CommandTimes RecordedTimes(const timing::Replay& replay);

// `streams`: the commands of the package. `recorded` takes the place of the
// card's times, `estimated` that of zeros; both may be null.
// FailedPrecondition: nobody has times; the sentence says what helps. DataLoss:
// a command is none of the package, or has no time among those.
absl::StatusOr<Profile> MakeProfile(const package::Package& package,
                                    const StreamCommands& streams,
                                    const session::RunTrace& trace,
                                    const CommandTimes* recorded,
                                    const CommandTimes* estimated);

// Chrome's trace-event format: one row per engine, microseconds at the clock of
// the configuration. Cycles, command, layer and stalls are arguments.
std::string ChromeTrace(const package::Package& package,
                        const session::DeviceDescription& device,
                        const Profile& profile);

// A short table: time of each engine and what it waited for, top layers, what
// is missing. `retired`: commands that the card counts for the inference,
// those that control a stream included, which run on no engine; 0: not known.
std::string ProfileText(const Profile& profile, const std::string& file,
                        uint64_t retired);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_PROFILE_H_
