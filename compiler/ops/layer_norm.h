// SPDX-License-Identifier: Apache-2.0
// heddle.LayerNorm, what a pass makes of a layer normalisation in primitive
// operators between codes (passes/fuse_layer_norm.h). Inputs: x of any shape
// [..., D], x_scale, x_zero, gamma and beta (D floats or one), y_scale, y_zero,
// all but x constant; attribute epsilon.
//
// Of the codes q of a row, with sums in integers:
//   s1 = sum of (q - xz), s2 = sum of (q - xz)^2
//   c = rne(f32(f32(s1) / D)), and both sums around c instead of 0:
//   t1 = s1 - D c, t2 = s2 - c (s1 + t1)
//   v = f32(fma(f32(t1) / D, -f32(t1), f32(t2)) / D) + f32(eps / xs^2)
//   r = f32(1 / f32(sqrt(v))), 0 in a row of equal codes (t2 = 0), m =
//   f32(f32(f32(sum of q) / D) * r)
// and of its elements, with g = f32(gamma / ys), h = f32(beta / ys):
//   y = saturated(rne(fma(fma(f32(q), r, -m), g, h)) + yz)
#ifndef HEDDLE_COMPILER_OPS_LAYER_NORM_H_
#define HEDDLE_COMPILER_OPS_LAYER_NORM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

namespace layer_norm {
enum Input { kX, kXScale, kXZero, kGamma, kBeta, kYScale, kYZero };
}  // namespace layer_norm

// Longest row: its sum of squares fits 31 bits.
constexpr int64_t kMaxNormalized = 32768;

// The definition's steps as programs, used on both sides. Of a row:
// a = sum of q, b = sum of q^2, arg0 = xz, arg1 = f32(eps / xs^2); out = r.
absl::StatusOr<Microprogram> ReciprocalDeviationProgram(int64_t d);
// a = sum of q, b = r; out = -m.
absl::StatusOr<Microprogram> ShiftProgram(int64_t d);
// Of an element: a = q, b = r, c = -m; out = fma(f32(a), b, c).
absl::StatusOr<Microprogram> NormalizeProgram();
// a = that, b = g, c = h, arg0 = yz; out = rne(fma(a, b, c)) + arg0.
absl::StatusOr<Microprogram> ScaleCodesProgram();

// f32(eps / xs^2)
float EpsilonOfCodes(float epsilon, float x_scale);
// f32(data / y_scale), D of them.
std::vector<float> NormFactors(const TensorData& data, float y_scale,
                               int64_t d);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_LAYER_NORM_H_
