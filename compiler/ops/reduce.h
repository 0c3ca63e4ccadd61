// SPDX-License-Identifier: Apache-2.0
// Reductions in the fixed shape of ISA.md: element i goes to lane i mod 16 in
// increasing i; the 16 partial results are combined by lane xor 8, 4, 2, 1.
#ifndef HEDDLE_COMPILER_OPS_REDUCE_H_
#define HEDDLE_COMPILER_OPS_REDUCE_H_

#include <cstdint>

namespace heddle::compiler {

// Sum of x[0], x[step], ... (count elements) with f32 additions from +0.
float SumLanes(const float* x, int64_t step, int64_t count);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_REDUCE_H_
