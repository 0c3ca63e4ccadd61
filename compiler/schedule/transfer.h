// SPDX-License-Identifier: Apache-2.0
// Moves boxes of a tensor between device memory and SRAM, changing the layout
// on the way where the two sides differ.
#ifndef HEDDLE_COMPILER_SCHEDULE_TRANSFER_H_
#define HEDDLE_COMPILER_SCHEDULE_TRANSFER_H_

#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

enum class Direction { kLoad, kStore };

// One side of a transfer in device memory.
struct DramTensor {
  int region = 0;
  uint64_t offset = 0;  // of the tensor's first byte
  bool dense = false;   // ONNX's order (otherwise the storage's own layout)
};

// A box of one image of a tensor. Channels of blocked tensors begin at a
// multiple of 16.
struct TensorBox {
  int64_t image = 0;
  Slice rows, columns, channels;
};
// Moves a box of a tensor of `extent`, which lies in SRAM in `layout` where
// `view` says (with the coordinates of the whole tensor).
void EmitTransfer(Emitter* emitter, Direction direction, const Extent& extent,
                  Layout layout, size_t element_bytes, const DramTensor& dram,
                  const TensorBox& box, const TileView& view);

// One dimension of a box: count, and byte strides in device memory and SRAM.
struct BoxDim {
  uint64_t n, s, t;
};
// Loads a box of any number of dimensions (innermost first) and any counts.
// Addresses and strides are multiples of `element` (1 to 16 bytes).
void EmitLoadBox(Emitter* emitter, int region, uint64_t element, uint64_t dram,
                 uint32_t sram, const std::vector<BoxDim>& dims);

// Fills such a box of SRAM (`s` is not looked at) with the low `element` bytes
// (1, 2 or 4) of a pattern.
void EmitFillBox(Emitter* emitter, uint64_t element, uint32_t value,
                 uint32_t sram, const std::vector<BoxDim>& dims);

// `bytes` bytes of region `region` to SRAM, both multiples of 16.
void EmitLoadBytes(Emitter* emitter, int region, uint64_t offset, uint32_t sram,
                   uint64_t bytes);

// Fills `bytes` bytes of SRAM (multiple of 4) with a 32-bit pattern.
void EmitFill(Emitter* emitter, uint32_t sram, uint64_t bytes, uint32_t value);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_TRANSFER_H_
