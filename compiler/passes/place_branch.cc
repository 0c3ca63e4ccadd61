// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/place_branch.h"

#include <utility>

#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

absl::StatusOr<std::vector<Node>> BranchOf(const Graph& graph, const Node& node,
                                           const SubgraphMap& subgraphs) {
  const Tensor& condition = graph.tensors[node.inputs[0]];
  if (!condition.is_constant()) {
    return RejectNode(Rejection::kUnsupportedOperator, node, "condition '",
                      condition.name,
                      "' is computed at run time; without the host, it must be "
                      "constant or follow from shapes");
  }
  if (condition.type != DataType::kBool || condition.constant->count() != 1) {
    return RejectNode(Rejection::kInvalidModel, node, "condition '",
                      condition.name, "' is ", DataTypeName(condition.type),
                      ShapeToString(condition.shape), ", must be one bool");
  }
  const auto both = subgraphs.find(FirstOutputOf(node));
  if (both == subgraphs.end()) {
    return absl::InternalError(node.Describe() + " has no branches");
  }
  const Subgraph& branch = condition.constant->bytes[0] != 0
                               ? both->second.then_branch
                               : both->second.else_branch;
  RETURN_IF_ERROR(branch.refusal);
  std::vector<Node> nodes = branch.nodes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    Node copy;
    copy.op = "Identity";
    copy.name = graph.tensors[node.outputs[i]].name;
    copy.opset = node.opset;
    copy.inputs = {branch.outputs[i]};
    copy.outputs = {node.outputs[i]};
    copy.sources = node.sources;
    nodes.push_back(std::move(copy));
  }
  return nodes;
}

}  // namespace heddle::compiler
