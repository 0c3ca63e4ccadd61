// SPDX-License-Identifier: Apache-2.0
// Fits loops over several operands to the vector engine's loop nest.
#ifndef HEDDLE_COMPILER_SCHEDULE_LOOPS_H_
#define HEDDLE_COMPILER_SCHEDULE_LOOPS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// An operand of an elementwise loop: address of the element with all indices 0,
// type, and the byte stride of each loop dimension.
struct LoopOperand {
  uint32_t base = 0;
  isa::ElementType type = isa::ElementType::kF32;
  std::vector<int64_t> strides;
};

// Vector element type of a tensor type that the vector engine can address.
isa::ElementType VectorType(DataType type);
// The one with which a copy keeps every bit: half-precision elements are moved
// as integers, because converting them would change the payload of a NaN.
isa::ElementType MoveType(DataType type);

// Emits `run` (program, arguments and flags set by the caller) for every point
// of the loop `counts` (innermost first). operands[0..2] become streams A, B, C
// in this order, `result` becomes D; unused operands are left out by the
// caller's enable flags. Dimensions are merged, the longest that is contiguous
// for the result becomes the lane dimension, and loops of more dimensions than
// the engine has are unrolled into several commands. The loop has no reduction:
// store mode is body.
void EmitLoop(Emitter* emitter, const isa::Vrun& run,
              const std::vector<int64_t>& counts,
              const std::vector<LoopOperand>& operands,
              const LoopOperand& result);

// Calls `emit` with the parts of `tile` that have at most 65,535 rows, columns
// and channels each, as many as a loop of a command counts.
template <typename F>
void ForCountedTiles(const Tile& tile, F emit) {
  constexpr int64_t kMost = 65535;
  constexpr int64_t kChannels = kMost / 16 * 16;  // whole words
  Tile part = tile;
  for (int64_t c = 0; c < tile.channels; c += kChannels) {
    part.channel0 = tile.channel0 + c;
    part.channels = std::min(kChannels, tile.channels - c);
    for (int64_t y = 0; y < tile.rows; y += kMost) {
      part.row0 = tile.row0 + y;
      part.rows = std::min(kMost, tile.rows - y);
      for (int64_t x = 0; x < tile.columns; x += kMost) {
        part.column0 = tile.column0 + x;
        part.columns = std::min(kMost, tile.columns - x);
        emit(part);
      }
    }
  }
}

// Copies a box of one image between two dense views of the same tensor.
void EmitCopy(Emitter* emitter, DataType type, const Slice& rows,
              const Slice& columns, const Slice& channels, const TileView& from,
              const TileView& to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_LOOPS_H_
