// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/expand.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/direct/direct.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/define.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

namespace {

// Whether the card may have it at all. What it may not is not made of others:
// among them are operators that are the card's alone.
bool IsForCard(const Graph& graph, const Node& node) {
  const auto is_wide = [&](TensorId id) {
    return id != kNoTensor && (graph.tensors[id].type == DataType::kDouble ||
                               graph.tensors[id].type == DataType::kUint64);
  };
  // Of what these are made of the card computes nothing in 64 bits.
  const bool computes =
      node.op == "CumSum" || node.op == "TopK" ||
      node.StringAttribute("reduction", "none") != "none";  // of scatters
  const bool narrow = node.domain.empty() && computes &&
                      InputOf(graph, node, 0).type == DataType::kInt64;
  return !narrow &&
         std::none_of(node.inputs.begin(), node.inputs.end(), is_wide) &&
         std::none_of(node.outputs.begin(), node.outputs.end(), is_wide);
}

}  // namespace

bool HasExpanded(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return IsExpanded(graph, node); });
}

bool IsForEither(const Graph& graph, const Node& node) {
  return IsExpanded(graph, node) && IsForCard(graph, node) &&
         (IsDirect(graph, node) || HasInternalParts(graph, node));
}

absl::Status ExpandOperators(Graph* graph, size_t most, bool keep_direct) {
  if (!HasExpanded(*graph)) return absl::OkStatus();
  // Of sizes that values decide an expansion would take the bound.
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  std::vector<Node> done;
  // The next node last.
  std::vector<Node> left(std::make_move_iterator(graph->nodes.rbegin()),
                         std::make_move_iterator(graph->nodes.rend()));
  graph->nodes.clear();
  size_t made = 0;
  while (!left.empty()) {
    Node node = std::move(left.back());
    left.pop_back();
    if (!IsExpanded(*graph, node) || bounded.Touches(node) ||
        !IsForCard(*graph, node) ||
        (keep_direct && IsForEither(*graph, node))) {
      done.push_back(std::move(node));
      continue;
    }
    ASSIGN_OR_RETURN(auto nodes, ExpandNode(graph, node));
    made += nodes.size();
    if (made > most) {
      return RejectNode(Rejection::kNoSystemMemory, node,
                        "it expands the model to more than ", most,
                        " nodes; give it fewer or shorter sequences");
    }
    left.insert(left.end(), std::make_move_iterator(nodes.rbegin()),
                std::make_move_iterator(nodes.rend()));
  }
  graph->nodes = std::move(done);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
