// SPDX-License-Identifier: Apache-2.0
// Parameters that come at run time and that the declared shapes decide.
#include "compiler/passes/deduce.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

struct Case {
  std::string op;
  int opset;
  Shape x, parameter, y;
  std::vector<int64_t> expected;  // none: it stays
  int64_t keepdims = 1;
};

TEST(DeduceTest, WhatShapesDecideBecomesConstant) {
  const std::vector<Case> cases = {
      {"Tile", 13, {2, 3}, {2}, {4, 3}, {2, 1}},
      {"ReduceSum", 13, {3, 4, 5}, {1}, {3, 1, 5}, {1}},
      {"ReduceSum", 13, {3, 4, 5}, {2}, {4}, {0, 2}, 0},
      // Of one dimension it does not matter.
      {"ReduceMax", 18, {1, 4, 1}, {1}, {1, 1, 1}, {1}},
      {"Tile", 13, {2, 3}, {2}, {5, 3}, {}},
  };
  for (const Case& c : cases) {
    ModelBuilder b(c.opset);
    b.Input("x", DataType::kFloat, c.x);
    b.Input("p", DataType::kInt64, c.parameter);
    auto* node = b.Node(c.op, {"x", "p"}, {"y"});
    if (c.op != "Tile") SetInt(node, "keepdims", c.keepdims);
    b.Output("y", DataType::kFloat, c.y);
    const auto graph = AnalyseOnnx(b.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << c.op << graph.status();
    ASSERT_EQ(graph->nodes.size(), 1u);
    const Tensor& p = graph->tensors[graph->nodes[0].inputs[1]];
    ASSERT_EQ(p.is_constant(), !c.expected.empty())
        << c.op << ShapeToString(c.x);
    if (c.expected.empty()) continue;
    const auto* values = p.constant->as<int64_t>();
    EXPECT_EQ(std::vector<int64_t>(values, values + p.constant->count()),
              c.expected);
  }
}

TEST(DeduceTest, PartsOfASplit) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 6});
  b.Input("p", DataType::kInt64, {2});
  SetInt(b.Node("Split", {"x", "p"}, {"y", "z"}), "axis", 1);
  b.Output("y", DataType::kFloat, {2, 2});
  b.Output("z", DataType::kFloat, {2, 4});
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->tensors[graph->nodes[0].inputs[1]].is_constant());
}

TEST(DeduceTest, WithoutADeclarationNothingIsKnown) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 6});
  b.Input("p", DataType::kInt64, {2});
  b.Node("Tile", {"x", "p"}, {"y"});
  b.Output("y");
  EXPECT_EQ(RejectionOf(AnalyseOnnx(b.Bytes(), {}).status()),
            Rejection::kUnsupportedShape);
}

}  // namespace
}  // namespace heddle::compiler
