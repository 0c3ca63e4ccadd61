// SPDX-License-Identifier: Apache-2.0
// Elementwise operators on reals that read each other's results become one node
// heddle.Elementwise (ops/fused_program.h), a single pass of the vector engine
// over three tensors at most: chains and small trees, with a DequantizeLinear
// at their leaves and a QuantizeLinear at their root. The operations and their
// order stay, and so do all bits: a result that would be a tensor of float16 or
// bfloat16 is rounded in its register. What others read stays a tensor; only a
// DequantizeLinear whose readers are all elementwise is done again by each.
// Before that nodes are checked and constants folded.
#ifndef HEDDLE_COMPILER_PASSES_FUSE_ELEMENTWISE_H_
#define HEDDLE_COMPILER_PASSES_FUSE_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

absl::Status FuseElementwise(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FUSE_ELEMENTWISE_H_
