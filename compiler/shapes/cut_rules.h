// SPDX-License-Identifier: Apache-2.0
// The rules of independence.h, one operator at a time.
#ifndef HEDDLE_COMPILER_SHAPES_CUT_RULES_H_
#define HEDDLE_COMPILER_SHAPES_CUT_RULES_H_

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/shapes/independence.h"

namespace heddle::compiler {

// A node with what is known of its operands; one operand at least is cut, but
// for an Expand, whose shape alone may be larger.
struct CutNode {
  const Graph& graph;  // the first
  const Node& node;
  const std::vector<CutAxis>& inputs;  // in the node's order; -1 for an absent
  // Whether the node's tensors have the same shapes in both graphs but for one
  // axis of each, and which; by output.
  const std::vector<CutAxis>& outputs;
};

// Whether the outputs are cut as their shapes say, because the operands are.
bool KeepsCut(const CutNode& cut);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SHAPES_CUT_RULES_H_
