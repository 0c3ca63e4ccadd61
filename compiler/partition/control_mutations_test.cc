// SPDX-License-Identifier: Apache-2.0
// Ifs, Loops and Scans whose course a run decides, changed in one thing each:
// refused with the right status, also where the host may help. At least twenty
// changes per operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr size_t kLeast = 20;

using Model = onnx::ModelProto;
using Kinds = std::vector<Rejection>;

const Kinds kInvalid = {Rejection::kInvalidModel};
const Kinds kShape = {Rejection::kUnsupportedShape,
                      Rejection::kMismatchingShape};
// Types that contradict each other: as the operator inside sees it, or as the
// values between iterations do.
const Kinds kType = {Rejection::kMismatchingDatatype,
                     Rejection::kUnsupportedDatatype, Rejection::kInvalidModel};
const Kinds kOperator = {Rejection::kUnsupportedOperator};

struct Mutation {
  const char* what;
  Kinds kinds;
  std::function<void(Model*)> apply;
};

// The node of control flow is the first of the graph; `b` is its graph.
onnx::NodeProto* NodeOf(Model* m) {
  return m->mutable_graph()->mutable_node(0);
}
onnx::GraphProto* GraphOf(Model* m, int b = 0) {
  int found = 0;
  for (auto& attribute : *NodeOf(m)->mutable_attribute()) {
    if (attribute.has_g() && found++ == b) return attribute.mutable_g();
  }
  return nullptr;
}
onnx::NodeProto* Inner(Model* m, int i, int b = 0) {
  return GraphOf(m, b)->mutable_node(i);
}
void Retype(Model* m, int input, DataType type) {
  m->mutable_graph()
      ->mutable_input(input)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(static_cast<int>(type));
}
void Reshape(Model* m, int input, const Shape& shape) {
  auto* s = m->mutable_graph()
                ->mutable_input(input)
                ->mutable_type()
                ->mutable_tensor_type()
                ->mutable_shape();
  s->clear_dim();
  for (int64_t d : shape) s->add_dim()->set_dim_value(d);
}
void Declared(Model* m, int output, DataType type, const Shape& shape) {
  auto* t = m->mutable_graph()
                ->mutable_output(output)
                ->mutable_type()
                ->mutable_tensor_type();
  t->set_elem_type(static_cast<int>(type));
  t->mutable_shape()->clear_dim();
  for (int64_t d : shape) t->mutable_shape()->add_dim()->set_dim_value(d);
}
onnx::AttributeProto* GraphAttribute(Model* m, int b = 0) {
  int found = 0;
  for (auto& attribute : *NodeOf(m)->mutable_attribute()) {
    if (attribute.has_g() && found++ == b) return &attribute;
  }
  return nullptr;
}

// Of every operator: its first graph has nodes and an output.
std::vector<Mutation> Common() {
  return {
      {"no graph", kInvalid, [](Model* m) { NodeOf(m)->clear_attribute(); }},
      {"a graph of another name", kInvalid,
       [](Model* m) { GraphAttribute(m)->set_name("heart"); }},
      {"a graph twice", kInvalid,
       [](Model* m) {
         const onnx::AttributeProto copy = *GraphAttribute(m);
         *NodeOf(m)->add_attribute() = copy;
       }},
      {"a number for a graph", kInvalid,
       [](Model* m) {
         const std::string name = GraphAttribute(m)->name();
         GraphAttribute(m)->Clear();
         auto* a = NodeOf(m)->add_attribute();
         a->set_name(name);
         a->set_type(onnx::AttributeProto::INT);
         a->set_i(1);
       }},
      {"an input that nothing defines", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(0, "nobody"); }},
      {"a value inside that nothing defines", kInvalid,
       [](Model* m) { Inner(m, 0)->set_input(0, "nobody"); }},
      {"a cycle inside", kInvalid,
       [](Model* m) { Inner(m, 0)->set_input(0, Inner(m, 0)->output(0)); }},
      {"a result that the graph does not compute", kInvalid,
       [](Model* m) { GraphOf(m)->mutable_output(0)->set_name("nobody"); }},
      {"two values of one name inside", kInvalid,
       [](Model* m) { Inner(m, 1)->set_output(0, Inner(m, 0)->output(0)); }},
      {"a name inside that the outside has", kInvalid,
       [](Model* m) {
         Inner(m, 0)->set_output(0, m->graph().input(1).name());
       }},
      {"a node inside that nobody knows", kOperator,
       [](Model* m) { Inner(m, 0)->set_op_type("Foo"); }},
      {"an attribute inside that nobody knows", kInvalid,
       [](Model* m) { SetInt(Inner(m, 0), "colour", 1); }},
      {"no outputs", kInvalid, [](Model* m) { NodeOf(m)->clear_output(); }},
      {"more outputs than the graph has", kInvalid,
       [](Model* m) {
         for (int i = 0; i < 3; ++i)
           NodeOf(m)->add_output(absl::StrCat("z", i));
       }},
  };
}

std::vector<Mutation> OfIf() {
  return {
      {"no condition", kInvalid, [](Model* m) { NodeOf(m)->clear_input(); }},
      {"two conditions", kInvalid, [](Model* m) { NodeOf(m)->add_input("x"); }},
      {"an absent condition", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(0, ""); }},
      {"a condition that is a float", kInvalid,
       [](Model* m) { Retype(m, 0, DataType::kFloat); }},
      {"several conditions in one", kInvalid,
       [](Model* m) { Reshape(m, 0, {2}); }},
      {"no condition in one", kInvalid, [](Model* m) { Reshape(m, 0, {0}); }},
      {"inputs of a branch", kInvalid,
       [](Model* m) {
         Declare(GraphOf(m)->add_input(), "in", DataType::kFloat);
       }},
      {"no else_branch", kInvalid,
       [](Model* m) { NodeOf(m)->mutable_attribute()->RemoveLast(); }},
      {"an attribute of another operator", kInvalid,
       [](Model* m) { SetInt(NodeOf(m), "axis", 1); }},
      {"branches of two ranks", kShape,
       [](Model* m) {
         AddNode(GraphOf(m, 1), "Flatten", {"else"}, {"flat"});
         AddNode(GraphOf(m, 1), "Squeeze", {"flat"}, {"less"});
         AddNode(GraphOf(m, 1), "ReduceMax", {"less"}, {"most"});
         AddNode(GraphOf(m, 1), "Squeeze", {"most"}, {"one"});
         GraphOf(m, 1)->mutable_output(0)->set_name("one");
       }},
      {"branches of two types", kType,
       [](Model* m) {
         SetInt(AddNode(GraphOf(m, 1), "Cast", {"else"}, {"cast"}), "to", 6);
         GraphOf(m, 1)->mutable_output(0)->set_name("cast");
       }},
      {"shapes inside that contradict each other", kShape,
       [](Model* m) {
         Reshape(m, 1, {2, 4});
       }},
      {"another declared shape", kShape,
       [](Model* m) {
         Declared(m, 0, DataType::kFloat, {3, 2});
       }},
      {"another declared type", kType,
       [](Model* m) {
         Declared(m, 0, DataType::kInt32, {2, 3});
       }},
      {"an else_branch with no results", kInvalid,
       [](Model* m) { GraphOf(m, 1)->clear_output(); }},
  };
}

std::vector<Mutation> OfLoop() {
  return {
      {"a trip count that is a float", kInvalid,
       [](Model* m) { Retype(m, 0, DataType::kFloat); }},
      {"several trip counts in one", kInvalid,
       [](Model* m) { Reshape(m, 0, {2}); }},
      {"a condition that is no bool", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(1, "limit"); }},
      {"one carried value less", kInvalid,
       [](Model* m) { NodeOf(m)->mutable_input()->RemoveLast(); }},
      {"one carried value more", kInvalid,
       [](Model* m) { NodeOf(m)->add_input("x"); }},
      {"an absent carried value", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(2, ""); }},
      {"a carried value of another shape", kShape,
       [](Model* m) {
         Reshape(m, 2, {2, 4});
       }},
      {"a carried value that grows", kShape,
       [](Model* m) { Reshape(m, 2, {3}); }},
      {"a carried value of another type", kType,
       [](Model* m) { Retype(m, 2, DataType::kInt32); }},
      {"one input of the body less", kInvalid,
       [](Model* m) {
         GraphOf(m)->mutable_input()->RemoveLast();
         Inner(m, 4)->set_input(0, "one");
       }},
      {"one input of the body more", kInvalid,
       [](Model* m) {
         Declare(GraphOf(m)->add_input(), "more", DataType::kFloat);
       }},
      {"one result of the body less", kInvalid,
       [](Model* m) { GraphOf(m)->mutable_output()->RemoveLast(); }},
      {"the body's condition is a float", kInvalid,
       [](Model* m) { GraphOf(m)->mutable_output(0)->set_name("sum"); }},
      {"the body's condition is many", kInvalid,
       [](Model* m) { Inner(m, 3)->set_input(0, "next"); }},
      {"results in another order", kType,
       [](Model* m) {
         GraphOf(m)->mutable_output(1)->set_name("counted");
         GraphOf(m)->mutable_output(2)->set_name("next");
       }},
      {"a row of each iteration, of which nobody knows the number", kShape,
       [](Model* m) {
         Declare(GraphOf(m)->add_output(), "next", DataType::kFloat);
         NodeOf(m)->add_output("rows");
         m->mutable_graph()->add_output()->set_name("rows");
       }},
      {"an input of the body twice", kInvalid,
       [](Model* m) { GraphOf(m)->mutable_input(2)->set_name("c"); }},
      {"another declared shape", kShape,
       [](Model* m) {
         Declared(m, 0, DataType::kFloat, {3, 2});
       }},
      {"another declared type", kType,
       [](Model* m) { Declared(m, 1, DataType::kInt32, {}); }},
      {"an attribute of another operator", kInvalid,
       [](Model* m) { SetInt(NodeOf(m), "axis", 1); }},
  };
}

// A Scan that a run must do: too long to be unrolled.
ModelBuilder LongScan() {
  ModelBuilder b;
  b.Input("s", DataType::kFloat, {2});
  b.Input("x", DataType::kFloat, {300'000, 2});
  auto* node = b.Node("Scan", {"s", "x"}, {"last", "all"});
  node->set_name("scan");
  SetInt(node, "num_scan_inputs", 1);
  auto* body = AddGraph(node, "body");
  Declare(body->add_input(), "state", DataType::kFloat);
  Declare(body->add_input(), "row", DataType::kFloat);
  AddNode(body, "Add", {"state", "row"}, {"a"});
  AddNode(body, "Neg", {"a"}, {"z"});
  Declare(body->add_output(), "a", DataType::kFloat);
  Declare(body->add_output(), "z", DataType::kFloat);
  b.Output("last", DataType::kFloat, {2});
  b.Output("all", DataType::kFloat, {300'000, 2});
  return b;
}

std::vector<Mutation> OfScan() {
  const auto ints = [](const char* name, std::vector<int64_t> values) {
    return [=](Model* m) { SetInts(NodeOf(m), name, values); };
  };
  const auto scans = [](int64_t count) {
    return [=](Model* m) {
      for (auto& a : *NodeOf(m)->mutable_attribute()) {
        if (a.name() == "num_scan_inputs") a.set_i(count);
      }
    };
  };
  return {
      {"no sequences", kInvalid, scans(0)},
      {"fewer than no sequences", kInvalid, scans(-1)},
      {"more sequences than inputs", kInvalid, scans(3)},
      {"an axis that is none", kInvalid, ints("scan_input_axes", {2})},
      {"an axis before the first", kInvalid, ints("scan_input_axes", {-3})},
      {"two axes", kInvalid, ints("scan_input_axes", {0, 0})},
      {"a direction that is none", kInvalid,
       ints("scan_input_directions", {2})},
      {"two directions", kInvalid, ints("scan_input_directions", {0, 1})},
      {"an output axis that is none", kInvalid, ints("scan_output_axes", {5})},
      {"two output axes", kInvalid, ints("scan_output_axes", {0, 0})},
      {"an output direction that is none", kInvalid,
       ints("scan_output_directions", {-1})},
      {"a state that changes its shape", kShape,
       [](Model* m) { Reshape(m, 0, {1}); }},
      {"a state of another type", kType,
       [](Model* m) { Retype(m, 0, DataType::kInt32); }},
      {"one input less", kInvalid,
       [](Model* m) { NodeOf(m)->mutable_input()->RemoveLast(); }},
      {"an absent sequence", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(1, ""); }},
      {"an absent state", kInvalid,
       [](Model* m) { NodeOf(m)->set_input(0, ""); }},
      {"a body with no results", kInvalid,
       [](Model* m) { GraphOf(m)->clear_output(); }},
      {"one input of the body less", kInvalid,
       [](Model* m) {
         GraphOf(m)->mutable_input()->RemoveLast();
         Inner(m, 0)->set_input(1, "state");
       }},
      {"another declared length", kShape,
       [](Model* m) {
         Declared(m, 1, DataType::kFloat, {299'999, 2});
       }},
      {"a sequence without an axis", kInvalid,
       [](Model* m) { Reshape(m, 1, {}); }},
  };
}

void ExpectAllRefused(const ModelBuilder& valid,
                      const std::vector<Mutation>& own) {
  CompileOptions options;
  options.host_nodes = true;
  options.placement = Placement::kCard;
  const auto whole = AnalyseOnnx(valid.Bytes(), options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(CheckGraph(*whole, options).ok());
  std::vector<Mutation> all = Common();
  all.insert(all.end(), own.begin(), own.end());
  EXPECT_GE(own.size(), kLeast - Common().size());
  EXPECT_GE(all.size(), kLeast);
  for (const Mutation& mutation : all) {
    ModelBuilder b = valid;
    mutation.apply(&b.proto());
    const auto graph = AnalyseOnnx(b.Bytes(), options);
    const absl::Status status =
        graph.ok() ? CheckGraph(*graph, options).status() : graph.status();
    const Rejection kind = RejectionOf(status);
    EXPECT_FALSE(status.ok()) << mutation.what;
    EXPECT_TRUE(std::count(mutation.kinds.begin(), mutation.kinds.end(), kind))
        << mutation.what << ": " << RejectionName(kind) << ": " << status;
    EXPECT_NE(status.message().find('\''), std::string::npos)
        << "names nothing: " << status;
  }
}

TEST(ControlMutations, If) { ExpectAllRefused(ChosenModel(), OfIf()); }
TEST(ControlMutations, Loop) { ExpectAllRefused(RepeatedModel(), OfLoop()); }
TEST(ControlMutations, Scan) { ExpectAllRefused(LongScan(), OfScan()); }

}  // namespace
}  // namespace heddle::compiler
