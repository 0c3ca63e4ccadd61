// SPDX-License-Identifier: Apache-2.0
// Cycle counts of the machine that no document states: how long commands take
// before and after their countable work. Measured on the RTL from single
// commands by //tests/lockstep:calibrate, which writes calibration.inc;
// //tests/lockstep:calibrate_test compares.
#ifndef HEDDLE_SIMULATOR_TIMING_CALIBRATION_H_
#define HEDDLE_SIMULATOR_TIMING_CALIBRATION_H_

#include <cstddef>
#include <cstdint>

#include "rtl/spec/generated/isa.h"

namespace heddle::timing {

struct Calibration {
  // Front end: until the first beat of a stream can be taken; from a place in
  // the buffer to the beats that fill it; between two commands besides their
  // beats; decoding of conv beyond that; from the end of the last command to
  // that of the stream.
  int64_t fetch_first;
  int64_t fetch_again;
  int64_t dispatch;
  int64_t dispatch_conv;
  int64_t finish;
  // Load: acceptance to the first request; last beat asked for to the end,
  // less the latency of device memory; the same of a fill; rows of a gather.
  int64_t load_prepare;
  int64_t load_tail;
  int64_t fill_tail;
  int64_t gather_row;
  // Store: acceptance to the first read; last word to the end, less the
  // latency; rows of a scatter.
  int64_t store_prepare;
  int64_t store_tail;
  int64_t scatter_row;
  // Matrix: acceptance to the first pixel, without and with the divisions of
  // stripes; between the pixels of two commands; between
  // parameters and weights of a block of channels; last pixel to the end; more
  // of it with average and max pooling and with 32-bit results.
  int64_t conv_start;
  int64_t conv_divide;
  int64_t conv_gap;
  int64_t block_gap;
  int64_t conv_tail;
  int64_t pool_tail;
  int64_t wide_tail;
  // Words of weights per 64 cycles, by weight mode.
  int64_t packed_words;
  int64_t row_words;
  int64_t column_words;
  // Vector: acceptance to the first step, whatever the program; that of a
  // program besides its instructions; issue of an instruction to that of one
  // that needs its result; cycles in which a division holds the lanes; a line
  // asked for to its vector; the last store to the end; stores done to the next
  // section where loads must not pass them.
  int64_t vector_setup;
  int64_t vector_program;
  int64_t lane_latency;
  int64_t lane_divide;
  int64_t line_latency;
  int64_t vector_tail;
  int64_t gate;
  // Beside each other, per 64 cycles: what lines of the vector engine cost a
  // load, a store; what words of the matrix engine cost a line, by the chance
  // to meet in a bank; what the weight reader costs a load, and what each word
  // per cycle that is not beside the one before.
  int64_t vector_load;
  int64_t vector_store;
  int64_t matrix_vector;
  int64_t weights_load;
  int64_t stride_load;
};

const Calibration& CalibrationOf(const isa::Config& config);

// The latencies by name, in the order of calibration.inc.
struct CalibrationField {
  const char* name;
  int64_t Calibration::*value;
};
extern const CalibrationField kCalibrationFields[];
extern const size_t kNumCalibrationFields;

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_CALIBRATION_H_
