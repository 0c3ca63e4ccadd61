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

// Sets the kernel, strides, dilations, padding, size and place of the input,
// and the output's columns, for a tile with the operand in `in`, of which the
// command reads channels from block `block` on. `need` is that of the
// columns; rows are counted from the image's. With `all_columns` the tile's are
// not the convolution's (a pooling follows), and all are computed.
void SetWindow(const Window& window, const AxisNeed& need, const Tile& tile,
               const TileView& in, int64_t block, bool all_columns,
               isa::Conv* command);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_WINDOW_NEED_H_
