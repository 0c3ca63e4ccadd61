// SPDX-License-Identifier: Apache-2.0
// Reductions on the card, shared by the Reduce operators, the global pools and
// the normalisations.
#ifndef HEDDLE_COMPILER_LOWERING_REDUCTION_H_
#define HEDDLE_COMPILER_LOWERING_REDUCTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lowering/lowering.h"
#include "compiler/ops/reduce.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Microprogram of one stage: stream A is reduced, `finish` with argument 0 (the
// count of a mean). `in_lanes`: the 16-lane reduction; `tail`: its last step
// may have lanes that are not valid. `integers`: int32 instead of fp32.
Microprogram ReduceProgram(const Reduction& reduction, bool in_lanes, bool tail,
                           bool integers);

// Appends the stages. `from` is dense and holds the elements in ONNX's order
// under any shape; the result is a new value of `type` in that of the last
// stage (its elements in order). Refuses loops beyond the engine's counters.
absl::StatusOr<int> AddReduction(Lowering* lowering, const Node& node, int from,
                                 const std::vector<ReduceStage>& stages,
                                 const Reduction& reduction, DataType type);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_REDUCTION_H_
