// SPDX-License-Identifier: Apache-2.0
// Algebraic identities: operations that give back an operand.
//
//   x * 1, x / 1, x - 0, x + (-0) of floats; x + 0, x | 0, x ^ 0, x & ~0,
//   x << 0 of integers; x and true, x or false, x xor false
//   Neg, Not or BitwiseNot of itself; Abs, Relu, Floor, Ceil, Round or Sign of
//   itself; Abs(Neg(x)); And, Or, BitwiseAnd, BitwiseOr of x and x;
//   Where(c, x, x)
//   Cast back of a Cast that loses nothing; of two Casts, the first of which
//   loses nothing, one (of double none: it is the host's)
//   Expand and Tile that leave the shape; Slice and Pad that leave everything;
//   Sum, Min and Max of one operand; operands of Concat that have nothing on
//   its axis
//
// The bytes stay those of before, with one exception: a NaN that goes through
// x * 1 and the like, or two Casts, keeps its payload, where an operation would
// have made it the one of the contract (0x7fc00000). x + 0 of floats is no
// identity (it makes -0 a 0), and stays.
#ifndef HEDDLE_COMPILER_PASSES_ALGEBRA_H_
#define HEDDLE_COMPILER_PASSES_ALGEBRA_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {

// Needs inferred shapes. Constants of `supposed`, which may be null, have no
// values to look at. Runs behind the passes that fuse quantization: what is
// between two pairs of QuantizeLinear and DequantizeLinear decides on codes.
absl::Status ApplyAlgebra(Graph* graph, const Supposed* supposed);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_ALGEBRA_H_
