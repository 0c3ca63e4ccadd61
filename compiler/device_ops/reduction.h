// SPDX-License-Identifier: Apache-2.0
// Reductions on the card, shared by the Reduce operators, the global pools and
// the normalisations.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_H_
#define HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/reduce.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// The program of a part of a reduction: reads the operand as stream A and what
// else the reduction takes as the streams after it; unless it is the `first`,
// it goes on from what the part before has left in the stream behind those, and
// unless it is the `last`, it leaves that in `out`.
using PartProgram =
    std::function<absl::StatusOr<Microprogram>(bool first, bool last)>;

// A reduction of one stage.
struct Chain {
  ReduceStage stage;
  bool in_lanes = false;
  PartProgram program;
  uint32_t argument = 0;
};
// Appends it, in as many parts as SRAM asks for: the order of operations, and
// so every byte, is that of a single command. `from` is dense and holds the
// elements in ONNX's order under any shape, `others` (two at most) have one
// element for each result. The result is a new value [outer, inner].
absl::StatusOr<int> AddChain(Lowering* lowering, const Node& node,
                             const Chain& chain, int from,
                             const std::vector<int>& others,
                             const std::string& name, DataType type);

// Appends the stages. `from` is dense and holds the elements in ONNX's order
// under any shape; the result is a new value of `type` in that of the last
// stage (its elements in order).
absl::StatusOr<int> AddReduction(Lowering* lowering, const Node& node, int from,
                                 const std::vector<ReduceStage>& stages,
                                 const Reduction& reduction, DataType type);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_H_
