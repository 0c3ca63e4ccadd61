// SPDX-License-Identifier: Apache-2.0
// Parameters that a model computes or takes at run time, where the shapes that
// it declares leave one value: the sizes of a Resize, what a Split cuts, the
// repeats of a Tile, the depth of a OneHot, the number of a TopK, the shape of
// a ConstantOfShape, the axes of a reduction. The value at run time is not
// looked at, as with the shape of a Reshape: another one would contradict the
// model's own declaration.
#ifndef HEDDLE_COMPILER_PASSES_DEDUCE_H_
#define HEDDLE_COMPILER_PASSES_DEDUCE_H_

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Operands but the first that have no elements become constants of none, which
// is all that can be known of them. Whether there are such operands.
bool DeduceEmpty(Graph* graph, Node* node);

// Parameters become constants as the node's outputs demand, whose shapes are
// known. False, and nothing done, if they leave a choice.
bool DeduceParameters(Graph* graph, Node* node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_DEDUCE_H_
