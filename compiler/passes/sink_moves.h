// SPDX-License-Identifier: Apache-2.0
// Sinks moves of data: a Transpose (or a Reshape) in front of an elementwise
// operator goes behind it, where CancelMoves then makes one of it and the next.
//
//   x -> Transpose p -> Relu -> Transpose q     x -> Relu -> Transpose q o p
//   Transpose p(a) + Transpose p(b)             Transpose p(a + b)
//
// Operands that are one element stay; constants that broadcast are transposed
// the other way. It happens where something becomes less: two moves meet; the
// chain of elementwise operators behind, each the only reader of the one
// before, ends in another Transpose, or in a Reshape back; or a Reshape stands
// between elementwise operators, which then are one pass. What is computed of
// each element, and so all bytes, is the same as before.
#ifndef HEDDLE_COMPILER_PASSES_SINK_MOVES_H_
#define HEDDLE_COMPILER_PASSES_SINK_MOVES_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes. Transposes that it adds to constants are for
// FoldConstants.
absl::Status SinkMoves(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_SINK_MOVES_H_
