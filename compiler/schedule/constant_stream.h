// SPDX-License-Identifier: Apache-2.0
// When constants are loaded, and where in SRAM they are.
//
// Time is counted in steps: a step is what one operation does with one group of
// constants on one tile (schedule.cc). A use is one load of a group and the
// steps that read it. The memory plan reserves a place for constants as long as
// their operation runs, two sides or room for all groups; this pass gives every
// use the place where it can be loaded earliest, in what tensors, tiles and
// other constants leave free from step to step, so that a group is loaded as
// soon as one before it is done with, across operations. An operation whose
// uses then find no place keeps the places of the plan. What an operation
// shortly before has used and nobody has needed the place of since is not
// loaded again.
#ifndef HEDDLE_COMPILER_SCHEDULE_CONSTANT_STREAM_H_
#define HEDDLE_COMPILER_SCHEDULE_CONSTANT_STREAM_H_

#include <cstdint>
#include <vector>

#include "compiler/schedule/device_graph.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {

// The groups of operation `op` in the order of its steps; `tiles` is the number
// of its tiles.
std::vector<int> GroupSequence(const DeviceOp& op, const OpPlan& plan,
                               uint64_t tiles);

// What else is in SRAM, from the first to the last operation.
struct PlacedBuffer {
  uint64_t begin = 0, end = 0;
  size_t first = 0, last = 0;
};

// Fills plan->first_step and plan->constants from what plan->ops say. `tiles`:
// of each operation; `window`: operations that constants may be loaded ahead,
// 0: the places and times of plan->ops as they are. SRAM may be used from
// `begin` to `end`.
void PlanConstants(const DeviceGraph& graph, const std::vector<uint64_t>& tiles,
                   const std::vector<PlacedBuffer>& others, int window,
                   uint64_t begin, uint64_t end, MemoryPlan* plan);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CONSTANT_STREAM_H_
