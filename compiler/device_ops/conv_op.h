// SPDX-License-Identifier: Apache-2.0
// A convolution on vmac: Conv, and ConvTranspose as one convolution per phase.
//
// Constants: the weights are cut into chunks, several to a group if they fit.
// A chunk is [bias f32 of its maps] [weights: conv group, channel, ky, kx, map
// (innermost)]. Chunks of one result come in the order of the chain, which
// continues through the result.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_CONV_OP_H_
#define HEDDLE_COMPILER_DEVICE_OPS_CONV_OP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/mac.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Results out_first + j*out_step (j < out_count) read, with tap t < taps, the
// input in_first + j*in_step + t*tap_step, which may lie outside of the image,
// and the element kernel_first + t*kernel_step of the kernel. [0] rows, [1]
// columns.
struct ConvPhase {
  int64_t out_first[2], out_step[2], out_count[2];
  int64_t in_first[2], in_step[2];
  int64_t taps[2], tap_step[2];
  int64_t kernel_first[2], kernel_step[2];
};

struct ConvSpec {
  int64_t channels = 0, maps = 0, group = 1;
  int64_t in[2] = {1, 1}, out[2] = {1, 1}, kernel[2] = {1, 1};
  std::vector<ConvPhase> phases;
  AxisNeed rows;     // of the input for rows of the result
  AxisNeed columns;  // likewise, for a spec that Turned() turns
  // The maps that one operation computes: any of a single group, or whole
  // groups. Its result has these only.
  int64_t first_map = 0, end_map = 0;
  bool maps_inside = false;  // weights [channel][map]... as ConvTranspose's
  DataType type = DataType::kFloat;
};

// The same with rows and columns exchanged: a long image of one row is one of
// one column, so that it can be cut into tiles.
ConvSpec Turned(ConvSpec spec);

// A piece of the weights: of conv groups g, maps m (within a group), channels
// c, kernel rows y and columns x of the phase; [0] first, [1] behind the last.
struct ConvChunk {
  size_t phase = 0;
  int64_t g[2], m[2], c[2], y[2], x[2];
  bool first = true, last = true;  // of the chain
  uint32_t offset = 0;             // in its group
};

// How a convolution is cut up for the SRAM of a configuration.
struct ConvCut {
  std::vector<std::vector<ConvChunk>> groups;
  std::vector<Slice> channels;  // of the input per group; empty: all
  bool split = false;           // some chain is in several pieces
};
// With `computed` weights (they are a value), each piece is a group and a run
// of them.
ConvCut CutConv(const ConvSpec& spec, const isa::Config& config, bool computed);

// Weights and bias as constants, or as values (null and a value).
struct ConvWeights {
  const TensorData* data = nullptr;
  const TensorData* bias_data = nullptr;
  int value = -1, bias_value = -1;
};

// `to` is f32 if the cut splits chains.
std::unique_ptr<DeviceOp> MakeConvOp(DeviceGraph* graph, const ConvSpec& spec,
                                     const ConvCut& cut,
                                     const ConvWeights& weights,
                                     const MacClamp& clamp, int from, int to);

// The whole of it for a node: operands, fused clamp, rounding at the end.
absl::Status LowerConvolution(Lowering* lowering, const Node& node,
                              const ConvSpec& spec);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_CONV_OP_H_
