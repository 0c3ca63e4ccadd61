// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/inline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TensorData Bool(bool value) {
  return MakeData<uint8_t>(DataType::kBool, {}, {value});
}

onnx::NodeProto* AddNode(
    google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes,
    const std::string& op, const std::vector<std::string>& inputs,
    const std::string& output) {
  onnx::NodeProto* node = nodes->Add();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

onnx::GraphProto* AddGraph(onnx::NodeProto* node, const std::string& name) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  return attribute->mutable_g();
}

// t = Relu(x); y = condition ? Abs(t) + 1 : t, with the condition as `c`.
ModelBuilder WithIf() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2});
  b.Node("Relu", {"x"}, {"t"});
  auto* node = b.Node("If", {"c"}, {"y"});
  onnx::GraphProto* then = AddGraph(node, "then_branch");
  auto* one = then->add_initializer();
  one->set_name("one");
  one->set_data_type(onnx::TensorProto::FLOAT);
  one->add_float_data(1);
  AddNode(then->mutable_node(), "Relu", {"t"}, "a");
  AddNode(then->mutable_node(), "Add", {"a", "one"}, "z");
  then->add_output()->set_name("z");
  onnx::GraphProto* other = AddGraph(node, "else_branch");
  other->add_output()->set_name("t");  // from outside
  b.Output("y");
  return b;
}

// "Relu Add ..." of the imported model.
std::string OpsOf(const ModelBuilder& b) {
  auto model = ImportOnnx(b.Bytes(), {});
  if (!model.ok()) return std::string(model.status().message());
  std::string ops;
  for (const Node& node : model->graph.nodes) {
    absl::StrAppend(&ops, ops.empty() ? "" : " ", node.op);
  }
  return ops;
}

TEST(InlineTest, TheBranchOfAConstantCondition) {
  ModelBuilder b = WithIf();
  b.Constant("c", Bool(true));
  EXPECT_EQ(OpsOf(b), "Relu Relu Add Identity");
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok());
  EXPECT_NE(model->graph.FindTensor("y/a"), kNoTensor);
  EXPECT_TRUE(
      model->graph.tensors[model->graph.FindTensor("y/one")].is_constant());
  ModelBuilder other = WithIf();
  other.Constant("c", Bool(false));
  EXPECT_EQ(OpsOf(other), "Relu Identity");
}

TEST(InlineTest, ConditionsThatConstantNodesMake) {
  ModelBuilder b = WithIf();
  auto* nodes = b.proto().mutable_graph()->mutable_node();
  onnx::NodeProto* constant = AddNode(nodes, "Constant", {}, "c");
  auto* value = constant->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto::BOOL);
  value->mutable_t()->add_int32_data(1);
  nodes->SwapElements(1, 2);
  EXPECT_EQ(OpsOf(b), "Relu Constant Relu Add Identity");
}

TEST(InlineTest, NestedBranchesSeeOuterNames) {
  ModelBuilder b = WithIf();
  b.Constant("c", Bool(true));
  // In the branch, after "a": another If that reads "a".
  auto* then = b.proto()
                   .mutable_graph()
                   ->mutable_node(1)
                   ->mutable_attribute(0)
                   ->mutable_g();
  onnx::NodeProto* inner = AddNode(then->mutable_node(), "If", {"c"}, "z2");
  onnx::GraphProto* deep = AddGraph(inner, "then_branch");
  AddNode(deep->mutable_node(), "Add", {"a", "z"}, "w");
  deep->add_output()->set_name("w");
  then->mutable_output(0)->set_name("z2");
  EXPECT_EQ(OpsOf(b), "Relu Relu Add Add Identity Identity");
}

// (Which is taken is found later: passes/infer_test.)
TEST(InlineTest, BranchesOfOtherConditionsStay) {
  ModelBuilder b = WithIf();
  b.Input("c", DataType::kBool, {});
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& graph = model->graph;
  ASSERT_EQ(graph.nodes.size(), 2u);
  const Node& node = graph.nodes[1];
  EXPECT_EQ(node.op, "If");
  // The condition, and what both take from outside.
  ASSERT_EQ(node.inputs.size(), 2u);
  EXPECT_EQ(graph.tensors[node.inputs[1]].name, "t");
  const Subgraphs& branches = model->subgraphs.at(node.outputs[0]);
  EXPECT_EQ(branches.then_branch.nodes.size(), 2u);
  EXPECT_TRUE(branches.else_branch.nodes.empty());
  EXPECT_EQ(branches.else_branch.outputs[0], node.inputs[1]);
  EXPECT_NE(graph.FindTensor("y/one"), kNoTensor);
}

TEST(InlineTest, BranchesThatDoNotFit) {
  for (int damage = 0; damage < 6; ++damage) {
    ModelBuilder b = WithIf();
    if (damage < 3) {
      b.Constant("c", Bool(true));
    } else {
      b.Input("c", DataType::kBool, {});
    }
    auto* node = b.proto().mutable_graph()->mutable_node(1);
    const int what = damage % 3;
    if (what == 0) node->mutable_attribute(0)->set_name("then");
    if (what == 1) node->mutable_attribute(0)->mutable_g()->clear_output();
    if (what == 2) {
      node->mutable_attribute(0)->mutable_g()->add_input()->set_name("i");
    }
    EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
              Rejection::kInvalidModel)
        << damage;
  }
}

// own.Leaky(a, b?) = LeakyRelu(a) with the call's slope.
ModelBuilder WithFunction() {
  ModelBuilder b;
  auto* import = b.proto().add_opset_import();
  import->set_domain("own");
  import->set_version(1);
  auto* function = b.proto().add_functions();
  function->set_domain("own");
  function->set_name("Leaky");
  function->add_input("a");
  function->add_input("b");
  function->add_output("out");
  function->add_attribute("slope");
  auto* opset = function->add_opset_import();
  opset->set_domain("");
  opset->set_version(13);
  AddNode(function->mutable_node(), "Relu", {"a"}, "t");
  auto* leaky = AddNode(function->mutable_node(), "LeakyRelu", {"t"}, "out");
  auto* alpha = leaky->add_attribute();
  alpha->set_name("alpha");
  alpha->set_ref_attr_name("slope");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  b.Input("x", DataType::kFloat, {2});
  SetFloat(b.Node("Leaky", {"x"}, {"u"}, "own"), "slope", 0.25);
  b.Node("Leaky", {"u"}, {"y"}, "own");
  b.Output("y");
  return b;
}

TEST(InlineTest, FunctionsWithTheAttributesOfTheCall) {
  const ModelBuilder b = WithFunction();
  EXPECT_EQ(OpsOf(b), "Relu LeakyRelu Identity Relu LeakyRelu Identity");
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<Node>& nodes = model->graph.nodes;
  EXPECT_EQ(nodes[1].FloatAttribute("alpha", 0), 0.25f);
  EXPECT_EQ(nodes[1].name, "u_node/LeakyRelu");
  EXPECT_EQ(nodes[4].attributes.count("alpha"), 0u);
}

TEST(InlineTest, FunctionsOfOtherOpsets) {
  ModelBuilder b = WithFunction();
  b.proto().mutable_functions(0)->mutable_opset_import(0)->set_version(6);
  b.Node("Relu", {"y"}, {"z"});
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  std::string opsets;
  for (const Node& node : model->graph.nodes) {
    absl::StrAppend(&opsets, node.op, node.opset, " ");
  }
  // The calls' results are taken in the model's.
  EXPECT_EQ(opsets,
            "Relu6 LeakyRelu6 Identity13 Relu6 LeakyRelu6 Identity13 Relu13 ");
}

void SetOverload(google::protobuf::Message* message, int field,
                 const std::string& value) {
  message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(
      field, value);
}

// Two functions of one name, of which each call names one (IR version 10).
TEST(InlineTest, OverloadedFunctions) {
  ModelBuilder b = WithFunction();
  b.proto().set_ir_version(10);
  auto* other = b.proto().add_functions();
  *other = b.proto().functions(0);
  SetOverload(other, 13, "plain");
  other->mutable_node()->DeleteSubrange(1, 1);
  other->mutable_node(0)->set_op_type("Abs");
  other->mutable_node(0)->set_output(0, "out");
  EXPECT_EQ(OpsOf(b), "Relu LeakyRelu Identity Relu LeakyRelu Identity");
  SetOverload(b.proto().mutable_graph()->mutable_node(1), 8, "plain");
  EXPECT_EQ(OpsOf(b), "Relu LeakyRelu Identity Abs Identity");
  SetOverload(b.proto().mutable_graph()->mutable_node(1), 8, "missing");
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kUnsupportedOperator);
  SetOverload(other, 13, "");
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
}

TEST(InlineTest, FunctionsThatDoNotFit) {
  ModelBuilder b = WithFunction();
  b.proto().mutable_functions(0)->mutable_opset_import(0)->set_version(27);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kUnsupportedVersion);
  b = WithFunction();
  for (int i = 0; i < 2; ++i) {
    b.proto().mutable_graph()->mutable_node(0)->add_input("x");
  }
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
  b = WithFunction();
  *b.proto().add_functions() = b.proto().functions(0);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
}

TEST(InlineTest, GrowthIsBounded) {
  ModelBuilder b = WithFunction();
  auto* node = b.proto().mutable_functions(0)->mutable_node(0);
  node->set_op_type("Leaky");  // calls itself
  node->set_domain("own");
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
  // Each of 20 functions calls the next one ten times.
  b = WithFunction();
  for (int i = 0; i < 20; ++i) {
    auto* function = b.proto().add_functions();
    function->set_domain("own");
    function->set_name(absl::StrCat("F", i));
    function->add_input("a");
    function->add_output("o0");
    for (int k = 0; k < 10; ++k) {
      AddNode(function->mutable_node(),
              i == 19 ? "Relu" : absl::StrCat("F", i + 1), {"a"},
              absl::StrCat("o", k))
          ->set_domain(i == 19 ? "" : "own");
    }
  }
  b.proto().mutable_graph()->mutable_node(0)->set_op_type("F0");
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kNoSystemMemory);
}

// Every inner name gets the outer one as its prefix: a long one many times.
TEST(InlineTest, LongNamesAreBounded) {
  const std::string name(1 << 20, 'y');
  ModelBuilder b;
  for (const bool known : {true, false}) {
    b = WithIf();
    if (known) {
      b.Constant("c", Bool(true));
    } else {
      b.Input("c", DataType::kBool, {});
    }
    auto* graph = b.proto().mutable_graph();
    graph->mutable_output(0)->set_name(name);
    auto* node = graph->mutable_node(1);
    node->set_output(0, name);
    auto* then = node->mutable_attribute(0)->mutable_g();
    for (int i = 0; i < 300; ++i) {
      then->mutable_node(0)->add_output(absl::StrCat("o", i));
    }
    EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
              Rejection::kNoSystemMemory);
  }
  // The argument of a call, as often as the function reads it.
  b = WithFunction();
  auto* graph = b.proto().mutable_graph();
  graph->mutable_input(0)->set_name(name);
  graph->mutable_node(0)->set_input(0, name);
  auto* function = b.proto().mutable_functions(0);
  for (int i = 0; i < 300; ++i) {
    function->mutable_node(0)->add_input(function->input(0));
  }
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kNoSystemMemory);
}

}  // namespace
}  // namespace heddle::compiler
