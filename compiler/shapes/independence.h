// SPDX-License-Identifier: Apache-2.0
// Whether a model may run with more of a dimension than it is asked for, and
// the surplus be cut off again.
//
// Proven for two analysed graphs of one model, of which the second has more of
// one dimension: they are the same nodes on the same constants, and for every
// node, if its operands in the first graph are those of the second cut off
// along one axis, its results are, too. An operator without such a rule, or one
// that works along the axis (a reduction, a convolution's height, an attention
// over the batch), is no proof. Results of one element do not depend on how
// many others there are (compiler/README.md: one order of accumulation), so
// equal operands give equal bytes.
#ifndef HEDDLE_COMPILER_SHAPES_INDEPENDENCE_H_
#define HEDDLE_COMPILER_SHAPES_INDEPENDENCE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The first graph's tensor is the second's cut off along `axis` to the size in
// the first: `inner` elements for each index of the dimension. -1: both are
// equal.
struct CutAxis {
  int axis = -1;
  int64_t inner = 0;
};

// For each output of the graphs. `few` and `many`: the dimension in the first
// and in the second graph, few < many. FailedPrecondition: a clause that says
// which node is in the way.
absl::StatusOr<std::vector<CutAxis>> ProveIndependent(const Graph& first,
                                                      const Graph& second,
                                                      int64_t few,
                                                      int64_t many);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SHAPES_INDEPENDENCE_H_
