// SPDX-License-Identifier: Apache-2.0
// Changes of layout for the heads of an attention without moving a byte.
//
// The blocked layout of a matrix [tokens, heads * features] is block by block
// of 16 features. Where a head has whole blocks, it is a matrix [tokens,
// features] in blocked layout by itself, and all heads one after another are
// the stack of matrices that products take ("rows", lower_qmatmul.h). So the
// Reshape and Transpose around the products of an attention are views.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_HEADS_H_
#define HEDDLE_COMPILER_DEVICE_OPS_HEADS_H_

#include "compiler/ir/graph.h"

namespace heddle::compiler {

class Lowering;

// Whether `node` is a Reshape or Transpose of codes that is such a view, and
// nothing else needs its result in ONNX's order. Then all is done.
bool LowerHeads(Lowering* lowering, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_HEADS_H_
