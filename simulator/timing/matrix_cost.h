// SPDX-License-Identifier: Apache-2.0
// Cycles of a command of the matrix engine: what its array and output stage
// need for the engine's loop nest (rtl/MICROARCHITECTURE.md).
#ifndef HEDDLE_SIMULATOR_TIMING_MATRIX_COST_H_
#define HEDDLE_SIMULATOR_TIMING_MATRIX_COST_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"
#include "simulator/timing/calibration.h"

namespace heddle::timing {

struct MatrixCost {
  uint64_t start = 0;    // acceptance to the first pixel, with the engine idle
  uint64_t cycles = 0;   // first to last pixel
  uint64_t tail = 0;     // last pixel to the end
  uint64_t lead = 0;     // loading what the first pass needs; part of start
  uint64_t last = 0;     // pixels of the last pass
  uint64_t words = 0;    // of SRAM
  uint64_t weights = 0;  // of these weights and parameters
  uint64_t strided = 0;  // of these operands that do not follow each other
  // Of `cycles`: weights are not there, the output stage takes nothing.
  uint64_t weights_wait = 0, output_wait = 0;
};

MatrixCost CostOf(const isa::Conv& command, const isa::Config& config,
                  const Calibration& calibration);

// Weight vectors of mode fold: a kernel of `rows` rows of `row_bytes` bytes,
// cut into vectors of `lanes` bytes of at most fold_rows_max rows each.
uint64_t FoldVectors(uint32_t rows, uint32_t row_bytes, uint32_t lanes);

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_MATRIX_COST_H_
