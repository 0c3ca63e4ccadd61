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

// What windows need along dimension `d`: 0 rows, 1 columns.
inline AxisNeed WindowNeed(const Window& w, int d) {
  return {AxisNeed::kWindow, w.stride[d], w.pad_begin[d],
          (w.kernel[d] - 1) * w.dilation[d] + 1};
}

inline OpInput WindowInput(int value, const Window& w, uint32_t halo_value) {
  OpInput in;
  in.value = value;
  in.rows = WindowNeed(w, 0);
  in.columns = WindowNeed(w, 1);
  in.channels.kind = AxisNeed::kSame;
  in.halo = HaloOf(w);
  in.halo_value = halo_value;
  return in;
}

// Address of the window's first element for the first element of a tile.
inline uint32_t WindowBase(const TileView& v, const Window& w,
                           const Tile& tile) {
  return AddressOf(v, tile.channel0, tile.row0 * w.stride[0] - w.pad_begin[0],
                   tile.column0 * w.stride[1] - w.pad_begin[1]);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_WINDOW_INPUT_H_
