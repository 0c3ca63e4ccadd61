// SPDX-License-Identifier: Apache-2.0
// Loops and Scans through the front end, for a card alone: how many iterations
// there are, what is refused, and that a few bytes of a model do not become
// gigabytes. What they compute: tests/operators/loop_test.cc.
#include "compiler/passes/unroll.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

onnx::GraphProto* Body(onnx::NodeProto* node) {
  auto* attribute = node->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name("body");
  return attribute->mutable_g();
}

onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::string& output) {
  auto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// v = op(v), as often as Shape(x)[0] says.
ModelBuilder ByShape(int64_t rows, const std::string& op = "Sin") {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {rows, 3});
  b.Node("Shape", {"x"}, {"s"});
  b.Constant("zero", Int64s({}, {0}));
  b.Node("Gather", {"s", "zero"}, {"n"});
  auto* node = b.Node("Loop", {"n", "", "x"}, {"y"});
  node->set_name("loop");
  auto* body = Body(node);
  for (const char* name : {"i", "c", "v"}) body->add_input()->set_name(name);
  AddNode(body, "Identity", {"c"}, "on");
  AddNode(body, op, {"v"}, "w");
  for (const char* name : {"on", "w"}) body->add_output()->set_name(name);
  b.Output("y");
  return b;
}

onnx::NodeProto* NodeOf(ModelBuilder* b, int index) {
  return b->proto().mutable_graph()->mutable_node(index);
}
onnx::GraphProto* BodyOf(ModelBuilder* b, int index) {
  return NodeOf(b, index)->mutable_attribute(0)->mutable_g();
}

void ExpectRefused(const ModelBuilder& b, Rejection kind,
                   const std::string& why) {
  auto graph = AnalyseOnnx(b.Bytes(), {});
  // What a run could do, a card alone cannot.
  const absl::Status status =
      graph.ok() ? CheckGraph(*graph, {}).status() : graph.status();
  EXPECT_EQ(RejectionName(RejectionOf(status)),
            std::string(RejectionName(kind)))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), why)) << status;
}

TEST(UnrollTest, ShapesDecideHowOften) {
  for (int64_t rows : {1, 4}) {
    auto graph = AnalyseOnnx(ByShape(rows).Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::string text = graph->ToString();
    int64_t found = 0;
    for (size_t at = 0; (at = text.find("Sin", at)) != std::string::npos;
         ++at) {
      ++found;
    }
    EXPECT_GE(found, rows) << text;
    EXPECT_EQ(graph->tensors[graph->outputs[0]].name, "y");
  }
}

// Without iterations what is carried stays, and the body does not matter.
TEST(UnrollTest, NoIterations) {
  ModelBuilder b = ByShape(1, "Foo");
  NodeOf(&b, 2)->set_input(0, "zero");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  ExpectRefused(ByShape(1, "Foo"), Rejection::kUnsupportedOperator, "Foo");
  // Nothing to make a result of.
  NodeOf(&b, 2)->add_output("all");
  BodyOf(&b, 2)->add_output()->set_name("v");
  ExpectRefused(b, Rejection::kUnsupportedShape, "it has no iterations");
}

TEST(UnrollTest, WhatTheRunDecidesIsRefusedByName) {
  ModelBuilder b = ByShape(1);
  b.Input("often", DataType::kInt64, {});
  NodeOf(&b, 2)->set_input(0, "often");
  ExpectRefused(b, Rejection::kUnsupportedOperator,
                "Loop 'loop': trip count 'often' is computed at run time");
  b = ByShape(3);
  b.Input("bit", DataType::kBool, {});
  BodyOf(&b, 2)->mutable_node(0)->set_input(0, "bit");
  ExpectRefused(b, Rejection::kUnsupportedOperator,
                "is computed at run time; without the host, it must");
}

TEST(UnrollTest, BodiesThatDoNotFit) {
  ModelBuilder b = ByShape(2);
  BodyOf(&b, 2)->mutable_input()->RemoveLast();
  BodyOf(&b, 2)->mutable_node(1)->set_input(0, "c");
  ExpectRefused(b, Rejection::kInvalidModel, "do not fit a body of 2 and 2");
  b = ByShape(2);
  BodyOf(&b, 2)->mutable_output()->RemoveLast();
  ExpectRefused(b, Rejection::kInvalidModel, "do not fit a body of 3 and 1");
  b = ByShape(2);
  BodyOf(&b, 2)->mutable_input(2)->set_name("c");
  ExpectRefused(b, Rejection::kInvalidModel, "has the input 'c' twice");
  b = ByShape(2);
  NodeOf(&b, 2)->clear_attribute();
  ExpectRefused(b, Rejection::kInvalidModel, "lacks the graph 'body'");
  b = ByShape(2);
  NodeOf(&b, 2)->mutable_attribute(0)->set_name("heart");
  ExpectRefused(b, Rejection::kInvalidModel, "'heart' is not one");
  b = ByShape(2);
  b.Constant("float", Floats({}, {2}));
  NodeOf(&b, 2)->set_input(0, "float");
  ExpectRefused(b, Rejection::kInvalidModel, "trip count 'float' is float[]");
}

// Of endless loops, and of loops inside of each other.
TEST(UnrollTest, IterationsAreBounded) {
  ModelBuilder b = ByShape(2);
  NodeOf(&b, 2)->set_input(0, "");
  ExpectRefused(b, Rejection::kUnsupportedShape, "its iterations take more");
  // 1,000 by 1,000 by 1,000.
  b = ByShape(1000, "Identity");
  onnx::GraphProto* body = BodyOf(&b, 2);
  for (int depth = 0; depth < 2; ++depth) {
    auto* inner = body->mutable_node(1);
    inner->set_op_type("Loop");
    inner->clear_input();
    for (const std::string& name :
         {std::string("n"), std::string(),
          absl::StrCat("v", depth == 0 ? "" : absl::StrCat(depth))}) {
      inner->add_input(name);
    }
    onnx::GraphProto* next = Body(inner);
    const std::string at = absl::StrCat(depth + 1);
    for (const char* name : {"i", "c", "v"}) {
      next->add_input()->set_name(name + at);
    }
    AddNode(next, "Identity", {"c" + at}, "on" + at);
    AddNode(next, "Sin", {"v" + at}, "w" + at);
    for (const char* name : {"on", "w"})
      next->add_output()->set_name(name + at);
    body = next;
  }
  ExpectRefused(b, Rejection::kUnsupportedShape, "its iterations take more");
  // A name of a megabyte.
  b = ByShape(2000);
  BodyOf(&b, 2)->mutable_node(1)->set_output(0, std::string(1 << 20, 'w'));
  BodyOf(&b, 2)->mutable_output(1)->set_name(std::string(1 << 20, 'w'));
  ExpectRefused(b, Rejection::kUnsupportedShape, "its iterations take more");
}

ModelBuilder Sums(int opset) {
  ModelBuilder b(opset);
  const bool batch = opset < 9;
  b.Input("a", DataType::kFloat, batch ? Shape{1, 2} : Shape{2});
  b.Input("x", DataType::kFloat, batch ? Shape{1, 3, 2} : Shape{3, 2});
  std::vector<std::string> in = {"a", "x"};
  if (batch) in.insert(in.begin(), "");
  auto* node = b.Node("Scan", in, {"last", "all"});
  auto* body = Body(node);
  for (const char* name : {"s", "e"}) body->add_input()->set_name(name);
  AddNode(body, "Add", {"s", "e"}, "t");
  AddNode(body, "Identity", {"t"}, "u");
  for (const char* name : {"t", "u"}) body->add_output()->set_name(name);
  SetInt(node, "num_scan_inputs", 1);
  b.Output("last").Output("all");
  return b;
}

// Of what a body has none of: sequences that are cut, results of all
// iterations.
TEST(UnrollTest, WhatGoesRoundABodyIsBounded) {
  constexpr int kMany = 1000;
  for (const bool results : {false, true}) {
    ModelBuilder b(11);
    b.Input("x", DataType::kFloat, {2000, 1});
    const std::vector<std::string> in(results ? 1 : kMany, "x");
    std::vector<std::string> out = {"y"};
    for (int i = 1; results && i < kMany; ++i) {
      out.push_back(absl::StrCat("y", i));
    }
    auto* node = b.Node("Scan", in, out);
    SetInt(node, "num_scan_inputs", static_cast<int64_t>(in.size()));
    auto* body = Body(node);
    for (size_t i = 0; i < in.size(); ++i) {
      body->add_input()->set_name(absl::StrCat("e", i));
    }
    AddNode(body, "Sin", {"e0"}, "t");
    for (size_t i = 0; i < out.size(); ++i) body->add_output()->set_name("t");
    b.Output("y");
    ExpectRefused(b, Rejection::kUnsupportedShape, "its iterations take more");
  }
}

TEST(UnrollTest, ScansOfBothForms) {
  for (int opset : {8, 9, 11}) {
    const bool batch = opset < 9;
    auto graph = AnalyseOnnx(Sums(opset).Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    auto values = EvaluateGraph(
        *graph,
        {Floats(batch ? Shape{1, 2} : Shape{2}, {0, 0}),
         Floats(batch ? Shape{1, 3, 2} : Shape{3, 2}, {1, 2, 3, 4, 5, 6})});
    ASSERT_TRUE(values.ok()) << values.status();
    const TensorData& last = (*values)[graph->outputs[0]];
    const TensorData& all = (*values)[graph->outputs[1]];
    EXPECT_EQ(last.shape, batch ? (Shape{1, 2}) : (Shape{2}));
    EXPECT_EQ(all.shape, batch ? (Shape{1, 3, 2}) : (Shape{3, 2}));
    const float sums[] = {1, 2, 4, 6, 9, 12};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(all.as<float>()[i], sums[i]) << i;
    EXPECT_EQ(last.as<float>()[1], 12);
  }
}

TEST(UnrollTest, ScansThatAreNone) {
  ModelBuilder b = Sums(11);
  NodeOf(&b, 0)->mutable_attribute(1)->set_i(3);
  ExpectRefused(b, Rejection::kInvalidModel, "num_scan_inputs = 3");
  b = Sums(11);
  SetInts(NodeOf(&b, 0), "scan_input_axes", {2});
  ExpectRefused(b, Rejection::kInvalidModel,
                "axis 2 is out of range for input 1");
  b = Sums(11);
  SetInts(NodeOf(&b, 0), "scan_output_directions", {2});
  ExpectRefused(b, Rejection::kInvalidModel, "scan_output_directions");
  b = Sums(8);
  b.Input("lengths", DataType::kInt64, {1});
  NodeOf(&b, 0)->set_input(0, "lengths");
  ExpectRefused(b, Rejection::kUnsupportedOperator, "sequence_lens");
}

}  // namespace
}  // namespace heddle::compiler
