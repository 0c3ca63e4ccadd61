// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/replay.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/timing/timeline.h"
#include "tools/cli/printable.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::timing {

absl::StatusOr<std::string> WhatIsInexact(const package::Package& package) {
  if (!package.segments.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a part of model '", cli::Printable(package.model_name),
        "' runs on the host, whose time is not recorded; compile with "
        "--no-host to see which"));
  }
  uint64_t count = 0;
  std::string first;
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    ASSIGN_OR_RETURN(const std::vector<StreamCommand> commands,
                     EngineCommands(package.streams[s]));
    for (const StreamCommand& c : commands) {
      if (!c.by_index || count++ > 0) continue;
      first = absl::StrCat(c.mnemonic, " of node '",
                           cli::Printable(package.NodeAt(s, c.offset)), "'");
    }
  }
  if (count == 0) return "";
  return absl::StrCat(count, count == 1 ? " command takes" : " commands take",
                      " a time that depends on indices, the first is ", first);
}

absl::Status CheckExact(const package::Package& package,
                        const std::string& package_path) {
  ASSIGN_OR_RETURN(const std::string inexact, WhatIsInexact(package));
  if (inexact.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "'", package_path, "' has no exact cycles to replay, because ", inexact,
      "; those of given inputs are counted by: heddle-run --core rtl ",
      package_path));
}

absl::StatusOr<Replay> ReplayOf(const Record& record,
                                const package::Package& package,
                                const std::string& package_path) {
  RETURN_IF_ERROR(CheckExact(package, package_path));
  const auto other = [&package_path](uint32_t stream) {
    return absl::FailedPreconditionError(absl::StrCat(
        "stream ", stream, " of the timing record '", RecordPath(package_path),
        "' has other commands than that of the package; make it with: "
        "heddle-timing ",
        package_path));
  };
  Replay replay;
  replay.job_cycles = record.job_cycles;
  timing::Timeline whole;
  if (record.streams.size() != package.streams.size()) {
    return other(static_cast<uint32_t>(record.streams.size()));
  }
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    const RecordedStream& stream = record.streams[s];
    ASSIGN_OR_RETURN(const std::vector<StreamCommand> commands,
                     EngineCommands(package.streams[s]));
    if (stream.commands.size() != commands.size()) return other(s);
    replay.stream_starts.push_back(whole.cycles);
    for (size_t i = 0; i < commands.size(); ++i) {
      const StreamCommand& c = commands[i];
      const RecordedCommand& times = stream.commands[i];
      if (times.offset != c.offset || times.inexact) return other(s);
      timing::TimedCommand timed;
      timed.offset = c.offset;
      timed.tag = c.tag;
      timed.engine = static_cast<int>(c.engine) - 1;
      timed.start = whole.cycles + times.begin;
      // The cycle in which it ends is its own.
      timed.end = whole.cycles + std::min(times.end + 1, stream.cycles);
      whole.commands.push_back(timed);
      replay.commands.push_back({s, c.offset, timing::EngineName(timed.engine),
                                 c.mnemonic, package.NodeAt(s, c.offset),
                                 times.begin, times.end});
    }
    whole.cycles += stream.cycles;
  }
  replay.cycles = whole.cycles;
  for (const timing::LayerTime& layer :
       timing::AttributeToLayers(whole, package.layers.size())) {
    replay.layer_cycles.push_back(layer.cycles);
  }
  return replay;
}

}  // namespace heddle::timing
