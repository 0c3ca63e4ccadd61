// SPDX-License-Identifier: Apache-2.0
// Costs of single commands, derived from how the engines work, with the
// latencies of calibration.h, measured on the RTL.
#ifndef HEDDLE_SIMULATOR_TIMING_COMMAND_COST_H_
#define HEDDLE_SIMULATOR_TIMING_COMMAND_COST_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"
#include "simulator/timing/vector_cost.h"

namespace heddle::timing {

// A command by itself takes start + cycles + tail from its acceptance on.
struct CommandCost {
  uint64_t start = 0;   // before its work; overlaps the command before it
  uint64_t cycles = 0;  // of work, one command after another
  uint64_t tail = 0;    // behind it; overlaps the next command
  uint64_t read = 0;    // vector: from the acceptance to input_read
  uint64_t beats = 0;   // of device memory
  // Matrix: loading the first weights, which can begin when those of the last
  // pass of the command before are in use; pixels of the last pass.
  uint64_t lead = 0, last = 0;
  // Of its cycles: weights are not there, the output stage takes nothing.
  uint64_t weights_wait = 0, output_wait = 0;
  // Traffic with SRAM: words of the matrix engine, of these the weights, and
  // those that do not follow each other; lines of the vector engine; cycles in
  // which a transfer moves a word.
  uint64_t words = 0, weights = 0, strided = 0, lines = 0, moves = 0;
};

// `program`: as for VectorCosts::Of.
CommandCost CostOfCommand(const isa::Command& command,
                          const isa::Config& config,
                          const Calibration& calibration,
                          const uint64_t* program, VectorCosts* vector);

// Cycles that the command occupies its engine when nothing else runs.
uint64_t EstimateCycles(const isa::Command& command, const isa::Config& config);

// Bytes of device memory that the command reads or writes.
uint64_t DramBytesOf(const isa::Command& command);

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_COMMAND_COST_H_
