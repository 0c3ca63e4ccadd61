// SPDX-License-Identifier: Apache-2.0
// Places nodes that both card and host can run, by cost: the time of every node
// on its side, of every byte that crosses, and of every card job. Only the sum
// counts; the overlap of card and host is ignored.
#ifndef HEDDLE_COMPILER_PARTITION_CHOOSE_PLACES_H_
#define HEDDLE_COMPILER_PARTITION_CHOOSE_PLACES_H_

#include <cstdint>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/ir/graph.h"
#include "compiler/partition/support.h"

namespace heddle::compiler {

// A graph's crossings in parts as Partition() cuts it. Inputs and outputs of
// the graph are in host memory.
struct Crossings {
  int jobs = 0;  // parts of the card
  // Into the card and out of it. A tensor that several parts of the card read
  // is copied in for each.
  uint64_t bytes = 0;
};
Crossings CrossingsOf(const Graph& graph, const std::vector<Place>& places);

// Nanoseconds of a run. Control flow costs nothing here.
double CostOf(const Graph& graph, const std::vector<Place>& places,
              const std::vector<NodeCost>& costs, const HostProfile& profile);

// The cheapest places that it finds, by CostOf; never dearer than `card`, in
// which each node is on the card if the card can take it, and equal to it if
// nothing is cheaper. Only nodes that are `movable` go elsewhere, from the card
// to the host. Candidates are minimum cuts (which know no jobs, but the
// crossings that make them) and, from the best of these on, parts and
// nodes that change sides. The time is bounded, and the result depends on
// nothing else.
std::vector<Place> ChoosePlaces(const Graph& graph,
                                const std::vector<Place>& card,
                                const std::vector<bool>& movable,
                                const std::vector<NodeCost>& costs,
                                const HostProfile& profile);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_CHOOSE_PLACES_H_
