// SPDX-License-Identifier: Apache-2.0
// An If whose condition is known gives way to the branch that it takes. What
// the other one holds does not matter.
//
// The bytes are those of the If that a run decides (ir/control_flow.h) with the
// same condition: the branch's nodes stay as they are, and copies of its
// results are the If's.
#ifndef HEDDLE_COMPILER_PASSES_PLACE_BRANCH_H_
#define HEDDLE_COMPILER_PASSES_PLACE_BRANCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/importer.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The nodes of the branch, and an Identity for each result of the If. What the
// branch has that is not supported is the rejection; kUnsupportedOperator if
// the condition is computed at run time.
absl::StatusOr<std::vector<Node>> BranchOf(const Graph& graph, const Node& node,
                                           const SubgraphMap& subgraphs);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_PLACE_BRANCH_H_
