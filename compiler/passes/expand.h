// SPDX-License-Identifier: Apache-2.0
// Nodes of operators that are made of others (ops/expanded.h) give way to their
// expansions. Results keep their bits: they are defined so.
#ifndef HEDDLE_COMPILER_PASSES_EXPAND_H_
#define HEDDLE_COMPILER_PASSES_EXPAND_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Whether there is anything to expand.
bool HasExpanded(const Graph& graph);
absl::Status ExpandOperators(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_EXPAND_H_
