// SPDX-License-Identifier: Apache-2.0
// Folds what scales and shifts the channels of a result into the convolution or
// product before it: BatchNormalization, and Mul, Add and Sub with constants.
//
//   y = (w*x + b)*s + t   becomes   y = (w*s)*x + (b*s + t)
//
// fp32 only, and only if nothing else reads the result between. New weights and
// biases are computed in double and rounded once; where one would not be finite
// nothing is folded.
#ifndef HEDDLE_COMPILER_PASSES_FOLD_AFFINE_H_
#define HEDDLE_COMPILER_PASSES_FOLD_AFFINE_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes.
absl::Status FoldAffine(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FOLD_AFFINE_H_
