// SPDX-License-Identifier: Apache-2.0
// The choice of the schedule by closed-form cost: which operations run as a
// cascade, in which boxes and loop orders each is done (boxes.h), which tensors
// stay in SRAM and which are spilled.
//
// A segment is one operation in a box, or several as a cascade with a tile
// height. Its time is the greater of computing and of its traffic (with single
// buffers their sum), plus what neither can hide (the first tile's operands,
// the last tile's result), plus a start of every command; SchedulePrices add to
// that. Dynamic programming over the places where one segment ends and the
// next begins; the state is which of the tensors alive there are resident. What
// does not fit in SRAM is left out. The memory plan takes the result as its
// start, and gives way where addresses do not work out.
#ifndef HEDDLE_COMPILER_SCHEDULE_CHOOSE_H_
#define HEDDLE_COMPILER_SCHEDULE_CHOOSE_H_

#include <cstdint>
#include <vector>

#include "compiler/base/options.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

struct SchedulePrices {
  // This part of the traffic's time once more: a bus that is idle is of use to
  // others.
  double traffic = 0;
  // Cycles for every command, where it is them that must be few.
  double command_cycles = 0;
};

// Rewrites graph->ops (cascades) and sets boxes and spill. Returns the new
// index of every operation. Constants are not placed yet.
std::vector<uint32_t> ChooseSchedule(DeviceGraph* graph,
                                     const isa::Config& config,
                                     const Features& features,
                                     uint64_t program_bytes,
                                     const SchedulePrices& prices);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CHOOSE_H_
