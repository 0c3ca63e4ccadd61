// SPDX-License-Identifier: Apache-2.0
// What ConstantOfShape fills its result with.
#ifndef HEDDLE_COMPILER_OPS_FILLER_H_
#define HEDDLE_COMPILER_OPS_FILLER_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// One element, float 0 without the attribute.
absl::StatusOr<TensorData> FillerOf(const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_FILLER_H_
