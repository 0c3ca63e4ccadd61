// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/partition/support.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr Place C = Place::kCard, H = Place::kHost;

// Node i reads the results of the nodes in reads[i] (-1: the graph's input), is
// called n<i> and computes t<i>. What nobody reads is an output.
Graph GraphOf(const std::vector<std::vector<int>>& reads) {
  Graph g;
  Tensor t;
  t.type = DataType::kFloat;
  t.shape = {4};
  t.shape_known = true;
  t.name = "x";
  g.inputs = {g.AddTensor(t)};
  std::vector<bool> read(reads.size(), false);
  for (size_t i = 0; i < reads.size(); ++i) {
    t.name = "t" + std::to_string(i);
    Node node;
    node.op = "Sum";
    node.name = "n" + std::to_string(i);
    node.outputs = {g.AddTensor(t)};
    for (int from : reads[i]) {
      node.inputs.push_back(from + 1);
      if (from >= 0) read[from] = true;
    }
    g.nodes.push_back(node);
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    if (!read[i]) g.outputs.push_back(g.nodes[i].outputs[0]);
  }
  return g;
}

using Nodes = std::vector<int>;

TEST(Partition, AChain) {
  const Graph g = GraphOf({{-1}, {0}, {1}, {2}});
  const auto parts = Partition(g, {C, H, H, C});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].nodes, Nodes({0}));
  EXPECT_EQ(parts[1].nodes, Nodes({1, 2}));
  EXPECT_EQ(parts[2].nodes, Nodes({3}));
  EXPECT_EQ(parts[1].place, H);
  const Graph& host = parts[1].graph;
  ASSERT_EQ(host.inputs.size(), 1u);
  ASSERT_EQ(host.outputs.size(), 1u);
  EXPECT_EQ(host.tensors[host.inputs[0]].name, "t0");
  EXPECT_EQ(host.tensors[host.outputs[0]].name, "t2");
}

TEST(Partition, OneSideIsOnePart) {
  const Graph g = GraphOf({{-1}, {-1}, {0, 1}});
  EXPECT_EQ(Partition(g, {C, C, C}).size(), 1u);
  const auto host = Partition(g, {H, H, H});
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(host[0].place, H);
}

// The side that begins is the one with which there are fewer parts.
TEST(Partition, TheHostMayBegin) {
  const Graph g = GraphOf({{-1}, {0}});
  const auto parts = Partition(g, {H, C});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].place, H);
}

// What does not depend on the host's nodes runs with those before them.
TEST(Partition, BranchesShareParts) {
  const Graph g = GraphOf({{-1}, {0}, {0}, {2}, {1}, {3, 4}});
  const auto parts = Partition(g, {C, H, C, C, C, C});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].nodes, Nodes({0, 2, 3}));
  EXPECT_EQ(parts[2].nodes, Nodes({4, 5}));
  const Graph& last = parts[2].graph;
  EXPECT_EQ(last.inputs.size(), 2u);
}

TEST(Partition, ConstantOutputsAreTheHosts) {
  Graph g = GraphOf({{-1}});
  g.outputs.push_back(g.AddConstant("k", Floats({1}, {3})));
  const auto parts = Partition(g, {C});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].place, H);
  ASSERT_EQ(parts[1].graph.outputs.size(), 1u);
  EXPECT_TRUE(parts[1].graph.Verify().ok());
}

// The longest alternation of sides on a path that ends in each node.
size_t Alternations(const Graph& g, const std::vector<Place>& places) {
  std::vector<size_t> longest(g.nodes.size(), 1);
  size_t most = 0;
  const std::vector<int> producers = g.Producers();
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for (TensorId id : g.nodes[n].inputs) {
      const int from = producers[id];
      if (from < 0) continue;
      longest[n] = std::max(
          longest[n], longest[from] + (places[from] != places[n] ? 1 : 0));
    }
    most = std::max(most, longest[n]);
  }
  return most;
}

TEST(Partition, RandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t count = 1 + random() % 24;
    std::vector<std::vector<int>> reads(count);
    std::vector<Place> places;
    for (size_t n = 0; n < count; ++n) {
      const size_t operands = 1 + random() % 3;
      for (size_t i = 0; i < operands; ++i) {
        reads[n].push_back(static_cast<int>(random() % (n + 1)) - 1);
      }
      places.push_back(random() % 2 == 0 ? C : H);
    }
    const Graph g = GraphOf(reads);
    const auto parts = Partition(g, places);
    // Both sides may have nodes that read nothing of the other.
    EXPECT_LE(parts.size(), Alternations(g, places) + 1);
    std::set<std::string> known = {"x"};
    std::set<int> seen;
    for (const Part& part : parts) {
      ASSERT_TRUE(part.graph.Verify().ok()) << part.graph.Verify();
      for (int n : part.nodes) {
        EXPECT_EQ(places[n], part.place);
        EXPECT_TRUE(seen.insert(n).second);
      }
      for (TensorId id : part.graph.inputs) {
        EXPECT_EQ(known.count(part.graph.tensors[id].name), 1u);
      }
      for (TensorId id : part.graph.outputs) {
        known.insert(part.graph.tensors[id].name);
      }
    }
    EXPECT_EQ(seen.size(), count);
    for (TensorId id : g.outputs) {
      EXPECT_EQ(known.count(g.tensors[id].name), 1u);
    }
  }
}

std::vector<NodeSupport> SupportFor(const ModelBuilder& b, bool host,
                                    Graph* graph) {
  CompileOptions options;
  options.host_nodes = host;
  options.placement = Placement::kCard;
  auto analysed = AnalyseOnnx(b.Bytes(), options);
  EXPECT_TRUE(analysed.ok()) << analysed.status();
  if (!analysed.ok()) return {};
  *graph = *std::move(analysed);
  auto support = SupportOf(*graph, options);
  EXPECT_TRUE(support.ok()) << support.status();
  return support.ok() ? *support : std::vector<NodeSupport>();
}

ModelBuilder DoubleInTheMiddle() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"a"});
  SetInt(b.Node("Cast", {"a"}, {"d"}), "to", 11);
  b.Node("Transpose", {"d"}, {"e"});
  SetInt(b.Node("Cast", {"e"}, {"f"}), "to", 1);
  b.Node("Sqrt", {"f"}, {"y"});
  b.Output("y", DataType::kFloat, {3, 2});
  return b;
}

TEST(Support, NodesOfTypesThatTheCardLacks) {
  Graph graph;
  const auto support = SupportFor(DoubleInTheMiddle(), true, &graph);
  ASSERT_EQ(support.size(), 5u);
  for (size_t i = 0; i < support.size(); ++i) {
    const bool host = i >= 1 && i <= 3;
    EXPECT_EQ(support[i].place, host ? Place::kHost : Place::kCard) << i;
    EXPECT_EQ(support[i].reason.ok(), !host);
  }
  EXPECT_EQ(RejectionOf(support[1].reason), Rejection::kUnsupportedDatatype);
  EXPECT_TRUE(RejectionOf(support).ok());
}

TEST(Support, WithoutHostTheyAreRefused) {
  Graph graph;
  const auto support = SupportFor(DoubleInTheMiddle(), false, &graph);
  ASSERT_EQ(support.size(), 5u);
  EXPECT_EQ(support[1].place, Place::kRefused);
  EXPECT_EQ(support[0].place, Place::kCard);
  EXPECT_EQ(RejectionOf(support), support[1].reason);
}

TEST(Support, AGraphOfTheCard) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y");
  Graph graph;
  for (const NodeSupport& node : SupportFor(b, true, &graph)) {
    EXPECT_EQ(node.place, Place::kCard);
    EXPECT_TRUE(node.reason.ok());
  }
}

// x^4 of int64: each product fits the card's 32 bits for inputs that make
// sense, both together do not.
TEST(Support, TheNodeThatIsOneTooMany) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4});
  b.Node("Mul", {"x", "x"}, {"a"});
  b.Node("Mul", {"a", "a"}, {"c"});
  b.Output("c");
  Graph graph;
  const auto support = SupportFor(b, true, &graph);
  ASSERT_EQ(support.size(), 2u);
  EXPECT_EQ(support[0].place, Place::kCard);
  EXPECT_EQ(support[1].place, Place::kHost);
  EXPECT_FALSE(support[1].reason.ok());
}

TEST(Support, WhatIsNoNodesAffairIsAnError) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok());
  CompileOptions options;
  options.host_nodes = true;
  options.device_memory_bytes = 4096;
  EXPECT_EQ(RejectionOf(SupportOf(*graph, options).status()),
            Rejection::kNoDeviceMemory);
}

}  // namespace
}  // namespace heddle::compiler
