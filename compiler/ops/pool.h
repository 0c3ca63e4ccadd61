// SPDX-License-Identifier: Apache-2.0
// Walks over pooling windows, shared by the float and the quantized poolings.
#ifndef HEDDLE_COMPILER_OPS_POOL_H_
#define HEDDLE_COMPILER_OPS_POOL_H_

#include "absl/status/statusor.h"
#include "compiler/base/pace.h"
#include "compiler/ops/window.h"

namespace heddle::compiler {

// The window of a pooling node, from its kernel_shape.
absl::StatusOr<Window> ResolvePool(const Node& node, const Shape& x);

// Elements that an average divides by.
int64_t AverageCount(const Window& window, int64_t oy, int64_t ox,
                     bool count_include_pad);

// body(oy, ox) for every output element of one plane.
template <typename Body>
void ForEachWindow(const Window& w, Body body) {
  for (int64_t oy = 0; oy < w.out[0]; ++oy) {
    for (int64_t ox = 0; ox < w.out[1]; ++ox) body(oy, ox);
  }
}

// body(iy, ix) for every element of the window inside the image, row by row.
template <typename Body>
void ForEachTap(const Window& w, int64_t oy, int64_t ox, Body body) {
  for (int64_t ky = 0; ky < w.kernel[0]; ++ky) {
    Pace(w.kernel[1]);
    const int64_t iy = oy * w.stride[0] - w.pad_begin[0] + ky * w.dilation[0];
    if (iy < 0 || iy >= w.in[0]) continue;
    for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
      const int64_t ix = ox * w.stride[1] - w.pad_begin[1] + kx * w.dilation[1];
      if (ix >= 0 && ix < w.in[1]) body(iy, ix);
    }
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_POOL_H_
