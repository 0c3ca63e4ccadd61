// SPDX-License-Identifier: Apache-2.0
// A Slice whose starts or ends a run computes, and whose result has no declared
// shape: how many elements it takes along an axis of n, the values say. For
// each of its axes it becomes
//
//   s = starts[k] + n where that is negative, e likewise
//   Compress(x, 0..n-1 >= s and 0..n-1 < e)
//
// which gives a result of n elements at most (compiler/ops/bounded.h).
#ifndef HEDDLE_COMPILER_PASSES_SLICE_BY_VALUES_H_
#define HEDDLE_COMPILER_PASSES_SLICE_BY_VALUES_H_

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"

namespace heddle::compiler {

// The nodes; none if it is no such Slice, if its axes or steps are computed or
// its steps are not 1, or if an axis of it is bounded. The shapes of what it
// reads are known.
std::vector<Node> SliceByValues(Graph* graph, const Node& node,
                                const BoundedTensors& bounded);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_SLICE_BY_VALUES_H_
