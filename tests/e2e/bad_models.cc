// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/bad_models.h"

#include <random>

#include "tests/e2e/client.h"
#include "tests/e2e/product.h"
#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

using onnx::TensorProto;

std::string RandomBytes(size_t size) {
  std::mt19937 random(17);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// y = Relu(x), the simplest model that is right.
OnnxModel Good(int64_t opset = 13) {
  OnnxModel model(opset);
  model.Input("x", {1, 8}).Output("y", {1, 8});
  model.Node("Relu", {"x"}, {"y"})->set_name("the_node");
  return model;
}

std::string Opset99() { return Good(99).Bytes(); }

std::string Ir99() {
  OnnxModel model = Good();
  model.proto()->set_ir_version(99);
  return model.Bytes();
}

std::string UnknownOperator() {
  OnnxModel model = Good();
  model.proto()->mutable_graph()->mutable_node(0)->set_op_type("Frobnicate");
  return model.Bytes();
}

std::string UnknownDomain() {
  OnnxModel model = Good();
  auto* opset = model.proto()->add_opset_import();
  opset->set_domain("org.example.looms");
  opset->set_version(1);
  model.proto()->mutable_graph()->mutable_node(0)->set_domain(
      "org.example.looms");
  return model.Bytes();
}

std::string Cycle() {
  OnnxModel model;
  model.Input("x", {1, 8}).Output("y", {1, 8});
  model.Node("Add", {"x", "b"}, {"a"})->set_name("first_of_cycle");
  model.Node("Relu", {"a"}, {"b"})->set_name("second_of_cycle");
  model.Node("Relu", {"b"}, {"y"});
  return model.Bytes();
}

std::string AddOfTwoTypes() {
  OnnxModel model;
  model.Input("x", {1, 8}).Input("n", {1, 8}, TensorProto::INT32);
  model.Output("y", {1, 8});
  model.Node("Add", {"x", "n"}, {"y"})->set_name("the_node");
  return model.Bytes();
}

std::string OutputDeclaredWithOtherType() {
  OnnxModel model;
  model.Input("x", {1, 8}).Output("y", {1, 8}, TensorProto::INT32);
  model.Node("Relu", {"x"}, {"y"});
  return model.Bytes();
}

std::string OutputDeclaredWithOtherShape() {
  OnnxModel model;
  model.Input("x", {1, 8}).Output("y", {1, 9});
  model.Node("Relu", {"x"}, {"y"});
  return model.Bytes();
}

std::string AttributeOfOtherType() {
  OnnxModel model;
  model.Input("x", {1, 1, 8, 8}).Output("y", {1, 1, 4, 4});
  auto* node = model.Node("MaxPool", {"x"}, {"y"});
  node->set_name("the_node");
  OnnxModel::Ints(node, "kernel_shape", {2, 2});
  auto* strides = node->add_attribute();
  strides->set_name("strides");
  strides->set_type(onnx::AttributeProto::STRING);
  strides->set_s("two");
  return model.Bytes();
}

std::string StringTensors() {
  OnnxModel model;
  model.Input("x", {1, 8}, TensorProto::STRING);
  model.Output("y", {1, 8}, TensorProto::STRING);
  model.Node("Relu", {"x"}, {"y"})->set_name("the_node");
  return model.Bytes();
}

std::string MissingInput() {
  OnnxModel model;
  model.Input("x", {1, 8}).Output("y", {1, 8});
  model.Node("Add", {"x", "nowhere"}, {"y"})->set_name("the_node");
  return model.Bytes();
}

std::string WeightsShorterThanTheirShape() {
  OnnxModel model;
  model.Input("x", {1, 8}).Output("y", {1, 8});
  model.Weights("w", {1, 8}, {1, 2, 3});
  model.Node("Add", {"x", "w"}, {"y"});
  return model.Bytes();
}

}  // namespace

std::vector<BadModel> BadModels() {
  using namespace status;  // NOLINT
  const std::vector<int> damaged = {kInvalidProtobuf, kInvalidModel};
  return {
      {"random_64_bytes", RandomBytes(64), damaged, ""},
      {"random_4096_bytes", RandomBytes(4096), damaged, ""},
      {"text", "This is not a model.\n", damaged, ""},
      {"opset_99", Opset99(), {kUnsupportedVersion}, "99"},
      {"ir_version_99", Ir99(), {kUnsupportedVersion}, "99"},
      {"unknown_operator",
       UnknownOperator(),
       {kUnsupportedOperator},
       "Frobnicate"},
      {"unknown_domain",
       UnknownDomain(),
       {kUnsupportedOperator, kUnsupportedVersion},
       "org.example.looms"},
      {"cycle", Cycle(), {kInvalidModel}, "of_cycle"},
      {"add_of_two_types",
       AddOfTwoTypes(),
       {kInvalidModel, kMismatchingDatatype},
       "the_node"},
      {"output_of_other_type",
       OutputDeclaredWithOtherType(),
       {kMismatchingDatatype},
       "y"},
      {"output_of_other_shape",
       OutputDeclaredWithOtherShape(),
       {kMismatchingShape},
       "y"},
      {"attribute_of_other_type",
       AttributeOfOtherType(),
       {kInvalidModel},
       "strides"},
      {"string_tensors", StringTensors(), {kUnsupportedDatatype}, ""},
      {"missing_input", MissingInput(), {kInvalidModel}, "nowhere"},
      {"short_weights", WeightsShorterThanTheirShape(), {kInvalidModel}, "w"},
  };
}

std::vector<BadModel> TruncatedModels() {
  const std::string model = ReadFileOrDie(Digits("digits_int8.onnx"));
  std::vector<BadModel> models;
  for (size_t size = 1000; size < model.size(); size += 1000) {
    models.push_back({"cut_at_" + std::to_string(size),
                      model.substr(0, size),
                      {status::kInvalidProtobuf, status::kInvalidModel},
                      ""});
  }
  return models;
}

}  // namespace heddle::tests
