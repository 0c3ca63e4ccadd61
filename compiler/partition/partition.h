// SPDX-License-Identifier: Apache-2.0
// Cuts a graph into segments that run in sequence, each on one side; a run-time
// If or Loop is a segment of its own. The side of each node is decided before
// (support.h, choose_places.h).
#ifndef HEDDLE_COMPILER_PARTITION_PARTITION_H_
#define HEDDLE_COMPILER_PARTITION_PARTITION_H_

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/partition/support.h"

namespace heddle::compiler {

struct Part {
  Place place = Place::kCard;
  std::vector<int> nodes;  // indices in the whole graph, ascending
  // Those nodes with the constants that they read. Inputs are what they read of
  // others, outputs what others read of them and the whole graph's outputs;
  // names are those of the whole graph.
  Graph graph;
};

// One place for each node. None may be refused.
std::vector<Place> PlacesOf(const std::vector<NodeSupport>& support);

// For each node the number of its part, which is as early as that of its
// operands allows; an If or Loop shares it with others, and is nevertheless a
// part of its own.
std::vector<int> StagesOf(const Graph& graph, const std::vector<Place>& places);

// The parts, in an order in which they can run. Each node is in the earliest
// part of its side that its operands allow, so there are as few parts as the
// longest alternation of sides has, and each is convex: a path that leaves it
// does not come back. Outputs of the graph that are constants are those of a
// part of the host; so is what control flow reads of constants, of a first one.
std::vector<Part> Partition(const Graph& graph,
                            const std::vector<Place>& places);

// The graph of those nodes, which must be in the graph's order and convex.
Graph Extract(const Graph& graph, const std::vector<int>& nodes);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_PARTITION_H_
