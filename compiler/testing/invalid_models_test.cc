// SPDX-License-Identifier: Apache-2.0
// Invalid models: a valid model of one node, changed in one thing, is refused
// with the right status and a sentence that names the node or the field. At
// least ten changes per operator.
#include "compiler/testing/invalid_models.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/opset_changes.h"

namespace heddle::compiler {
namespace {

constexpr size_t kLeast = 10;

onnx::NodeProto* NodeOf(onnx::ModelProto* model) {
  return model->mutable_graph()->mutable_node(0);
}

onnx::AttributeProto* NewAttribute(onnx::ModelProto* model) {
  auto* attribute = NodeOf(model)->add_attribute();
  attribute->set_name("colour");
  return attribute;
}

// What the valid model's output is, as the model's declaration.
onnx::TypeProto::Tensor* Declared(onnx::ModelProto* model) {
  return model->mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type();
}

void Declare(const Tensor& y, onnx::ModelProto* model) {
  Declared(model)->set_elem_type(static_cast<int>(y.type));
  Declared(model)->mutable_shape();
  for (int64_t dimension : y.shape) {
    Declared(model)->mutable_shape()->add_dim()->set_dim_value(dimension);
  }
}

// An attribute of another kind than it was.
void ChangeKind(onnx::AttributeProto* attribute) {
  const bool was_strings = attribute->type() == onnx::AttributeProto::STRINGS;
  const std::string name = attribute->name();
  attribute->Clear();
  attribute->set_name(name);
  if (was_strings) {
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(1);
  } else {
    attribute->set_type(onnx::AttributeProto::STRINGS);
    attribute->add_strings("1");
  }
}

// Mutations that suit every operator.
std::vector<Mutation> Common(const OperatorCases& cases, const Tensor& y) {
  using Model = onnx::ModelProto;
  const std::vector<Rejection> invalid = {Rejection::kInvalidModel};
  std::vector<Mutation> mutations = {
      {"no inputs", invalid, Inputs(0)},
      {"the first input is absent", invalid, NoInput(0)},
      {"input that nothing defines", invalid,
       [](Model* m) { NodeOf(m)->set_input(0, "nobody"); }},
      {"cycle", invalid, [](Model* m) { NodeOf(m)->set_input(0, "y"); }},
      {"no outputs", invalid, Outputs({})},
      {"two outputs of one name", invalid, Outputs({"y", "y"})},
      {"output with the name of an input", invalid, Outputs({"x", "y"})},
      {"graph output that nobody computes", invalid, Outputs({"z"})},
      {"more outputs than any operator has",
       {Rejection::kInvalidModel, Rejection::kUnsupportedAttribute,
        // Split: its parts are fewer than its outputs.
        Rejection::kMismatchingShape},
       [](Model* m) {
         for (int i = NodeOf(m)->output_size(); i < 9; ++i) {
           NodeOf(m)->add_output(absl::StrCat("extra", i));
         }
       }},
      {"operator that does not exist",
       {Rejection::kUnsupportedOperator},
       [](Model* m) { NodeOf(m)->mutable_op_type()->append("X"); }},
      {"domain that is not imported", invalid,
       [](Model* m) { NodeOf(m)->set_domain("org.example"); }},
      {"attribute that does not exist",
       // Of another domain's operator more may be known elsewhere.
       {Rejection::kInvalidModel, Rejection::kUnsupportedAttribute},
       [](Model* m) {
         NewAttribute(m)->set_type(onnx::AttributeProto::INT);
         NodeOf(m)->mutable_attribute()->rbegin()->set_i(1);
       }},
      {"attribute without value", invalid,
       [](Model* m) { NewAttribute(m)->set_name("colour"); }},
      {"attribute whose type is not that of its value", invalid,
       [](Model* m) {
         auto* attribute = NewAttribute(m);
         attribute->set_type(onnx::AttributeProto::INT);
         attribute->set_f(1);
       }},
      {"text as input",
       {Rejection::kUnsupportedDatatype},
       InputType("x", DataType::kString)},
      {"output declared with another type",
       {Rejection::kMismatchingDatatype},
       [y](Model* m) {
         Declare(y, m);
         Declared(m)->set_elem_type(y.type == DataType::kDouble
                                        ? onnx::TensorProto::FLOAT
                                        : onnx::TensorProto::DOUBLE);
       }},
      {"output declared with another rank",
       {Rejection::kMismatchingShape},
       [y](Model* m) {
         Declare(y, m);
         Declared(m)->mutable_shape()->add_dim()->set_dim_value(1);
       }},
  };
  if (!y.shape.empty()) {
    mutations.push_back(
        {"output declared with another dimension",
         {Rejection::kMismatchingShape},
         [y](Model* m) {
           Declare(y, m);
           Declared(m)->mutable_shape()->mutable_dim(0)->set_dim_value(
               y.shape[0] + 1);
         }});
  }
  if (!cases.variadic) {
    mutations.push_back(
        {"more inputs than any operator has", invalid, [](Model* m) {
           while (NodeOf(m)->input_size() < 12) {
             NodeOf(m)->add_input("x");
           }
         }});
  }
  const onnx::ModelProto valid = cases.valid().proto();
  for (int i = 0; i < valid.graph().node(0).attribute_size(); ++i) {
    const std::string& name = valid.graph().node(0).attribute(i).name();
    mutations.push_back(
        {absl::StrCat("another kind of ", name), invalid,
         [i](Model* m) { ChangeKind(NodeOf(m)->mutable_attribute(i)); }});
    mutations.push_back({absl::StrCat(name, " twice"), invalid, [i](Model* m) {
                           const auto copy = NodeOf(m)->attribute(i);
                           *NodeOf(m)->add_attribute() = copy;
                         }});
  }
  return mutations;
}

class InvalidModelsTest : public testing::TestWithParam<OperatorCases> {};

TEST_P(InvalidModelsTest, AreRefused) {
  const OperatorCases& cases = GetParam();
  ModelBuilder valid = cases.valid();
  auto graph = AnalyseOnnx(valid.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << "the valid model: " << graph.status();
  const TensorId y = graph->FindTensor("y");
  ASSERT_NE(y, kNoTensor);
  onnx::ModelProto whole = valid.proto();
  Declare(graph->tensors[y], &whole);
  // (of newer operators the checker knows the definitions of opset 17)
  if (whole.opset_import(0).version() < kFirstRecordedOpset) {
    EXPECT_NO_THROW(onnx::checker::check_model(whole));
  }

  std::vector<Mutation> mutations = Common(cases, graph->tensors[y]);
  mutations.insert(mutations.end(), cases.own.begin(), cases.own.end());
  size_t refused = 0;
  for (const Mutation& mutation : mutations) {
    ModelBuilder b = cases.valid();
    mutation.apply(&b.proto());
    ASSERT_NE(b.Bytes(), valid.Bytes()) << mutation.what << " changes nothing";
    const absl::Status status = AnalyseOnnx(b.Bytes(), {}).status();
    if (status.ok()) {
      ADD_FAILURE() << mutation.what << ": accepted";
      continue;
    }
    const Rejection kind = RejectionOf(status);
    if (std::count(mutation.kinds.begin(), mutation.kinds.end(), kind) == 0) {
      ADD_FAILURE() << mutation.what << ": " << RejectionName(kind) << " ("
                    << status.message() << "), must be "
                    << RejectionName(mutation.kinds[0]);
      continue;
    }
    // The sentence names an object of the model.
    EXPECT_TRUE(absl::StrContains(status.message(), "'")) << status;
    ++refused;
  }
  EXPECT_GE(refused, kLeast);
}

INSTANTIATE_TEST_SUITE_P(Operators, InvalidModelsTest,
                         testing::ValuesIn(AllInvalidModels()),
                         [](const auto& info) { return info.param.op; });

// The tables hold what they say: no operator twice, and mutations of their own
// for all that have something to be wrong about.
TEST(InvalidModelTables, AreWhole) {
  std::vector<std::string> names;
  for (const OperatorCases& cases : AllInvalidModels())
    names.push_back(cases.op);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 74u);
}

}  // namespace
}  // namespace heddle::compiler
