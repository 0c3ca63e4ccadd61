// SPDX-License-Identifier: Apache-2.0
// Inference, folding and simplification through the front end.
#include "compiler/passes/infer.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

std::string Refused(const ModelBuilder& b, Rejection kind) {
  auto graph = AnalyseOnnx(b.Bytes(), {});
  EXPECT_EQ(RejectionName(RejectionOf(graph.status())),
            std::string(RejectionName(kind)))
      << graph.status();
  return std::string(graph.status().message());
}

TEST(InferTest, DeclaredShapesAndTypesMustHold) {
  for (const bool output : {true, false}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {1, 3});
    b.Node("Relu", {"x"}, {"t"});
    b.Node("Relu", {"t"}, {"y"});
    b.Output("y", DataType::kFloat, output ? Shape{1, 4} : Shape{1, 3});
    if (!output) {
      auto* info = b.proto().mutable_graph()->add_value_info();
      info->set_name("t");
      auto* type = info->mutable_type()->mutable_tensor_type();
      type->set_elem_type(1);
      type->mutable_shape()->add_dim()->set_dim_value(3);
    }
    EXPECT_TRUE(absl::StrContains(Refused(b, Rejection::kMismatchingShape),
                                  output ? "'y' is declared with shape [1,4], "
                                           "but has [1,3]"
                                         : "'t' is declared with shape [3]"));
  }
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y", DataType::kInt32, {1});
  Refused(b, Rejection::kMismatchingDatatype);
}

// Reshape to [Shape(x)[0], -1], the way exporters write a dynamic batch.
ModelBuilder ShapeChain() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 2, 3});
  b.Node("Shape", {"x"}, {"s"});
  b.Constant("zero", Int64s({}, {0}));
  b.Node("Gather", {"s", "zero"}, {"n"});
  b.Constant("axes", Int64s({1}, {0}));
  b.Node("Unsqueeze", {"n", "axes"}, {"n1"});
  b.Constant("rest", Int64s({1}, {-1}));
  SetInt(b.Node("Concat", {"n1", "rest"}, {"to"}), "axis", 0);
  b.Node("Reshape", {"x", "to"}, {"y"});
  b.Output("y");
  return b;
}

TEST(InferTest, ShapeChainsFold) {
  CompileOptions options;
  options.input_shapes["x"] = {5, 2, 3};
  auto graph = AnalyseOnnx(ShapeChain().Bytes(), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].op, "Reshape");
  EXPECT_EQ(graph->tensors[graph->outputs[0]].shape, (Shape{5, 6}));
}

TEST(InferTest, RunTimeShapesAreRefusedUnlessDeclared) {
  for (const bool declared : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {2, 3}).Input("to", DataType::kInt64, {1});
    b.Node("Reshape", {"x", "to"}, {"y"});
    if (declared) {
      b.Output("y", DataType::kFloat, {6});
      EXPECT_TRUE(AnalyseOnnx(b.Bytes(), {}).ok());
    } else {
      b.Output("y");
      Refused(b, Rejection::kUnsupportedShape);
    }
  }
}

TEST(InferTest, ErrorsOfFoldedNodesAreTheModels) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  b.Constant("one", Int64s({1}, {1})).Constant("at", Int64s({1}, {3}));
  b.Node("Gather", {"one", "at"}, {"q"});
  b.Node("Cast", {"q"}, {"f"});
  SetInt(b.proto().mutable_graph()->mutable_node(1), "to", 1);
  b.Node("Add", {"x", "f"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(
      absl::StrContains(Refused(b, Rejection::kInvalidModel), "index 3"));
}

TEST(InferTest, HugeResultsAreRefused) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1 << 16, 1})
      .Input("z", DataType::kFloat, {1 << 16});
  b.Node("Add", {"x", "z"}, {"y"});
  b.Output("y");
  Refused(b, Rejection::kUnsupportedShape);
}

TEST(InferTest, HugeInputsAreRefused) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {int64_t{1} << 32, int64_t{1} << 32});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("Shape", {"x"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(
      absl::StrContains(Refused(b, Rejection::kUnsupportedShape), "input 'x'"));
}

TEST(SimplifyTest, NodesThatDoNothingGo) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3});
  b.Node("Identity", {"x"}, {"a"});
  b.Node("Dropout", {"a"}, {"c"});
  SetInt(b.Node("Cast", {"c"}, {"d"}), "to", 1);
  b.Node("Relu", {"d"}, {"e"});
  b.Node("Relu", {"e"}, {"dead"});
  SetInts(b.Node("Transpose", {"e"}, {"f"}), "perm", {0, 1});
  b.Node("Identity", {"f"}, {"y"});
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 1u) << graph->ToString();
  // The producer writes the output's name.
  EXPECT_EQ(graph->tensors[graph->nodes[0].outputs[0]].name, "y");
}

TEST(SimplifyTest, AnIdentityBetweenInputAndOutputStays) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  b.Node("Identity", {"x"}, {"y"});
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.size(), 1u);
}

TEST(SimplifyTest, TwoNamesOfOneValue) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  b.Node("Relu", {"x"}, {"t"});
  b.Node("Identity", {"t"}, {"y"});
  b.Node("Identity", {"t"}, {"z"});
  b.Output("y").Output("z");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.size(), 2u) << graph->ToString();
}

}  // namespace
}  // namespace heddle::compiler
