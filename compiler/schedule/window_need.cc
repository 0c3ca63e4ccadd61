// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/window_need.h"

#include <algorithm>

namespace heddle::compiler {

AxisNeed WindowNeed(const Window& w, int d, int64_t align) {
  const int64_t pad = (w.pad_begin[d] + align - 1) / align * align;
  return {AxisNeed::kWindow, w.stride[d], pad,
          (w.kernel[d] - 1) * w.dilation[d] + 1 + pad - w.pad_begin[d]};
}

namespace {

// Rows, or columns, of one window.
int64_t Reach(const Window& w, int d) {
  return (w.kernel[d] - 1) * w.dilation[d] + 1;
}

}  // namespace

bool FitsCommands(const Window& w, bool rows_cut, uint64_t sram_bytes) {
  const auto field = [](int64_t v) {
    return static_cast<uint32_t>(std::min<int64_t>(v, UINT32_MAX));
  };
  isa::Conv c;
  c.kh = rows_cut ? 1 : field(w.kernel[0]);
  c.kw = field(w.kernel[1]);
  c.sy = field(w.stride[0]);
  c.sx = field(w.stride[1]);
  c.dy = field(w.dilation[0]);
  c.dx = field(w.dilation[1]);
  // Padding in front of a tile and of a part of the kernel, either way.
  const auto padding = [&](int d) {
    return static_cast<int32_t>(std::min<int64_t>(
        std::max(w.pad_begin[d], w.pad_end[d]) + Reach(w, d), INT32_MAX));
  };
  c.pad_top = padding(0);
  c.pad_left = padding(1);
  const auto row = static_cast<uint64_t>(Reach(w, 1)) * isa::kWordBytes;
  return c.Check().ok() && (rows_cut ? row <= sram_bytes / 8
                                     : Reach(w, 0) * row <= sram_bytes / 3);
}

int64_t KernelRowsAtOnce(const Window& w, uint64_t sram_bytes) {
  const auto sram = static_cast<int64_t>(sram_bytes);
  const int64_t row = Reach(w, 1) * isa::kWordBytes;
  if (Reach(w, 0) * row <= sram / 4) return w.kernel[0];
  return std::clamp<int64_t>(sram / 8 / (row * w.dilation[0]), 1, w.kernel[0]);
}

Slice RowsUnder(const Window& w, int64_t first, int64_t count) {
  return {first * w.dilation[0], (count - 1) * w.dilation[0] + 1};
}

bool CountsRows(const Window& w) {
  constexpr int64_t kMost = UINT16_MAX;
  return w.in[0] <= kMost && w.out[0] <= kMost;
}

void SetWindow(const Window& w, const AxisNeed& need, const Tile& tile,
               const TileView& in, int64_t block, bool all_columns,
               int64_t row0, isa::Conv* c) {
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
  c->out_row0 = row0;
  if (CountsRows(w)) return;
  // Both from the tile's first; beyond what it reads, the image may end.
  const int64_t first =
      std::clamp<int64_t>(row0 * w.stride[0] - w.pad_begin[0], 0, w.in[0] - 1);
  c->in_row0 = std::max<int64_t>(0, in.row0 - first);
  c->in_addr =
      AddressOf(in, block, first + c->in_row0, column) / isa::kWordBytes;
  c->ih = std::min<int64_t>(w.in[0] - first, UINT16_MAX);
  c->out_row0 = 0;
  c->pad_top =
      static_cast<int32_t>(w.pad_begin[0] + first - row0 * w.stride[0]);
}

}  // namespace heddle::compiler
