// SPDX-License-Identifier: Apache-2.0
// Reductions whose axes are computed at run time, to the shape that the model
// declares: of all sets of axes which lead there, the one that the axes name is
// chosen. Axes that lead to another shape make the node fail when it runs
// (index_bounds).
#ifndef HEDDLE_COMPILER_OPS_COMPUTED_AXES_H_
#define HEDDLE_COMPILER_OPS_COMPUTED_AXES_H_

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

bool HasComputedAxes(const Graph& graph, const Node& node);
absl::Status ExpandComputedAxes(Expansion* e);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_COMPUTED_AXES_H_
