// SPDX-License-Identifier: Apache-2.0
// The bounds of a Clip node, whichever opset form it has.
#ifndef HEDDLE_COMPILER_OPS_CLAMP_H_
#define HEDDLE_COMPILER_OPS_CLAMP_H_

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Bounds of a float Clip or Relu whose bounds are known when compiling; false
// if they are computed at run time. Clip's defaults are the finite limits of
// the input's type.
bool ConstantClampBounds(const Graph& graph, const Node& node, float* low,
                         float* high);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_CLAMP_H_
