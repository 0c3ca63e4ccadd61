// SPDX-License-Identifier: Apache-2.0
// Operators on the codes of a stack of rows ([1, tokens, features]) between
// products of matrices become operators on a matrix, so that the stack needs
// no change of layout: a Reshape moves from between two products to where the
// chain begins or ends. What then stands between two Reshapes is left to
// CancelMoves.
#ifndef HEDDLE_COMPILER_PASSES_FLATTEN_ROWS_H_
#define HEDDLE_COMPILER_PASSES_FLATTEN_ROWS_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes.
absl::Status FlattenRows(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FLATTEN_ROWS_H_
