// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/axis_runs.h"

#include <algorithm>

namespace heddle::compiler {
namespace {

constexpr size_t kMaxPeriod = 64;

struct Level {
  int64_t start, index, length;
};

// Runs of every `period`-th level.
std::vector<AxisRun> Group(const std::vector<Level>& levels, size_t period) {
  std::vector<AxisRun> runs;
  std::vector<bool> used(levels.size(), false);
  for (size_t i = 0; i < levels.size(); ++i) {
    if (used[i]) continue;
    AxisRun run;
    run.start = levels[i].start;
    run.from = levels[i].index;
    run.repeat = levels[i].length;
    run.stride = run.repeat;
    for (size_t k = i; k < levels.size(); k += period) {
      if (used[k]) break;
      if (k > i) {
        const int64_t stride = levels[k].start - levels[k - period].start,
                      step = levels[k].index - levels[k - period].index;
        const bool constant = levels[k].index < 0 || run.from < 0;
        if (constant || levels[k].length != run.repeat) break;
        if (k > i + period && (stride != run.stride || step != run.step)) break;
        run.stride = stride;
        run.step = step;
        ++run.count;
      }
      used[k] = true;
    }
    runs.push_back(run);
  }
  return runs;
}

}  // namespace

std::vector<AxisRun> RunsOf(const std::vector<int64_t>& indices) {
  std::vector<Level> levels;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!levels.empty() && levels.back().index == indices[i]) {
      ++levels.back().length;
    } else {
      levels.push_back({static_cast<int64_t>(i), indices[i], 1});
    }
  }
  // Periodic patterns (a scale of 3/2 repeats every 2 levels) come out as one
  // run per phase.
  std::vector<AxisRun> best = Group(levels, 1);
  for (size_t period = 2; period <= kMaxPeriod && period < best.size();
       ++period) {
    std::vector<AxisRun> runs = Group(levels, period);
    if (runs.size() < best.size()) best = std::move(runs);
  }
  return best;
}

}  // namespace heddle::compiler
