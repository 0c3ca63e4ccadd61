// SPDX-License-Identifier: Apache-2.0
// Runs a program once on the RTL, from power-up.
#ifndef HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_
#define HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/device_memory.h"
#include "tools/rtl-speed/program.h"

namespace heddle::rtl {

struct Simulated {
  uint64_t cycles = 0;  // all that were simulated
  // The core: of the streams, from start to end. The card: of the job, from
  // the fetch of its descriptor to its completion record.
  uint64_t measured = 0;
};

// The core by itself: the streams, with nothing before and after them.
absl::StatusOr<Simulated> SimulateCore(Program* program,
                                       const isa::Config& config = isa::kH256,
                                       const MemoryOptions& memory = {});

// The whole card: a job that copies the inputs in, runs the streams and copies
// the outputs out. Tensors that are larger than what the host has for them are
// copied as far as that goes; device memory holds the inputs already.
absl::StatusOr<Simulated> SimulateCard(Program* program,
                                       const isa::Config& config = isa::kH256,
                                       const MemoryOptions& memory = {});

// One of the two, on h256: speed_of_card.cc or speed_of_core.cc is linked.
// Returns the cycles that were simulated.
absl::StatusOr<uint64_t> Simulate(Program* program);

}  // namespace heddle::rtl

#endif  // HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_
