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
