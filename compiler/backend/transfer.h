// SPDX-License-Identifier: Apache-2.0
// Moves rows of a tensor between device memory and SRAM, changing the layout on
// the way where the two sides differ.
#ifndef HEDDLE_COMPILER_BACKEND_TRANSFER_H_
#define HEDDLE_COMPILER_BACKEND_TRANSFER_H_

#include "compiler/backend/device_graph.h"

namespace heddle::compiler {

enum class Direction { kLoad, kStore };

// One side of a transfer in device memory.
struct DramTensor {
  int region = 0;
  uint64_t offset = 0;  // of the tensor's first byte
  bool dense = false;   // ONNX's order (otherwise the storage's own layout)
};

// Rows [row, row + rows) of image `image` of a tensor of `extent`, which lies
// in SRAM in `layout` as `view` says.
void EmitTransfer(Emitter* emitter, Direction direction, const Extent& extent,
                  Layout layout, size_t element_bytes, const DramTensor& dram,
                  int64_t image, int64_t row, int64_t rows,
                  const TileView& view);

// `bytes` bytes of region `region` to SRAM, both multiples of 16.
void EmitLoadBytes(Emitter* emitter, int region, uint64_t offset, uint32_t sram,
                   uint64_t bytes);

// Fills `bytes` bytes of SRAM (multiple of 4) with a 32-bit pattern.
void EmitFill(Emitter* emitter, uint32_t sram, uint64_t bytes, uint32_t value);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_TRANSFER_H_
