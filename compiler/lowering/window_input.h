// SPDX-License-Identifier: Apache-2.0
// What an operation with a window (convolution, pooling) in fp32 or float16
// reads: rows of a dense operand with padding around every plane.
#ifndef HEDDLE_COMPILER_LOWERING_WINDOW_INPUT_H_
#define HEDDLE_COMPILER_LOWERING_WINDOW_INPUT_H_

#include <algorithm>
#include <cstdint>

#include "compiler/lowering/lower_codes.h"
#include "compiler/ops/window.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Rows and columns beyond the image that windows reach.
inline Halo HaloOf(const Window& w) {
  auto beyond = [&](int d) {
    const int64_t reach = (w.out[d] - 1) * w.stride[d] - w.pad_begin[d] +
                          (w.kernel[d] - 1) * w.dilation[d] + 1;
    return static_cast<int>(std::max<int64_t>(0, reach - w.in[d]));
  };
  Halo halo;
  halo.top = w.pad_begin[0];
  halo.left = w.pad_begin[1];
  halo.bottom = beyond(0);
  halo.right = beyond(1);
  return halo;
}

inline OpInput WindowInput(int value, const Window& w, uint32_t halo_value) {
  OpInput in;
  in.value = value;
  in.rows = {AxisNeed::kWindow, w.stride[0], w.pad_begin[0],
             (w.kernel[0] - 1) * w.dilation[0] + 1};
  in.halo = HaloOf(w);
  in.halo_value = halo_value;
  return in;
}

// Address of the window's first element for row `row` of the result, column 0.
inline uint32_t WindowBase(const TileView& v, const Window& w, int64_t row) {
  return RowBase(v, row * w.stride[0] - w.pad_begin[0]) -
         w.pad_begin[1] * v.xstep;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_WINDOW_INPUT_H_
