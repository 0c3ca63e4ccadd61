// SPDX-License-Identifier: Apache-2.0
// Exp(x - ReduceMax(x)) / ReduceSum of it, over one axis, becomes a Softmax
// (ops/softmax.cc), whose bits are its own: one reciprocal per row instead of a
// division per element. So does Exp(x) / ReduceSum(Exp(x)), which then has no
// overflow any more: what was NaN for large x, or for x far below 0, is finite.
#ifndef HEDDLE_COMPILER_PASSES_FUSE_SOFTMAX_H_
#define HEDDLE_COMPILER_PASSES_FUSE_SOFTMAX_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes.
absl::Status FuseSoftmax(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FUSE_SOFTMAX_H_
