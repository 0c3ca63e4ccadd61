// SPDX-License-Identifier: Apache-2.0
// The inner loops of the fast implementation, chosen for the CPU at run time.
// All variants give equal bits.
#ifndef HEDDLE_SIMULATOR_MODEL_KERNELS_H_
#define HEDDLE_SIMULATOR_MODEL_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// A piece of a reduction over 9-bit operands kept in 16 bits: `pairs` pairs of
// activations that follow each other from `a` (for pixel 0), and weights
// [pair][16 output channels][2].
struct ReduceRun {
  const int16_t* a;
  const int16_t* w;
  uint32_t pairs;
};

// Parameters of the requantisation of 16 channels.
struct RequantiseParams {
  const int32_t* bias;  // [16]
  const float* scale;   // [16]
  float low, high;      // clamp
  int32_t zero;         // offset
  int32_t qmin, qmax;   // range of the output type
};

// Parameters of the residual stage.
struct ResidualParams {
  bool multiply;
  bool residual_first;
  bool residual_signed;
  float a, b, k;
  int32_t mid_zero, res_zero;
  int32_t qmin, qmax;  // range of the output type
  int32_t low, high;   // clamp
};

// fma chains: acc[i] = fma(a[...], b[...], acc[i]) over n steps, for `pixels`
// rows of 16 * blocks lanes each. a: broadcast per row; b: vector of lanes.
struct FmaTile {
  const float* const* a;  // one pointer per row
  ptrdiff_t a_step;       // floats per step
  const float* b;
  ptrdiff_t b_step;  // floats per step
  uint32_t n;        // steps
  float* acc;        // [rows][acc_stride]
  ptrdiff_t acc_stride;
  uint32_t rows;
  uint32_t vectors;  // of 16 lanes
};

struct Kernels {
  const char* name;
  // n words of 16 codes, `from_step` bytes apart, as 16-bit values minus za,
  // `to_step` values apart.
  void (*convert)(const uint8_t* from, ptrdiff_t from_step, bool is_signed,
                  int16_t za, int16_t* to, ptrdiff_t to_step, size_t n);
  // 16 weights of each of 16 output channels (rows `row_step` bytes apart), as
  // 16-bit values minus zeros[channel], to [pair][16 channels][2].
  void (*pack)(const uint8_t* from, ptrdiff_t row_step, bool is_signed,
               const int16_t* zeros, int16_t* to);
  // acc[pixel][16] += all runs; activations of consecutive pixels are
  // `pixel_stride` elements apart.
  void (*reduce)(const ReduceRun* runs, size_t num_runs, ptrdiff_t pixel_stride,
                 int32_t* acc, size_t pixels);
  // acc[pixel][l] += sum over taps t of taps[t][pixel*stride + l] * weight, two
  // taps at a time: w is [pair of taps][16 channels][2].
  void (*depthwise)(const int16_t* const* taps, const int16_t* w,
                    size_t num_pairs, ptrdiff_t pixel_stride, int32_t* acc,
                    size_t pixels);
  // codes[pixel][16] from acc[pixel][16].
  void (*requantise)(const RequantiseParams& p, const int32_t* acc,
                     int32_t* codes, size_t pixels);
  // codes = residual stage of codes and residual bytes, n a multiple of 16.
  void (*residual)(const ResidualParams& p, const uint8_t* bytes,
                   int32_t* codes, size_t n);
  void (*fma_tile)(const FmaTile& t);
  // acc[16] = fma(a[step][16], b[step][16], acc) over n steps.
  void (*fma_lanes)(const float* a, const float* b, uint32_t n, float* acc);
  // d[i] = op(a[i], b[i], c[i]) for n lanes, a multiple of 16; false if this
  // variant leaves the operation to LaneOp (micro.h). Operands that the
  // operation lacks may be any readable lanes.
  bool (*lane_op)(isa::MicroOp op, const uint32_t* a, const uint32_t* b,
                  const uint32_t* c, uint32_t* d, size_t n);
};

// The fastest this CPU can run.
const Kernels& BestKernels();

// The variants; nullptr when the CPU (or this build) lacks the instructions.
const Kernels* PortableKernels();
const Kernels* Avx2Kernels();
const Kernels* VnniKernels();

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_KERNELS_H_
