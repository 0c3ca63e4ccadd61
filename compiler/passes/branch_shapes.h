// SPDX-License-Identifier: Apache-2.0
// Results of an If whose branches give them different shapes of one rank, such
// as a decoder that has a cache in the one branch and none in the other, or of
// a size that a run decides (boxes, if there are any). Each branch pads its
// result at the end of each axis to the larger of both shapes and says, as a
// result of its own, how much of it there is; behind the node a Compress takes
// that much, so that what follows reads a tensor whose size a run decides
// (ops/bounded.h).
#ifndef HEDDLE_COMPILER_PASSES_BRANCH_SHAPES_H_
#define HEDDLE_COMPILER_PASSES_BRANCH_SHAPES_H_

#include <array>
#include <optional>
#include <vector>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"
#include "compiler/passes/open_values.h"

namespace heddle::compiler {

// Whether results of these two shapes can become one: of one rank, different.
bool CanBeOneShape(const Shape& a, const Shape& b);

// Makes output `i` of both branches one shape, for which CanBeOneShape is true,
// and adds an int64[1] for each axis that differs to the end of their outputs.
// `branch` becomes the If: `branch->outputs` change alike. Returns the nodes
// that go behind it; their last has the result that the If had before.
std::vector<Node> MakeOneShape(size_t i, const std::array<Graph*, 2>& branches,
                               Node* branch, Graph* graph);

// Result of an If, in either branch.
struct BranchResult {
  std::array<ValueType, 2> types;
  AxisSet open = 0;  // axes of which a run says how large they are
};

// The If without results of open size; none if there are none, or if more than
// one axis of one is open or different. To be applied before the branches are
// inferred: `results` are known from having done that.
std::optional<Sized> SizeBranches(const Node& node, const Subgraphs& graphs,
                                  const std::vector<BranchResult>& results,
                                  Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_BRANCH_SHAPES_H_
