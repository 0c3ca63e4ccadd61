// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/estimated_times.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/timing/timeline.h"

namespace heddle::run {
namespace {

// Microprograms are among the weights.
std::vector<timing::KnownBytes> Region0(const package::Package& package) {
  const auto bytes =
      absl::MakeConstSpan(package.weights.data(), package.weights.size());
  if (package.weight_plan.empty()) return {{0, bytes}};
  std::vector<timing::KnownBytes> parts;
  for (const package::WeightCopy& c : package.weight_plan.resident) {
    parts.push_back({c.to, bytes.subspan(c.from, c.size)});
  }
  return parts;
}

}  // namespace

absl::StatusOr<CommandTimes> EstimatedTimes(const package::Package& package) {
  const isa::Config* config = isa::FindConfig(package.config);
  if (config == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown configuration ", package.config));
  }
  const std::vector<timing::KnownBytes> constants = Region0(package);
  CommandTimes times;
  uint64_t start = 0;
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    const auto timeline =
        timing::SimulateTimeline(package.streams[s], *config, constants);
    if (!timeline.ok()) return timeline.status();
    for (const timing::TimedCommand& c : timeline->commands) {
      if (c.engine < 0) continue;
      times[{s, c.offset}] = {start + c.start, start + c.end};
    }
    start += timeline->cycles;
  }
  return times;
}

}  // namespace heddle::run
