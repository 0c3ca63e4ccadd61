// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and matrix product, in the accumulation order
// of ISA.md. Fast enough to run whole networks on the host, and exact: lanes
// are different output elements, so SIMD does not change any order.
#ifndef HEDDLE_COMPILER_OPS_ACCUMULATE_H_
#define HEDDLE_COMPILER_OPS_ACCUMULATE_H_

#include <cstdint>

#include "compiler/ops/window.h"

namespace heddle::compiler {

// acc[i] = fma(x[i*step], w, acc[i]). NaNs are not made canonical: apply
// model::Canonical to the finished sum.
void AccumulateF32(float* acc, const float* x, int64_t step, float w,
                   int64_t count);
// In binary64, with a rounding of each product and sum.
void AccumulateF64(double* acc, const double* x, int64_t step, double w,
                   int64_t count);
// acc[i] += x[i*step] * w, modulo 2^32.
void AccumulateI32(int32_t* acc, const int32_t* x, int64_t step, int32_t w,
                   int64_t count);

// One image: y[m, oy, ox] = initial[m] + sum over c, ky, kx (innermost) of
// x * w. `x` is [C,H,W], `w` is [M, C/group, KH, KW], `y` [M,OH,OW] holds the
// initial values on entry. Padding takes part as 0.
void ConvolveF32(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const float* x, const float* w, float* y);
void ConvolveF64(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const double* x, const double* w, double* y);
void ConvolveI32(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const int32_t* x, const int32_t* w, int32_t* y);

// y[m,n] += sum over k of a[m,k] * b[k,n], k increasing.
void MultiplyF32(int64_t m, int64_t k, int64_t n, const float* a,
                 const float* b, float* y);
void MultiplyF64(int64_t m, int64_t k, int64_t n, const double* a,
                 const double* b, double* y);
void MultiplyI32(int64_t m, int64_t k, int64_t n, const int32_t* a,
                 const int32_t* b, int32_t* y);
// Modulo 2^64, of 64-bit integers with or without sign.
void MultiplyI64(int64_t m, int64_t k, int64_t n, const uint64_t* a,
                 const uint64_t* b, uint64_t* y);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_ACCUMULATE_H_
