// SPDX-License-Identifier: Apache-2.0
// Windows of convolutions and poolings: what a box of the result needs of the
// operand, and how a command of the matrix engine sees that.
#ifndef HEDDLE_COMPILER_SCHEDULE_WINDOW_NEED_H_
#define HEDDLE_COMPILER_SCHEDULE_WINDOW_NEED_H_

#include <cstdint>

#include "compiler/ops/window.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// What windows need along dimension `d`: 0 rows, 1 columns. Columns of packed
// rows begin at whole words: `align` columns.
AxisNeed WindowNeed(const Window& window, int d, int64_t align = 1);

// Whether commands can describe the window of a tile (its kernel, strides,
// dilations and padding), and a small share of SRAM holds what 16 channels of
// one result need. With `rows_cut` that is said of a row of the kernel.
bool FitsCommands(const Window& window, bool rows_cut, uint64_t sram_bytes);

// Rows of the kernel of which a small share of SRAM holds what 16 channels of
// one result need, if all are too many; at least one.
int64_t KernelRowsAtOnce(const Window& window, uint64_t sram_bytes);
// Of the rows of a window, those under `count` rows of the kernel from `first`.
Slice RowsUnder(const Window& window, int64_t first, int64_t count);

// Whether rows of images of this window can be counted from the image's first.
// Else a command counts them from the tile's first, and there are no rolling
// buffers and no pooling behind it.
bool CountsRows(const Window& window);

// Sets the kernel, strides, dilations, padding, size and place of the input,
// the output's columns and its first row `row0`, for a tile with the operand in
// `in`, of which the command reads channels from block `block` on. `need` is
// that of the columns. With `all_columns` the tile's are not the convolution's
// (a pooling follows), and all are computed.
void SetWindow(const Window& window, const AxisNeed& need, const Tile& tile,
               const TileView& in, int64_t block, bool all_columns,
               int64_t row0, isa::Conv* command);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_WINDOW_NEED_H_
