// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

#include <gtest/gtest.h>

#include <limits>

namespace heddle::compiler {
namespace {

Node MakeNode(std::string name, std::vector<TensorId> in,
              std::vector<TensorId> out) {
  Node node;
  node.op = "Relu";
  node.name = std::move(name);
  node.inputs = std::move(in);
  node.outputs = std::move(out);
  return node;
}

// x -> a -> y, and x -> dead.
Graph Chain() {
  Graph graph;
  graph.name = "g";
  for (const char* name : {"x", "t", "y", "d"}) {
    graph.AddTemporary(name, DataType::kFloat, {2, 3});
  }
  graph.inputs = {0};
  graph.outputs = {2};
  graph.nodes = {MakeNode("a", {0}, {1}), MakeNode("dead", {0}, {3}),
                 MakeNode("b", {1}, {2})};
  return graph;
}

TEST(ShapeTest, CountSaturatesAndZeroWins) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({2, 3, 4}), 24);
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(ElementCount({big, big}), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ElementCount({big, big, 0}), 0);
  EXPECT_EQ(ShapeToString({1, 3, 224}), "[1,3,224]");
  EXPECT_EQ(ShapeToString({}), "[]");
}

TEST(TensorDataTest, ZerosHasTheBytesOfItsShape) {
  TensorData data = TensorData::Zeros(DataType::kInt32, {2, 3});
  EXPECT_EQ(data.bytes.size(), 24u);
  EXPECT_EQ(data.as<int32_t>()[5], 0);
  EXPECT_EQ(TensorData::Zeros(DataType::kFloat, {0, 7}).bytes.size(), 0u);
}

TEST(NodeTest, AttributesFallBackWhenAbsent) {
  Node node = MakeNode("n", {}, {});
  node.attributes["axis"] = int64_t{-1};
  node.attributes["alpha"] = 0.5f;
  node.attributes["pads"] = std::vector<int64_t>{1, 2};
  EXPECT_EQ(node.IntAttribute("axis", 3), -1);
  EXPECT_EQ(node.IntAttribute("group", 3), 3);
  EXPECT_EQ(node.FloatAttribute("alpha", 1), 0.5f);
  EXPECT_EQ(node.StringAttribute("auto_pad", "NOTSET"), "NOTSET");
  EXPECT_EQ(node.IntsAttribute("pads", {}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(node.Describe(), "Relu 'n'");
}

TEST(GraphTest, ConsumersAndProducers) {
  Graph graph = Chain();
  graph.nodes[2].inputs = {1, 1};  // reads a tensor twice: one entry
  EXPECT_EQ(graph.Consumers()[0], (std::vector<int>{0, 1}));
  EXPECT_EQ(graph.Consumers()[1], (std::vector<int>{2}));
  EXPECT_EQ(graph.Producers(), (std::vector<int>{-1, 0, 2, 1}));
}

TEST(GraphTest, RemovesExactlyTheDeadNodes) {
  Graph graph = Chain();
  graph.RemoveDeadNodes();
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].name, "a");
  EXPECT_EQ(graph.nodes[1].name, "b");
  EXPECT_TRUE(graph.Verify().ok());
}

TEST(GraphTest, TemporariesHaveUniqueNames) {
  Graph graph = Chain();
  TensorId t1 = graph.AddTemporary("t", DataType::kFloat, {});
  TensorId t2 = graph.AddTemporary("t", DataType::kFloat, {});
  EXPECT_NE(graph.tensors[t1].name, graph.tensors[t2].name);
  EXPECT_EQ(graph.FindTensor(graph.tensors[t2].name), t2);
  EXPECT_EQ(graph.FindTensor("nobody"), kNoTensor);
}

TEST(GraphTest, VerifyNamesTheBrokenInvariant) {
  EXPECT_TRUE(Chain().Verify().ok());
  Graph graph = Chain();
  std::swap(graph.nodes[0], graph.nodes[2]);
  EXPECT_EQ(graph.Verify().message(),
            "Relu 'b' reads 't' before it is computed");
  graph = Chain();
  graph.nodes[1].outputs = {1};
  EXPECT_EQ(graph.Verify().message(),
            "Relu 'dead' writes 't', which has a value already");
  graph = Chain();
  graph.nodes[1].inputs = {9};
  EXPECT_EQ(graph.Verify().message(), "Relu 'dead' reads invalid tensor id 9");
  graph = Chain();
  graph.nodes.pop_back();
  EXPECT_EQ(graph.Verify().message(), "graph output 'y' is never computed");
  graph = Chain();
  graph.inputs.push_back(0);
  EXPECT_FALSE(graph.Verify().ok());
  graph = Chain();
  TensorData data = TensorData::Zeros(DataType::kFloat, {4});
  data.bytes.resize(data.bytes.size() - 1);
  graph.AddConstant("w", data);
  EXPECT_FALSE(graph.Verify().ok());
}

TEST(GraphTest, ToStringHasOneLinePerNode) {
  Graph graph = Chain();
  graph.nodes[0].attributes["axis"] = int64_t{2};
  graph.nodes[0].attributes["factors"] = std::vector<float>{0.5f, 2.0f};
  graph.nodes[0].attributes["value"] = std::make_shared<const TensorData>(
      TensorData::Zeros(DataType::kFloat, {4}));
  graph.nodes[0].attributes["words"] = std::vector<std::string>{"a", "b"};
  EXPECT_EQ(graph.ToString(),
            "graph g(x:float[2,3]) -> (y:float[2,3])\n"
            "  t:float[2,3] = Relu 'a'(x:float[2,3]) axis=2 factors=[0.5,2] "
            "value=float[4] words=[a,b]\n"
            "  d:float[2,3] = Relu 'dead'(x:float[2,3])\n"
            "  y:float[2,3] = Relu 'b'(t:float[2,3])\n");
}

}  // namespace
}  // namespace heddle::compiler
