// SPDX-License-Identifier: Apache-2.0
// A model with open input dimensions is first compiled with 1 for all of them.
// If that is rejected because of a shape, could other sizes be accepted?
#ifndef HEDDLE_COMPILER_OTHER_SHAPES_H_
#define HEDDLE_COMPILER_OTHER_SHAPES_H_

#include "absl/strings/string_view.h"
#include "compiler/compiler.h"

namespace heddle::compiler {

// False only if some node is refused whatever the sizes are: shape inference
// ends at the same node with several sizes, and this node, whose shape rules
// are equalities and lower bounds, refuses every combination of sizes for the
// dimensions that vary there. Everything else may help.
bool OtherShapesMayHelp(absl::string_view model, const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OTHER_SHAPES_H_
