// SPDX-License-Identifier: Apache-2.0
// A model whose inputs have open dimensions is tried with 1 for all of them. If
// that is refused for a shape, can it be accepted with other sizes?
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
