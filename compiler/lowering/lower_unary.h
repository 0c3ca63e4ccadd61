// SPDX-License-Identifier: Apache-2.0
// The lowering of nodes that are microprograms, for operators that have one of
// their own for some types.
#ifndef HEDDLE_COMPILER_LOWERING_LOWER_UNARY_H_
#define HEDDLE_COMPILER_LOWERING_LOWER_UNARY_H_

#include "absl/status/status.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The steps of ops/program_operator.h, one elementwise operation for each.
absl::Status LowerSteps(Lowering* l, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_LOWER_UNARY_H_
