// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/expand.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

bool HasExpanded(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return IsExpanded(graph, node); });
}

absl::Status ExpandOperators(Graph* graph) {
  if (!HasExpanded(*graph)) return absl::OkStatus();
  std::vector<Node> done;
  // The next node last.
  std::vector<Node> left(std::make_move_iterator(graph->nodes.rbegin()),
                         std::make_move_iterator(graph->nodes.rend()));
  graph->nodes.clear();
  while (!left.empty()) {
    Node node = std::move(left.back());
    left.pop_back();
    if (!IsExpanded(*graph, node)) {
      done.push_back(std::move(node));
      continue;
    }
    ASSIGN_OR_RETURN(auto nodes, ExpandNode(graph, node));
    left.insert(left.end(), std::make_move_iterator(nodes.rbegin()),
                std::make_move_iterator(nodes.rend()));
  }
  graph->nodes = std::move(done);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
