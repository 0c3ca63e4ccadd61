// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/share_subexpressions.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/pass_case.h"

namespace heddle::compiler {
namespace {

std::string Left(const ModelBuilder& b, Graph* graph = nullptr) {
  return OpsAfter(
      b.Bytes(), [](Graph* g) { return ShareSubexpressions(g, nullptr); },
      graph);
}

void Transpose(ModelBuilder* b, const std::string& x, const std::string& y,
               std::vector<int64_t> perm = {1, 0}) {
  SetInts(b->Node("Transpose", {x}, {y}), "perm", perm);
}

TEST(ShareSubexpressions, EqualNodesOfEqualOperands) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2});
  Transpose(&b, "x", "a");
  Transpose(&b, "x", "b");
  b.Node("MatMul", {"a", "x"}, {"p"});
  b.Node("MatMul", {"b", "x"}, {"q"});
  b.Node("Add", {"p", "q"}, {"y"});
  b.Output("y");
  Graph graph;
  EXPECT_EQ(Left(b, &graph), "Transpose MatMul Add");
  EXPECT_EQ(graph.nodes[1].sources.size(), 2u) << "both are named";
}

TEST(ShareSubexpressions, WhatDiffersStays) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2}).Input("z", DataType::kFloat, {2, 2});
  Transpose(&b, "x", "a");
  Transpose(&b, "x", "b", {0, 1});
  Transpose(&b, "z", "c");
  b.Node("Concat", {"a", "b", "c"}, {"y"});
  SetInt(b.proto().mutable_graph()->mutable_node(3), "axis", 0);
  b.Output("y");
  EXPECT_EQ(Left(b), "Transpose Transpose Transpose Concat");
}

// Of two constants the bytes count, not their names: two Gathers are one, and
// the third is of other indices.
TEST(ShareSubexpressions, EqualConstants) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 2});
  b.Constant("i", Int64s({2}, {0, 3})).Constant("j", Int64s({2}, {0, 3}));
  b.Constant("k", Int64s({2}, {0, 2}));
  b.Node("Gather", {"x", "i"}, {"a"});
  b.Node("Gather", {"x", "j"}, {"b"});
  b.Node("Gather", {"x", "k"}, {"c"});
  SetInt(b.Node("Concat", {"a", "b", "c"}, {"y"}), "axis", 0);
  b.Output("y");
  EXPECT_EQ(Left(b), "Gather Gather Concat");
}

TEST(ShareSubexpressions, SupposedConstantsAreNotCompared) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 2});
  b.Constant("i", Int64s({2}, {0, 0})).Constant("j", Int64s({2}, {0, 0}));
  b.Node("Gather", {"x", "i"}, {"a"});
  b.Node("Gather", {"x", "j"}, {"b"});
  SetInt(b.Node("Concat", {"a", "b"}, {"y"}), "axis", 0);
  b.Output("y");
  Supposed supposed;
  EXPECT_EQ(OpsAfter(b.Bytes(),
                     [&](Graph* graph) {
                       supposed.constants = {graph->FindTensor("i"),
                                             graph->FindTensor("j")};
                       return ShareSubexpressions(graph, &supposed);
                     }),
            "Gather Gather Concat");
}

// An Exp in front of an Add is part of its pass; stored, it would be one more.
TEST(ShareSubexpressions, ElementwiseOperatorsStayWithTheirReaders) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2}).Input("z", DataType::kFloat, {2, 2});
  b.Node("Exp", {"x"}, {"a"});
  b.Node("Exp", {"x"}, {"b"});
  b.Node("Add", {"a", "z"}, {"p"});
  b.Node("Mul", {"b", "z"}, {"q"});
  b.Node("MatMul", {"p", "q"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Exp Add Mul MatMul");
}

TEST(ShareSubexpressions, ThoseThatAreStoredAnyhowAreStoredOnce) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2}).Input("z", DataType::kFloat, {2, 2});
  b.Node("Exp", {"x"}, {"a"});
  b.Node("Exp", {"x"}, {"b"});
  b.Node("MatMul", {"a", "z"}, {"p"});
  b.Node("MatMul", {"z", "b"}, {"q"});
  b.Node("MatMul", {"p", "q"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp MatMul MatMul MatMul");
}

// The readers of two Exps that stay are one all the same, and then the second
// Exp has none.
TEST(ShareSubexpressions, WhatIsComputedOfTheTwoIsShared) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2}).Input("z", DataType::kFloat, {2, 2});
  b.Node("Exp", {"x"}, {"a"});
  b.Node("Exp", {"x"}, {"b"});
  b.Node("Add", {"a", "z"}, {"p"});
  b.Node("Add", {"b", "z"}, {"q"});
  b.Node("MatMul", {"p", "z"}, {"r"});
  b.Node("MatMul", {"q", "z"}, {"s"});
  b.Node("Sub", {"r", "s"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Add MatMul Sub");
}

TEST(ShareSubexpressions, OutputsOfTheGraphStay) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 2});
  Transpose(&b, "x", "y");
  Transpose(&b, "x", "z");
  b.Output("y");
  b.Output("z");
  EXPECT_EQ(Left(b), "Transpose Transpose");
}

// A second output that nobody declares may decide what the first is.
TEST(ShareSubexpressions, OutputsThatAreThereCount) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, 4, 4});
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    auto* pool = i == 0 ? b.Node("MaxPool", {"x"}, {"p" + n, "i" + n})
                        : b.Node("MaxPool", {"x"}, {"p" + n});
    SetInts(pool, "kernel_shape", {2, 2});
  }
  b.Node("Sub", {"p0", "p1"}, {"y"});
  b.Output("y");
  b.Output("i0");
  EXPECT_EQ(Left(b), "MaxPool MaxPool Sub");
}

}  // namespace
}  // namespace heddle::compiler
