// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/window_need.h"

#include <algorithm>

namespace heddle::compiler {

AxisNeed WindowNeed(const Window& w, int d, int64_t align) {
  const int64_t pad = (w.pad_begin[d] + align - 1) / align * align;
  return {AxisNeed::kWindow, w.stride[d], pad,
          (w.kernel[d] - 1) * w.dilation[d] + 1 + pad - w.pad_begin[d]};
}

void SetWindow(const Window& w, const AxisNeed& need, const Tile& tile,
               const TileView& in, int64_t block, bool all_columns,
               isa::Conv* c) {
  c->kh = w.kernel[0];
  c->kw = w.kernel[1];
  c->sy = w.stride[0];
  c->sx = w.stride[1];
  c->dy = w.dilation[0];
  c->dx = w.dilation[1];
  c->pad_top = w.pad_begin[0];
  c->pad_left = w.pad_begin[1];
  c->ih = w.in[0];
  c->iw = w.in[1];
  c->ow = w.out[1];
  int64_t column = 0;
  if (!all_columns && tile.columns < w.out[1]) {
    // The columns from the first that the tile needs on, up to the last; at
    // least one, where all of the tile lies in the padding.
    column = std::clamp<int64_t>(tile.column0 * need.stride - need.pad, 0,
                                 w.in[1] - 1);
    const int64_t end =
        std::min(w.in[1], tile.column0 * need.stride - need.pad +
                              (tile.columns - 1) * need.stride + need.extent);
    c->iw = std::max<int64_t>(1, end - column);
    c->ow = tile.columns;
    c->pad_left += column - tile.column0 * w.stride[1];
  }
  c->in_addr = AddressOf(in, block, in.row0, column) / isa::kWordBytes;
  c->in_pitch = in.pitch / isa::kWordBytes;
  c->in_plane = in.plane / isa::kWordBytes;
  c->in_row0 = in.wrap ? 0 : in.row0;
  c->in_wrap = in.wrap;
}

}  // namespace heddle::compiler
