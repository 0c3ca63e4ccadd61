// SPDX-License-Identifier: Apache-2.0
// Seeded random small graphs in the backend's normal form, for tests of
// everything that compiles or executes graphs. Only operators of the registry
// are used, with attributes and shapes their constraints accept.
#ifndef HEDDLE_COMPILER_BACKEND_RANDOM_GRAPH_H_
#define HEDDLE_COMPILER_BACKEND_RANDOM_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct RandomGraphOptions {
  uint64_t seed = 1;
  int min_nodes = 3, max_nodes = 12;
  int64_t max_elements = 12000;  // of one tensor
  // Operators to take, as "domain/op" ("/Conv"); empty = all known here.
  bool (*allowed)(const std::string& domain, const std::string& op) = nullptr;
};

struct RandomGraph {
  Graph graph;
  std::vector<TensorData> inputs;  // in the order of graph.inputs
};

RandomGraph MakeRandomGraph(const RandomGraphOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_RANDOM_GRAPH_H_
