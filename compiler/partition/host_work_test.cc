// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/host_work.h"

#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Of the only node that is left of a model, as ONNX has it.
HostWork WorkOf(const ModelBuilder& b) {
  CompileOptions options;
  options.features.fuse_elementwise = false;
  options.keep_direct = true;
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  EXPECT_EQ(graph->nodes.size(), 1u);
  return HostWorkOf(*graph, graph->nodes[0]);
}

// Of all nodes that a model becomes.
HostWork AllWorkOf(const ModelBuilder& b) {
  CompileOptions options;
  options.features.fuse_elementwise = false;
  options.keep_direct = true;
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  HostWork all;
  if (!graph.ok()) return all;
  for (const Node& node : graph->nodes) {
    const HostWork work = HostWorkOf(*graph, node);
    all.nodes += work.nodes;
    all.elements += work.elements;
    all.instructions += work.instructions;
    all.macs_float += work.macs_float;
  }
  return all;
}

TEST(HostWork, AProduct) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3, 5});
  b.Input("w", DataType::kFloat, {5, 7});
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  const HostWork work = WorkOf(b);
  EXPECT_EQ(work.nodes, 1);
  EXPECT_EQ(work.macs_float, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.macs_int, 0);
  EXPECT_EQ(work.rows, 2 * 3 * 5);
  EXPECT_EQ(work.elements, 42);
}

TEST(HostWork, AConvolutionWithGroups) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 8, 9});
  b.Constant("w", TensorData::Zeros(DataType::kFloat, {6, 2, 3, 3}));
  SetInt(b.Node("Conv", {"x", "w"}, {"y"}), "group", 2);
  b.Output("y");
  const HostWork work = WorkOf(b);
  EXPECT_EQ(work.macs_float, 6 * 6 * 7 * 2 * 9);
  EXPECT_EQ(work.rows, 6 * 6 * 2 * 9);
}

// Rows of four and more are multiplied in panels.
TEST(HostWork, RowsTogetherTakeLess) {
  const auto product = [](int64_t rows) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {rows, 50});
    b.Input("w", DataType::kFloat, {50, 70});
    b.Node("MatMul", {"x", "w"}, {"y"});
    b.Output("y");
    return WorkOf(b).macs_float;
  };
  EXPECT_EQ(product(3), 3 * 50 * 70);
  EXPECT_LT(product(4), product(3));
}

// Of a sequence the host makes no nodes (compiler/direct).
TEST(HostWork, ARecurrentNodeIsOne) {
  const auto lstm = [](DataType type) {
    ModelBuilder b(14);
    b.Input("x", type, {20, 1, 30});
    b.Input("w", type, {1, 160, 30});
    b.Input("r", type, {1, 160, 40});
    SetInt(b.Node("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 40);
    b.Output("y");
    return WorkOf(b);
  };
  const HostWork floats = lstm(DataType::kFloat);
  EXPECT_GE(floats.macs_float, 0.3 * 20 * 160 * (30 + 40));
  EXPECT_LE(floats.macs_float, 20 * 160 * (30 + 40));
  EXPECT_LT(floats.nodes, 100);
  EXPECT_GT(lstm(DataType::kDouble).nodes, 200) << "by its expansion";
}

TEST(HostWork, ASampledGridCountsTaps) {
  const auto sample = [](const char* mode) {
    ModelBuilder b(16);
    b.Input("x", DataType::kFloat, {1, 8, 20, 20});
    b.Input("grid", DataType::kFloat, {1, 30, 40, 2});
    SetString(b.Node("GridSample", {"x", "grid"}, {"y"}), "mode", mode);
    b.Output("y");
    return WorkOf(b).elements;
  };
  EXPECT_GT(sample("bicubic"), 3 * sample("bilinear"));
  EXPECT_GT(sample("bilinear"), 0.5 * 8 * 30 * 40);
}

TEST(HostWork, AFunctionCountsInstructions) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1000});
  b.Node("Sqrt", {"x"}, {"y"});
  b.Output("y");
  const HostWork root = WorkOf(b);
  EXPECT_EQ(root.elements, 0);
  EXPECT_GE(root.instructions, 2000);
  ModelBuilder e;
  e.Input("x", DataType::kFloat, {1000});
  e.Node("Exp", {"x"}, {"y"});
  e.Output("y");
  EXPECT_GT(WorkOf(e).instructions, 2 * root.instructions);
}

// There are no lanes for 64 bits.
TEST(HostWork, OtherTypesCountElements) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {10, 10});
  b.Input("y", DataType::kInt64, {10});
  b.Node("Add", {"x", "y"}, {"z"});
  b.Output("z");
  const HostWork work = WorkOf(b);
  EXPECT_EQ(work.instructions, 0);
  EXPECT_GT(work.elements, 0);
  EXPECT_LT(work.elements, 100) << "several at once";
}

// A part is not charged for the whole.
TEST(HostWork, APickCountsItsResult) {
  const auto slice = [](int64_t rows) {
    ModelBuilder b;
    b.Input("x", DataType::kDouble, {100, 100});
    b.Constant("from", Int64s({1}, {0}));
    b.Constant("to", Int64s({1}, {rows}));
    b.Node("Slice", {"x", "from", "to"}, {"y"});
    b.Output("y");
    return WorkOf(b).elements;
  };
  EXPECT_GT(slice(10), 0);
  EXPECT_DOUBLE_EQ(slice(50), 5 * slice(10));
}

// Of doubles: those of floats are made of other operators.
TEST(HostWork, AnEinsumCountsProducts) {
  const auto work = [](const char* equation, const Shape& x, const Shape& y) {
    ModelBuilder b;
    b.Input("x", DataType::kDouble, x);
    b.Input("y", DataType::kDouble, y);
    SetString(b.Node("Einsum", {"x", "y"}, {"z"}), "equation", equation);
    b.Output("z");
    return WorkOf(b).elements;
  };
  const double one = work("i,i->", {1}, {1});
  EXPECT_GT(one, 0);
  EXPECT_EQ(work("ij,jk->ik", {4, 5}, {5, 6}), 4 * 5 * 6 * one);
  EXPECT_EQ(work("...ij, ...jk", {3, 2, 4, 5}, {2, 5, 6}), 720 * one);
  EXPECT_EQ(work("ii,j", {4, 4}, {3}), 12 * one);
}

// Attention and pools of volumes count what they are made of.
TEST(HostWork, WhatIsMadeOfOthersCountsThose) {
  ModelBuilder a(23);
  for (const char* name : {"q", "k", "v"}) {
    a.Input(name, DataType::kFloat, {1, 2, 16, 8});
  }
  a.Node("Attention", {"q", "k", "v"}, {"y"});
  a.Output("y");
  const HostWork attention = AllWorkOf(a);
  EXPECT_GE(attention.macs_float, 0.3 * 2 * 2 * 16 * 16 * 8) << "in panels";
  EXPECT_GT(attention.instructions, 2 * 16 * 16) << "the softmax";
  ModelBuilder p;
  p.Input("x", DataType::kFloat, {1, 2, 6, 8, 8});
  SetInts(p.Node("MaxPool", {"x"}, {"y"}), "kernel_shape", {3, 3, 3});
  p.Output("y");
  const HostWork pool = AllWorkOf(p);
  EXPECT_GT(pool.nodes, 1);
  EXPECT_GT(pool.elements, 2 * 6 * 6 * 6);
}

TEST(HostWork, CopiesCountBytes) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4, 5});
  b.Input("y", DataType::kInt64, {2, 5});
  SetInt(b.Node("Concat", {"x", "y"}, {"z"}), "axis", 0);
  b.Output("z");
  const HostWork work = WorkOf(b);
  EXPECT_EQ(work.bytes, 6 * 5 * 8);
  EXPECT_EQ(work.elements, 0);
}

TEST(HostTime, IsTheSumOfTheRates) {
  HostProfile p;
  p.node_ns = 1e7;
  p.byte_ns = 1;
  p.element_ns = 10;
  p.instruction_ns = 100;
  p.mac_float_ns = 1000;
  p.mac_int_ns = 1e4;
  p.row_ns = 1e5;
  p.threads = 2;
  EXPECT_DOUBLE_EQ(HostTime(HostWork{1, 2, 4, 6, 8, 2, 4}, p),
                   1e7 + (2 + 40 + 600 + 8000 + 2e4 + 4e5) / 2);
}

}  // namespace
}  // namespace heddle::compiler
