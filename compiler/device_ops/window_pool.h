// SPDX-License-Identifier: Apache-2.0
// Poolings of dense tensors on the vector engine, windows of any size: one that
// is much of SRAM, or more than loops count, is folded in parts.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_WINDOW_POOL_H_
#define HEDDLE_COMPILER_DEVICE_OPS_WINDOW_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/lowering.h"
#include "compiler/ops/window.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Taps of a window that are read together.
struct WindowPart {
  Slice y, x;
};

// All of them, or where a window of one channel is much of SRAM, some of its
// rows, or of a row, one part after the other in the order of the window.
std::vector<WindowPart> WindowParts(const Window& window, uint64_t sram_bytes);

// Rows and columns beyond the image that windows reach.
Halo WindowHalo(const Window& window);

// The maximum of floats, or of codes. With several parts the result is fp32, or
// codes.
std::unique_ptr<DeviceOp> MakeMaxPool(const DeviceGraph& graph,
                                      const Window& window,
                                      const std::vector<WindowPart>& parts,
                                      int from, int to);
// The mean of floats; with several parts the result is fp32.
std::unique_ptr<DeviceOp> MakeAveragePool(Lowering* lowering,
                                          const Window& window,
                                          const std::vector<WindowPart>& parts,
                                          bool count_include_pad, int from,
                                          int to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_WINDOW_POOL_H_
