// SPDX-License-Identifier: Apache-2.0
// What the user is told of nodes that run, are fused, folded, removed, refused
// or do not exist.
#include "compiler/report/explain.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

using absl::StrContains;

std::string Explain(const ModelBuilder& b, const std::string& name,
                    absl::Status* rejection = nullptr) {
  const auto result = ExplainNode(b.Bytes(), {}, name);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return "";
  if (rejection != nullptr) {
    *rejection = result->rejection;
  } else {
    EXPECT_TRUE(result->rejection.ok()) << result->rejection;
  }
  return result->text;
}

ModelBuilder Small() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4});
  b.Constant("one", Floats({1, 4}, {1, 1, 1, 1}));
  b.Node("Identity", {"x"}, {"same"})->set_name("pass");
  b.Node("Add", {"one", "one"}, {"two"})->set_name("constant_add");
  b.Node("Mul", {"same", "two"}, {"product"})->set_name("scale");
  b.Node("Relu", {"product"}, {"y"})->set_name("last_relu");
  b.Output("y");
  return b;
}

TEST(Explain, ANodeThatRuns) {
  const std::string text = Explain(Small(), "scale");
  EXPECT_TRUE(StrContains(text, "Mul 'scale'")) << text;
  EXPECT_TRUE(StrContains(text, "on the vector engine")) << text;
  EXPECT_TRUE(StrContains(text, "commands")) << text;
  EXPECT_TRUE(StrContains(text, "calibrated on single commands")) << text;
  EXPECT_TRUE(StrContains(Explain(Small(), "y"), "'last_relu'"))
      << "by its result";
}

TEST(Explain, RemovedAndFolded) {
  EXPECT_TRUE(StrContains(Explain(Small(), "pass"), "Removed or absorbed"));
  EXPECT_TRUE(StrContains(Explain(Small(), "constant_add"),
                          "Computed during compilation"))
      << Explain(Small(), "constant_add");
}

TEST(Explain, AQuantizedGroupThatStaysFloat) {
  ModelBuilder b;
  const TensorData zero = Uint8s({}, {3});
  b.Input("x", DataType::kFloat, {1, 8, 4, 4});
  b.Quantize("x", "xq", 0.1f, zero);
  b.Dequantize("xq", "xd", Floats({}, {0.1f}), zero);
  b.Node("GlobalMaxPool", {"xd"}, {"e"})->set_name("pool");
  b.Quantize("e", "eq", 0.2f, zero);
  b.Dequantize("eq", "y", Floats({}, {0.2f}), zero);
  b.Output("y");
  const std::string text = Explain(b, "pool");
  EXPECT_TRUE(StrContains(text,
                          "Quantized in the model but computed in float: "
                          "the card has no integer form of GlobalMaxPool.\n"))
      << text;
}

TEST(Explain, FusedIntoACodeOperator) {
  ModelBuilder b;
  const TensorData zero = Uint8s({}, {3});
  b.Input("x", DataType::kFloat, {1, 8, 4, 4});
  b.Quantize("x", "xq", 0.1f, zero);
  b.Dequantize("xq", "xd", Floats({}, {0.1f}), zero);
  b.Constant("wq", Int8s({8, 8, 1, 1}, std::vector<int8_t>(64, 2)));
  b.Dequantize("wq", "wd", Floats({}, {0.05f}), Int8s({}, {0}));
  b.Node("Conv", {"xd", "wd"}, {"c"})->set_name("conv");
  b.Quantize("c", "cq", 0.2f, zero);
  b.Dequantize("cq", "y", Floats({}, {0.2f}), zero);
  b.Output("y");
  const std::string text = Explain(b, "conv");
  EXPECT_TRUE(StrContains(text, "It is part of QLinearConv")) << text;
  EXPECT_TRUE(StrContains(text, "on the matrix engine")) << text;
}

TEST(Explain, Refused) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4});
  b.Node("Relu", {"x"}, {"r"})->set_name("fine");
  b.Node("NoSuchOperator", {"r"}, {"y"})->set_name("culprit");
  b.Output("y", DataType::kFloat, {1, 4});
  absl::Status rejection;
  std::string text = Explain(b, "culprit", &rejection);
  EXPECT_EQ(RejectionOf(rejection), Rejection::kUnsupportedOperator)
      << rejection;
  EXPECT_TRUE(StrContains(text, "does not know this operator")) << text;
  EXPECT_TRUE(StrContains(text, "rejected because of this node")) << text;
  text = Explain(b, "fine", &rejection);
  EXPECT_TRUE(StrContains(text, "not because of this node")) << text;
}

TEST(Explain, WrongNames) {
  const auto result = ExplainNode(Small().Bytes(), {}, "last_rleu");
  ASSERT_TRUE(absl::IsNotFound(result.status()));
  EXPECT_TRUE(StrContains(result.status().message(), "'last_relu'"))
      << result.status();
  EXPECT_FALSE(ExplainNode("no model", {}, "x").ok());
}

TEST(MissingOperators, AllOfThem) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4});
  b.Node("Foo", {"x"}, {"a"})->set_name("foo1");
  b.Node("Bar", {"a"}, {"b"})->set_name("bar1");
  b.Node("Bar", {"b"}, {"y"})->set_name("bar2");
  b.Output("y", DataType::kFloat, {1, 4});
  const auto missing = MissingOperators(b.Bytes(), {});
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].op, "Bar");
  EXPECT_EQ(missing[0].count, 2u);
  EXPECT_EQ(missing[1].first_node, "foo1");
  // Also inside the branches of an If that cannot be decided now.
  b.Input("c", DataType::kBool, {});
  auto* branch = b.Node("If", {"c"}, {"z"});
  branch->set_name("if1");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    for (const char* op : {"Foo", "Baz", "Relu"}) {
      auto* inner = attribute->mutable_g()->add_node();
      inner->set_op_type(op);
      inner->set_name(std::string(name) + "_" + op);
      inner->add_input("x");
      inner->add_output(std::string(name) + op);
    }
    attribute->mutable_g()->add_output()->set_name(std::string(name) + "Foo");
  }
  const auto deep = MissingOperators(b.Bytes(), {});
  ASSERT_EQ(deep.size(), 4u);
  EXPECT_EQ(deep[0].op, "Foo");
  EXPECT_EQ(deep[0].count, 3u);
  EXPECT_EQ(deep[1].op, "Bar");
  EXPECT_EQ(deep[2].op, "Baz");
  EXPECT_EQ(deep[2].count, 2u);
  EXPECT_EQ(deep[2].first_node, "then_branch_Baz");
  EXPECT_EQ(deep[3].op, "If");
  EXPECT_TRUE(MissingOperators(Small().Bytes(), {}).empty());
  EXPECT_TRUE(MissingOperators("no model", {}).empty());
}

TEST(Explain, WhatTheHostRuns) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"a"})->set_name("first");
  onnx::NodeProto* cast = b.Node("Cast", {"a"}, {"y"});
  cast->set_name("wide");
  SetInt(cast, "to", 11);
  b.Output("y");
  CompileOptions options;
  auto said = ExplainNode(b.Bytes(), options, "wide");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_FALSE(said->rejection.ok());
  options.host_nodes = true;
  options.placement = Placement::kCard;
  said = ExplainNode(b.Bytes(), options, "wide");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_TRUE(said->rejection.ok()) << said->rejection;
  EXPECT_TRUE(absl::StrContains(said->text, "It runs on the host"))
      << said->text;
  EXPECT_TRUE(absl::StrContains(said->text, "segment 2 of 2")) << said->text;
  EXPECT_TRUE(absl::StrContains(said->text, "type double")) << said->text;
  said = ExplainNode(b.Bytes(), options, "first");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_TRUE(absl::StrContains(said->text, "on the card, in segment 1 of 2"))
      << said->text;
  EXPECT_TRUE(absl::StrContains(said->text, "layer 0")) << said->text;
}

TEST(Explain, WhatTheHostDrives) {
  const std::string model = ChosenModel().Bytes();
  CompileOptions options;
  auto said = ExplainNode(model, options, "choice");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_EQ(RejectionOf(said->rejection), Rejection::kUnsupportedOperator);
  EXPECT_TRUE(absl::StrContains(said->text, "condition 'flag'")) << said->text;
  options.host_nodes = true;
  options.placement = Placement::kCard;
  said = ExplainNode(model, options, "choice");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_TRUE(said->rejection.ok()) << said->rejection;
  for (const char* text :
       {"The host drives it, in segment 1 of 1", "condition 'flag'",
        "Its then_branch has 1 segment, 1 of them on the card",
        "Its else_branch has 1 segment, 1 of them on the card"}) {
    EXPECT_TRUE(absl::StrContains(said->text, text)) << said->text;
  }
  said = ExplainNode(model, options, "choice/MatMul_0");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_TRUE(absl::StrContains(
      said->text,
      "on the card, in segment 1 of 1 of the then_branch of segment 1 of 1"))
      << said->text;
  const auto missing = MissingOperators(model, {});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].op, "If");
  EXPECT_EQ(missing[0].domain, "");
}

}  // namespace
}  // namespace heddle::compiler
