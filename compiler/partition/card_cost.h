// SPDX-License-Identifier: Apache-2.0
// How long the card takes for each node of a graph that runs wholly on the
// card, at the clock of its configuration.
#ifndef HEDDLE_COMPILER_PARTITION_CARD_COST_H_
#define HEDDLE_COMPILER_PARTITION_CARD_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Nanoseconds of so many cycles; the configuration must exist.
double CardTime(uint64_t cycles, const std::string& config);

// The graph of a part as it is compiled: nodes that only the host has whole are
// expanded, and operators composed, where that is done in parts
// (compile_parts.h).
absl::StatusOr<Graph> AsForCard(Graph graph, const CompileOptions& options);

// CheckPackage and CheckNodeOnCard (backend/backend.h) of a part, and of a node
// of it, with such nodes expanded.
absl::Status CheckPart(const Graph& graph, const CompileOptions& options);
absl::Status CheckNodeOfPart(const Graph& graph, int node);

// Nanoseconds of each node. The graph is compiled with the first schedule that
// works; what each of its layers adds to the timeline is divided among the
// nodes that the layer stands for. So the sum is that schedule's time, and work
// in the shadow of other layers costs nothing. Another schedule may be faster.
absl::StatusOr<std::vector<double>> CardTimes(const Graph& graph,
                                              const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_CARD_COST_H_
