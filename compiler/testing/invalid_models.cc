// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/invalid_models.h"

#include <utility>

namespace heddle::compiler {
namespace {

onnx::NodeProto* NodeOf(onnx::ModelProto* model) {
  return model->mutable_graph()->mutable_node(0);
}

void Erase(onnx::NodeProto* node, const std::string& name) {
  auto* attributes = node->mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    if (attributes->Get(i).name() == name) attributes->DeleteSubrange(i, 1);
  }
}

onnx::TypeProto::Tensor* TypeOf(onnx::ModelProto* model,
                                const std::string& name) {
  for (auto& input : *model->mutable_graph()->mutable_input()) {
    if (input.name() == name) {
      return input.mutable_type()->mutable_tensor_type();
    }
  }
  return nullptr;
}

std::vector<std::vector<OperatorCases> (*)()>& Families() {
  static auto* families = new std::vector<std::vector<OperatorCases> (*)()>();
  return *families;
}

}  // namespace

InvalidModels::InvalidModels(std::vector<OperatorCases> (*cases)()) {
  Families().push_back(cases);
}

std::vector<OperatorCases> AllInvalidModels() {
  std::vector<OperatorCases> all;
  for (const auto family : Families()) {
    for (OperatorCases& cases : family()) all.push_back(std::move(cases));
  }
  return all;
}

Change Int(const std::string& name, int64_t value) {
  return [=](onnx::ModelProto* model) {
    Erase(NodeOf(model), name);
    SetInt(NodeOf(model), name, value);
  };
}

Change Float(const std::string& name, float value) {
  return [=](onnx::ModelProto* model) {
    Erase(NodeOf(model), name);
    SetFloat(NodeOf(model), name, value);
  };
}

Change Ints(const std::string& name, const std::vector<int64_t>& values) {
  return [=](onnx::ModelProto* model) {
    Erase(NodeOf(model), name);
    SetInts(NodeOf(model), name, values);
  };
}

Change String(const std::string& name, const std::string& value) {
  return [=](onnx::ModelProto* model) {
    Erase(NodeOf(model), name);
    SetString(NodeOf(model), name, value);
  };
}

Change Drop(const std::string& name) {
  return [=](onnx::ModelProto* model) { Erase(NodeOf(model), name); };
}

Change InputShape(const std::string& name, const Shape& shape) {
  return [=](onnx::ModelProto* model) {
    auto* dims = TypeOf(model, name)->mutable_shape();
    dims->Clear();
    for (int64_t dimension : shape) dims->add_dim()->set_dim_value(dimension);
  };
}

Change InputType(const std::string& name, DataType type) {
  return [=](onnx::ModelProto* model) {
    TypeOf(model, name)->set_elem_type(static_cast<int>(type));
  };
}

Change Value(const std::string& name, const TensorData& data) {
  return [=](onnx::ModelProto* model) {
    for (auto& tensor : *model->mutable_graph()->mutable_initializer()) {
      if (tensor.name() != name) continue;
      tensor.Clear();
      tensor.set_name(name);
      tensor.set_data_type(static_cast<int>(data.type));
      for (int64_t dimension : data.shape) tensor.add_dims(dimension);
      tensor.set_raw_data(data.bytes.data(), data.bytes.size());
    }
  };
}

Change Inputs(int count) {
  return [=](onnx::ModelProto* model) {
    auto* inputs = NodeOf(model)->mutable_input();
    inputs->DeleteSubrange(count, inputs->size() - count);
  };
}

Change NoInput(int i) {
  return [=](onnx::ModelProto* model) { NodeOf(model)->set_input(i, ""); };
}

Change Outputs(const std::vector<std::string>& names) {
  return [=](onnx::ModelProto* model) {
    NodeOf(model)->clear_output();
    for (const std::string& name : names) NodeOf(model)->add_output(name);
  };
}

}  // namespace heddle::compiler
