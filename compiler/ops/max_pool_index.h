// SPDX-License-Identifier: Apache-2.0
// MaxPool of volumes and with the output Indices, made of other operators.
//
// Indices is the place of the first largest element of a window, row by row, in
// the whole input; with storage_order 1 places count along the first spatial
// dimension first. A NaN is never larger; where nothing is larger than -inf it
// is the first element. It is found axis by axis, the last first: of each tap
// what lies below it and its place, compared with the best so far.
#ifndef HEDDLE_COMPILER_OPS_MAX_POOL_INDEX_H_
#define HEDDLE_COMPILER_OPS_MAX_POOL_INDEX_H_

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

// Whether a MaxPool is made of others.
bool IsExpandedMaxPool(const Graph& graph, const Node& node);
absl::Status ExpandMaxPool(Expansion* e);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_MAX_POOL_INDEX_H_
