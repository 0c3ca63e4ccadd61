// SPDX-License-Identifier: Apache-2.0
// Common subexpressions: nodes that compute the same of the same are computed
// once. Equal are the operator, its version, the bits of all attributes, and
// the operands: the same tensor, or small constants of equal bytes. So the
// bytes of all that is left are those of before.
//
// An elementwise operator that an elementwise reader would take into its own
// pass (passes/elementwise_parts.h) is cheaper done twice than stored once, and
// stays; what is computed of the two is shared all the same. Nodes with
// bodies, and nodes that write outputs of the graph, stay.
#ifndef HEDDLE_COMPILER_PASSES_SHARE_SUBEXPRESSIONS_H_
#define HEDDLE_COMPILER_PASSES_SHARE_SUBEXPRESSIONS_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {

// Runs behind everything that recognises a pattern: exporters repeat, for one,
// a DequantizeLinear for each reader. Constants of `supposed`, which may be
// null, have no values to compare.
absl::Status ShareSubexpressions(Graph* graph, const Supposed* supposed);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_SHARE_SUBEXPRESSIONS_H_
