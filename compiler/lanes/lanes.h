// SPDX-License-Identifier: Apache-2.0
// The host's loops over many floats, chosen for the CPU at run time. All
// variants give equal bits: those of numerics.h, one element after another.
// Lanes are different results, so vectors change the order of no sum. They run
// in the default floating-point environment (model::ScopedFpEnvironment).
#ifndef HEDDLE_COMPILER_LANES_LANES_H_
#define HEDDLE_COMPILER_LANES_LANES_H_

#include <cstddef>
#include <cstdint>

#include "compiler/lanes/functions.h"

namespace heddle::compiler {

// Elements, or one for all.
struct LaneStream {
  const uint32_t* data = nullptr;
  bool single = false;
};
struct LaneOperands {
  LaneStream streams[3];
  uint32_t arguments[4] = {};
};

// What a row of floats becomes. An element goes to lane i mod 16 in increasing
// i; then lanes are combined by lane xor 8, 4, 2, 1.
enum class LaneFold {
  kSum,              // acc = f32(acc + x) from +0
  kSumOfMagnitudes,  // the same of |x|
  kSumOfSquares,     // acc = fma(d, d, acc) from +0, d = f32(x - center)
  kMax,              // fmax from -inf
  kMin,              // fmin from +inf
};

struct LaneKernels {
  const char* name;
  // out[i] = the function of element i; n is any number. `out` may be one of
  // the streams, which are read where the function has them.
  void (*compute)(LaneFunction function, const LaneOperands& operands, size_t n,
                  uint32_t* out);
  // out[r] of `rows` rows of `count` elements. `centers`: one for each row, for
  // kSumOfSquares; null: 0 (x itself is squared).
  void (*fold_rows)(LaneFold fold, const float* x, const float* centers,
                    size_t rows, size_t count, float* out);
  // acc[i] = the fold of acc[i] and x[i], a step of n chains. NaN of sums are
  // not canonical.
  void (*fold_step)(LaneFold fold, const float* x, size_t n, float* acc);
};

// The fastest that this CPU can run.
const LaneKernels& BestLanes();

// The variants; null where the CPU (or this build) lacks the instructions.
const LaneKernels* PortableLanes();
const LaneKernels* Avx2Lanes();
const LaneKernels* Avx512Lanes();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LANES_LANES_H_
