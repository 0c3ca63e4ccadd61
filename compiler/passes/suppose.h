// SPDX-License-Identifier: Apache-2.0
// Stand-ins for weights that a model declares as inputs and that are given
// later, if at all: floats 1, integers 0, which as scales, zero points, clips,
// indices and weights are ordinary values. Whether a graph is refused may be
// learned from them, results and shapes may not (InferAndFold).
#ifndef HEDDLE_COMPILER_PASSES_SUPPOSE_H_
#define HEDDLE_COMPILER_PASSES_SUPPOSE_H_

#include <set>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

TensorData StandIn(DataType type, Shape shape);

// What is known of a graph with supposed weights.
struct Supposed {
  std::set<TensorId> constants;  // whose values are stand-ins
  // Nodes with results whose shapes only the true values decide, and that are
  // computed at run time whatever they are: no part of the graph any more.
  std::vector<Node> left_out;
};

// Sets of inputs that may be the weights of a graph just imported, the likely
// ones first; each leaves at least one input to be given at run time. First:
// all inputs that no node reads as its first operand. Then: all but the first
// few, and all but one, which in turn is each of those that are read earliest.
std::vector<std::set<TensorId>> WeightGuesses(const Graph& graph);

// Inputs that may be weights because otherwise `rejection`, whose message names
// a node, stands: those from which the node's operands but the first are
// computed, or if all of these are in `weights`, its first operand. Empty if
// there are none, or if no input would be left.
std::set<TensorId> MoreWeights(const Graph& graph,
                               const absl::Status& rejection,
                               const std::set<TensorId>& weights);

// Makes these inputs constants.
void Suppose(const std::set<TensorId>& weights, Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_SUPPOSE_H_
