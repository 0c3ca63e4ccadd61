// SPDX-License-Identifier: Apache-2.0
// Runs one node with given inputs through its checks, inference and
// evaluation.
#ifndef HEDDLE_COMPILER_TESTING_RUN_NODE_H_
#define HEDDLE_COMPILER_TESTING_RUN_NODE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

struct NodeSpec {
  std::string op;
  std::string domain;
  int opset = 13;
  std::map<std::string, Attribute> attributes;
};

// Inputs of undefined type are absent. The inferred type and shape must agree
// with what is computed, or the result is an Internal error.
inline absl::StatusOr<TensorData> RunNode(
    const NodeSpec& spec, const std::vector<TensorData>& inputs) {
  Graph graph;
  Node node;
  node.op = spec.op;
  node.domain = spec.domain;
  node.name = "n";
  node.opset = spec.domain.empty() ? spec.opset : 1;
  node.attributes = spec.attributes;
  for (const TensorData& input : inputs) {
    node.inputs.push_back(
        input.type == DataType::kUndefined
            ? kNoTensor
            : graph.AddConstant("in" + std::to_string(graph.tensors.size()),
                                input));
  }
  Tensor output;
  output.name = "out";
  node.outputs = {graph.AddTensor(output)};
  graph.outputs = node.outputs;
  RETURN_IF_ERROR(CheckNode(graph, node));
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  RETURN_IF_ERROR(info->infer(&graph, node));
  graph.nodes = {node};
  ASSIGN_OR_RETURN(auto values, EvaluateGraph(graph, {}));
  return values[node.outputs[0]];
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_RUN_NODE_H_
