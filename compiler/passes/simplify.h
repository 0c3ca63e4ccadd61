// SPDX-License-Identifier: Apache-2.0
// Removes nodes that do nothing: Identity, Dropout in inference, Cast to the
// same type, Reshape, Flatten, Squeeze, Unsqueeze and Transpose that leave
// everything in place, Concat of one operand; and nodes whose results nobody
// reads.
//
// The bytes stay those of before: each of these nodes copies its operand, of
// the same type and shape, and one that nobody reads changes nothing. A NaN
// keeps its payload either way. A Dropout that trains is refused by its
// operator, so all that are left are inference's.
#ifndef HEDDLE_COMPILER_PASSES_SIMPLIFY_H_
#define HEDDLE_COMPILER_PASSES_SIMPLIFY_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes. A removed node whose result is a graph output keeps
// the output's name: its producer writes the output, or, when that is not
// possible (the input is itself a graph input, output or constant), it stays.
absl::Status Simplify(Graph* graph);

// Only Identity, Dropout and Cast, and what nobody reads. This is what may go
// before quantization is fused: a Reshape or Transpose, even one that leaves
// everything in place, keeps pairs of QuantizeLinear and DequantizeLinear apart
// that would be merged otherwise, and so decides on the codes.
absl::Status SimplifyIdentities(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_SIMPLIFY_H_
