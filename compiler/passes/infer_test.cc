// SPDX-License-Identifier: Apache-2.0
// Inference, folding and simplification through the front end.
#include "compiler/passes/infer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/control_flow.h"
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
  // Of an output that says no shape itself.
  ModelBuilder open;
  open.Input("x", DataType::kFloat, {1, 3});
  open.Node("Relu", {"x"}, {"y"});
  open.Output("y");
  auto* info = open.proto().mutable_graph()->add_value_info();
  info->set_name("y");
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  type->mutable_shape()->add_dim()->set_dim_value(4);
  EXPECT_TRUE(absl::StrContains(Refused(open, Rejection::kMismatchingShape),
                                "'y' is declared with shape [4]"));
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

onnx::GraphProto* AddBranch(onnx::NodeProto* node, const std::string& name) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  return attribute->mutable_g();
}
onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::string& output) {
  auto* node = graph->add_node();
  node->set_op_type(op);
  node->set_name(op + "_of_" + output);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// y = rows == 1 ? relu(tanh(x)) : abs(x), the branches with one name inside;
// the condition is the graph's c or, in an If inside of the first, d.
ModelBuilder ByShape(int64_t rows, const std::string& other = "Abs") {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {rows, 3});
  b.Node("Shape", {"x"}, {"s"});
  b.Constant("zero", Int64s({}, {0}));
  b.Constant("one", Int64s({}, {1}));
  b.Node("Gather", {"s", "zero"}, {"n"});
  b.Node("Equal", {"n", "one"}, {"c"});
  auto* node = b.Node("If", {"c"}, {"y"});
  node->set_name("choice");
  auto* then = AddBranch(node, "then_branch");
  AddNode(then, "Tanh", {"x"}, "t");
  AddNode(then, "Not", {"c"}, "d");
  auto* inner = AddNode(then, "If", {"d"}, "u");
  auto* deep = AddBranch(inner, "then_branch");
  AddNode(deep, "Foo", {"t"}, "v");
  deep->add_output()->set_name("v");
  deep = AddBranch(inner, "else_branch");
  AddNode(deep, "Relu", {"t"}, "v");
  deep->add_output()->set_name("v");
  then->add_output()->set_name("u");
  auto* otherwise = AddBranch(node, "else_branch");
  AddNode(otherwise, other, {"x"}, "t");
  otherwise->add_output()->set_name("t");
  b.Output("y");
  return b;
}

TEST(InferTest, ShapesDecideBranches) {
  auto graph = AnalyseOnnx(ByShape(1).Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  // (A later pass made one node of them.)
  ASSERT_EQ(graph->nodes.size(), 1u) << graph->ToString();
  EXPECT_TRUE(absl::StrContains(graph->ToString(), "[Tanh,Relu]"))
      << graph->ToString();
  EXPECT_EQ(graph->tensors[graph->outputs[0]].name, "y");
  graph = AnalyseOnnx(ByShape(2).Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 1u) << graph->ToString();
  EXPECT_EQ(graph->nodes[0].op, "Abs");
}

TEST(InferTest, OnlyTheTakenBranchMustBeSupported) {
  EXPECT_TRUE(AnalyseOnnx(ByShape(1, "Foo").Bytes(), {}).ok());
  EXPECT_TRUE(absl::StrContains(
      Refused(ByShape(2, "Foo"), Rejection::kUnsupportedOperator),
      "Foo 'choice/Foo_of_t'"));
}

TEST(InferTest, ConditionsOfTheRunKeepBothBranches) {
  ModelBuilder b = ByShape(1);
  b.Input("bit", DataType::kBool, {});
  b.proto().mutable_graph()->mutable_node(3)->set_input(0, "bit");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto node =
      std::find_if(graph->nodes.begin(), graph->nodes.end(), IsControl);
  ASSERT_NE(node, graph->nodes.end()) << graph->ToString();
  EXPECT_EQ(BodiesOf(*node).size(), 2u);
  EXPECT_EQ(RejectionOf(WhyControl(*node)), Rejection::kUnsupportedOperator);
  EXPECT_TRUE(absl::StrContains(WhyControl(*node).message(),
                                "If 'choice': condition 'bit' is computed at "
                                "run time"));
  b = ByShape(1);
  b.proto().mutable_graph()->mutable_node(3)->set_input(0, "n");
  EXPECT_TRUE(absl::StrContains(Refused(b, Rejection::kInvalidModel),
                                "condition 'n' is int64[]"));
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
