// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/simplify.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"

namespace heddle::compiler {
namespace {

bool IsNoOp(const Graph& graph, const Node& node, const BoundedTensors& bounded,
            bool moves) {
  if (!node.domain.empty() || node.input(0) == kNoTensor ||
      node.outputs.empty() || node.outputs[0] == kNoTensor) {
    return false;
  }
  const Tensor& in = graph.tensors[node.inputs[0]];
  const Tensor& out = graph.tensors[node.outputs[0]];
  if (node.op == "Identity") return true;
  if (in.type != out.type || in.shape != out.shape) return false;
  if (node.op == "Cast" || node.op == "CastLike") return true;
  // (A dimension of at most 1 is no dimension of 1.)
  if (!moves || bounded.of(node.inputs[0]) != 0) return false;
  if (node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" ||
      node.op == "Unsqueeze") {
    return true;
  }
  if (node.op == "Concat") return node.inputs.size() == 1;
  if (node.op == "Transpose") {
    // In place if the dimensions that are not 1 keep their order.
    const auto rank = static_cast<int64_t>(in.shape.size());
    Shape reversed(in.shape.size());
    for (int64_t i = 0; i < rank; ++i) reversed[i] = rank - 1 - i;
    int64_t last = -1;
    for (int64_t p : node.IntsAttribute("perm", reversed)) {
      if (in.shape[p] == 1) continue;
      if (p < last) return false;
      last = p;
    }
    return true;
  }
  return false;
}

bool IsInferenceDropout(const Graph& graph, const Node& node) {
  if (node.op != "Dropout" || !node.domain.empty()) return false;
  // A used mask keeps the node.
  if (node.outputs.size() < 2 || node.outputs[1] == kNoTensor) return true;
  if (graph.IsOutput(node.outputs[1])) return false;
  for (const Node& other : graph.nodes) {
    if (std::count(other.inputs.begin(), other.inputs.end(), node.outputs[1]) !=
        0) {
      return false;
    }
  }
  return true;
}

absl::Status RemoveNoOps(Graph* graph, bool moves) {
  graph->RemoveDeadNodes();
  BoundedTensors bounded;
  if (moves) {
    ASSIGN_OR_RETURN(bounded, FindBounded(*graph));
  }
  std::vector<TensorId> alias(graph->tensors.size());
  for (size_t i = 0; i < alias.size(); ++i) {
    alias[i] = static_cast<TensorId>(i);
  }
  std::vector<int> producer(graph->tensors.size(), -1);
  std::vector<Node> kept;
  kept.reserve(graph->nodes.size());
  for (const Node& original : graph->nodes) {
    Node node = original;
    for (TensorId& id : node.inputs) {
      if (id != kNoTensor) id = alias[id];
    }
    if (IsNoOp(*graph, node, bounded, moves) ||
        IsInferenceDropout(*graph, node)) {
      const TensorId in = node.inputs[0];
      const TensorId out = node.outputs[0];
      if (!graph->IsOutput(out)) {
        alias[out] = in;
        continue;
      }
      if (producer[in] >= 0 && !graph->IsOutput(in)) {
        // The producer writes the output's name; earlier readers follow.
        for (Node& earlier : kept) {
          std::replace(earlier.outputs.begin(), earlier.outputs.end(), in, out);
          std::replace(earlier.inputs.begin(), earlier.inputs.end(), in, out);
        }
        for (TensorId& id : alias) {
          if (id == in) id = out;
        }
        producer[out] = producer[in];
        continue;
      }
    }
    for (TensorId id : node.outputs) {
      if (id != kNoTensor) producer[id] = static_cast<int>(kept.size());
    }
    kept.push_back(std::move(node));
  }
  graph->nodes = std::move(kept);
  graph->RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace

absl::Status Simplify(Graph* graph) { return RemoveNoOps(graph, true); }

absl::Status SimplifyIdentities(Graph* graph) {
  return RemoveNoOps(graph, false);
}

}  // namespace heddle::compiler
