// SPDX-License-Identifier: Apache-2.0
// Multiply-reduce loops of any extent on vmac, and what convolutions and
// matrix products share around them.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_MAC_H_
#define HEDDLE_COMPILER_DEVICE_OPS_MAC_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/lowering.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Largest count of one loop dimension.
constexpr int64_t kMaxLoop = 65535;

// Bounds of a Relu or Clip behind the chain.
struct MacClamp {
  bool enabled = false;
  float low = 0, high = 0;
};

// One dimension over result elements, with the byte strides of the operands.
struct MacDim {
  int64_t n = 1;
  int64_t a = 0, b = 0, c = 0, d = 0;
};
// One dimension of the reduction.
struct MacReduction {
  int64_t n = 1;
  int64_t a = 0, b = 0;
};

// acc = initial ? c : +0, then fma(a, b, acc) over r[2], r[1], r[0]
// (innermost); d = acc, clamped. Bases are addresses modulo 2^32. A reduction
// longer than the counters continues through d, which must be f32 then.
struct MacLoop {
  int64_t a = 0, b = 0, c = 0, d = 0;
  isa::ElementType a_type = isa::ElementType::kF32,
                   b_type = isa::ElementType::kF32,
                   c_type = isa::ElementType::kF32,
                   d_type = isa::ElementType::kF32;
  bool initial = false;
  MacClamp clamp;
  MacReduction r[3];
  // At most four that are not 1; the one that fills lanes best is chosen.
  std::vector<MacDim> dims;
};
void EmitMac(Emitter* emitter, MacLoop loop);

// Which of `dims` becomes the lanes.
size_t ChooseLanes(const MacLoop& loop);

// Constants of one group may take this share of SRAM, so that two groups, the
// operands and the result fit beside each other.
inline uint64_t GroupBudget(const isa::Config& config) {
  return config.sram_bytes / 8;
}

// The Relu or Clip that is the only reader of `id`, whose bounds are constants
// and which vmac's clamp does exactly. `result` is the tensor behind it (or
// `id`, when there is none): bind that one.
MacClamp FindClamp(const Lowering& lowering, TensorId id, TensorId* result);
// `node` with the sources of that reader, if there is one.
Node WithClamp(const Lowering& lowering, const Node& node, TensorId result);

// Constant data in region 0 as a value that is read by tiles, like an input.
int ConstantValue(Lowering* lowering, const std::string& name,
                  const TensorData& data, const Shape& shape);

// fp32 to another float type, for a chain that cannot be rounded before its
// end.
std::unique_ptr<DeviceOp> MakeRounding(const DeviceGraph& graph, int from,
                                       int to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_MAC_H_
