// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/expand.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {
namespace {

// Nodes that read one input, each made of others.
Graph Normalizations(int count) {
  Graph graph;
  Tensor x;
  x.name = "x";
  x.type = DataType::kFloat;
  x.shape = {2, 3};
  x.shape_known = true;
  const TensorId from = graph.AddTensor(x);
  graph.inputs = {from};
  for (int i = 0; i < count; ++i) {
    Tensor y = x;
    y.name = "y" + std::to_string(i);
    Node node;
    node.op = "LpNormalization";
    node.name = y.name;
    node.opset = 1;
    node.inputs = {from};
    node.outputs = {graph.AddTensor(y)};
    graph.outputs.push_back(node.outputs[0]);
    graph.nodes.push_back(node);
  }
  return graph;
}

// The host runs operators of ONNX, not those that the card alone has.
TEST(ExpandOperators, LeavesWhatTheCardCannotHold) {
  for (const bool wide : {false, true}) {
    Graph graph;
    Tensor t;
    t.name = "x";
    t.type = wide ? DataType::kDouble : DataType::kFloat;
    t.shape = {5};
    t.shape_known = true;
    Node node;
    node.op = "TopK";
    node.opset = 1;
    node.inputs = graph.inputs = {graph.AddTensor(t)};
    node.attributes["k"] = int64_t{1};
    t.shape = {1};
    for (const char* name : {"values", "indices"}) {
      t.name = name;
      node.outputs.push_back(graph.AddTensor(t));
      t.type = DataType::kInt64;
    }
    graph.outputs = node.outputs;
    graph.nodes = {node};
    ASSERT_TRUE(ExpandOperators(&graph).ok());
    EXPECT_EQ(graph.nodes.size() == 1, wide);
    EXPECT_EQ(graph.nodes[0].domain.empty(), wide);
  }
}

TEST(ExpandOperators, CountsWhatItMakes) {
  Graph one = Normalizations(1);
  ASSERT_TRUE(HasExpanded(one));
  ASSERT_TRUE(ExpandOperators(&one).ok());
  EXPECT_FALSE(HasExpanded(one));
  const size_t nodes = one.nodes.size();
  ASSERT_GT(nodes, 1u);
  Graph enough = Normalizations(2), few = Normalizations(2);
  EXPECT_TRUE(ExpandOperators(&enough, 100).ok());
  const absl::Status refused = ExpandOperators(&few, nodes + 1);
  EXPECT_EQ(RejectionOf(refused), Rejection::kNoSystemMemory) << refused;
}

}  // namespace
}  // namespace heddle::compiler
