// SPDX-License-Identifier: Apache-2.0
// Makes any chain of elementwise operators of one quantized tensor, from its
// DequantizeLinear to a QuantizeLinear, a table of 256 values: GELU, HardSwish,
// x * Sigmoid(x) and what else a network is written with.
#ifndef HEDDLE_COMPILER_PASSES_FOLD_TABLE_H_
#define HEDDLE_COMPILER_PASSES_FOLD_TABLE_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The chain may branch and join; its other operands are constants of one
// element, scales and zero points scalar constants, and nothing else reads its
// inner tensors. The table holds what the operators' own semantics give for
// each value, so results do not change by a bit. After FuseQuantization, whose
// list of groups that stay float loses what is folded here. Needs inferred
// shapes.
absl::Status FoldTables(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FOLD_TABLE_H_
