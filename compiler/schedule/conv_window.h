// SPDX-License-Identifier: Apache-2.0
// A window of the matrix engine over a tile: which columns of the operand the
// command sees, and how it pads them.
#ifndef HEDDLE_COMPILER_SCHEDULE_CONV_WINDOW_H_
#define HEDDLE_COMPILER_SCHEDULE_CONV_WINDOW_H_

#include <cstdint>

#include "compiler/ops/window.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// What tiles of columns need of the operand. Columns of packed rows begin at
// whole words: `align` columns.
AxisNeed ColumnNeed(const Window& window, int64_t align = 1);

// Sets the kernel, strides, dilations, padding, size and place of the input,
// and the output's columns, for a tile with the operand in `in`, of which the
// command reads channels from block `block` on. `need` is ColumnNeed's; rows
// are counted from the image's. With `all_columns` the tile's are not the
// convolution's (a pooling follows), and all are computed.
void SetWindow(const Window& window, const AxisNeed& need, const Tile& tile,
               const TileView& in, int64_t block, bool all_columns,
               isa::Conv* command);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CONV_WINDOW_H_
