// SPDX-License-Identifier: Apache-2.0
// Cycles of a vector command. Follows the engine's work micro-instruction by
// micro-instruction (ISA.md, rtl/MICROARCHITECTURE.md): strips of up to eight
// groups, pending results, vectors whose SRAM lines have not arrived, a full
// store queue, divisions. Of long commands it simulates the first few thousand
// instructions and extrapolates the rest.
#ifndef HEDDLE_SIMULATOR_TIMING_VECTOR_COST_H_
#define HEDDLE_SIMULATOR_TIMING_VECTOR_COST_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"
#include "simulator/timing/calibration.h"

namespace heddle::timing {

// From the acceptance on.
struct VectorTimes {
  uint64_t read = 0;   // input_read
  uint64_t done = 0;   // output_visible, and the engine is free
  uint64_t lines = 0;  // of SRAM, 64 bytes each
};

class VectorCosts {
 public:
  explicit VectorCosts(const Calibration& calibration)
      : calibration_(calibration) {}

  // `program`: the micro-instructions of prologue, body and epilogue; nullptr
  // if they are not known (each then counts as one that waits for nothing).
  VectorTimes Of(const isa::Vrun& command, const uint64_t* program);
  VectorTimes Of(const isa::Vmac& command);

 private:
  const Calibration& calibration_;
};

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_VECTOR_COST_H_
