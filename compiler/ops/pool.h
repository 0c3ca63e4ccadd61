// SPDX-License-Identifier: Apache-2.0
// Walks over pooling windows, shared by the float and the quantized poolings.
#ifndef HEDDLE_COMPILER_OPS_POOL_H_
#define HEDDLE_COMPILER_OPS_POOL_H_

#include <algorithm>

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

// acc[oy, ox] = step(acc[oy, ox], x[iy, ix]) for every element of every window
// inside the image, of one plane: for each result in the order of ForEachTap,
// but of a row of results one tap after the other.
template <typename X, typename Acc, typename Step>
void ForEachTapOfPlane(const Window& w, const X* x, Acc* acc, Step step) {
  const int64_t stride = w.stride[1];
  for (int64_t oy = 0; oy < w.out[0]; ++oy) {
    Acc* const row = acc + oy * w.out[1];
    for (int64_t ky = 0; ky < w.kernel[0]; ++ky) {
      Pace(w.kernel[1] * w.out[1]);
      const int64_t iy = oy * w.stride[0] - w.pad_begin[0] + ky * w.dilation[0];
      if (iy < 0 || iy >= w.in[0]) continue;
      for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
        // Where the window of column 0 has the tap.
        const int64_t ix = kx * w.dilation[1] - w.pad_begin[1];
        const int64_t begin = ix < 0 ? (-ix + stride - 1) / stride : 0;
        const int64_t end =
            ix < w.in[1] ? std::min(w.out[1], (w.in[1] - 1 - ix) / stride + 1)
                         : 0;
        const int64_t from = iy * w.in[1] + ix;
        if (stride == 1) {
          for (int64_t o = begin; o < end; ++o) {
            row[o] = step(row[o], x[from + o]);
          }
        } else {
          for (int64_t o = begin; o < end; ++o) {
            row[o] = step(row[o], x[from + o * stride]);
          }
        }
      }
    }
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_POOL_H_
