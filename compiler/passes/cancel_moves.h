// SPDX-License-Identifier: Apache-2.0
// Removes moves of data that cancel: consecutive Transposes become one,
// consecutive Reshapes (Flatten, Squeeze, Unsqueeze) become one, and a
// Transpose that only moves dimensions of 1 becomes a Reshape. What then does
// nothing at all is left to Simplify.
#ifndef HEDDLE_COMPILER_PASSES_CANCEL_MOVES_H_
#define HEDDLE_COMPILER_PASSES_CANCEL_MOVES_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes.
absl::Status CancelMoves(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_CANCEL_MOVES_H_
