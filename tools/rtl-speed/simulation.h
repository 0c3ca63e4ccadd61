// SPDX-License-Identifier: Apache-2.0
// What runs a program; each of core_simulation.cc and card_simulation.cc is
// one.
#ifndef HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_
#define HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tools/rtl-speed/program.h"

namespace heddle::rtl {

// Runs a program once on h256, from power-up; returns the cycles that were
// simulated.
absl::StatusOr<uint64_t> Simulate(Program* program);

}  // namespace heddle::rtl

#endif  // HEDDLE_TOOLS_RTL_SPEED_SIMULATION_H_
