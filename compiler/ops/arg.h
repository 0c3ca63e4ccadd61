// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: what they search and where the result goes.
#ifndef HEDDLE_COMPILER_OPS_ARG_H_
#define HEDDLE_COMPILER_OPS_ARG_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {

struct ArgSearch {
  ReduceStage stage;  // searched along `count`
  Shape shape;        // of the result
  bool largest = true, last = false;
};
// The rejection names the node.
absl::StatusOr<ArgSearch> ResolveArg(const Node& node, const Shape& x);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_ARG_H_
