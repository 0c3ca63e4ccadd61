// SPDX-License-Identifier: Apache-2.0
// x * 0.5 * (1 + erf(x / sqrt(2))) of fp32 in primitive operators, in any order
// of the products, as exporters write it below opset 20, becomes heddle.Gelu
// (ops/gelu.cc), whose bits are its own. (The form with Tanh has nothing to
// gain beyond what fuse_elementwise.h does.)
#ifndef HEDDLE_COMPILER_PASSES_FUSE_GELU_H_
#define HEDDLE_COMPILER_PASSES_FUSE_GELU_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

absl::Status FuseGelu(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FUSE_GELU_H_
