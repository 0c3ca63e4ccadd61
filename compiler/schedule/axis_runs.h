// SPDX-License-Identifier: Apache-2.0
// A list of indices as few arithmetic runs, so that a few strided boxes take
// the place of one index per element.
#ifndef HEDDLE_COMPILER_SCHEDULE_AXIS_RUNS_H_
#define HEDDLE_COMPILER_SCHEDULE_AXIS_RUNS_H_

#include <cstdint>
#include <vector>

namespace heddle::compiler {

// Positions start + i*stride + r, i < count, r < repeat, have the index
// from + i*step (the same for all r); -1 stays -1. stride >= repeat.
struct AxisRun {
  int64_t start = 0, from = 0;
  int64_t count = 1, stride = 1, step = 0;
  int64_t repeat = 1;
};

// Runs that cover all positions once.
std::vector<AxisRun> RunsOf(const std::vector<int64_t>& indices);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_AXIS_RUNS_H_
