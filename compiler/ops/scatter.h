// SPDX-License-Identifier: Apache-2.0
// heddle.Scatter (scatter.cc) for reference and card: what an update does to
// the element in its place.
#ifndef HEDDLE_COMPILER_OPS_SCATTER_H_
#define HEDDLE_COMPILER_OPS_SCATTER_H_

#include <string>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

enum class ScatterKind { kReplace, kAdd, kMul, kMax, kMin };

// Of the attribute `reduction`; false if it is none of ONNX's.
bool ScatterKindOf(const Node& node, ScatterKind* kind);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_SCATTER_H_
