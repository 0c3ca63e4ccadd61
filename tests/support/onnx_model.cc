// SPDX-License-Identifier: Apache-2.0
#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

void SetValue(onnx::ValueInfoProto* value, const std::string& name,
              const std::vector<int64_t>& shape, int32_t type) {
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t dimension : shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(dimension);
  }
}

}  // namespace

OnnxModel::OnnxModel(int64_t opset) {
  proto_.set_ir_version(7);
  proto_.add_opset_import()->set_version(opset);
  proto_.mutable_graph()->set_name("test");
}

OnnxModel& OnnxModel::Input(const std::string& name,
                            const std::vector<int64_t>& shape, int32_t type) {
  SetValue(proto_.mutable_graph()->add_input(), name, shape, type);
  return *this;
}

OnnxModel& OnnxModel::Output(const std::string& name,
                             const std::vector<int64_t>& shape, int32_t type) {
  SetValue(proto_.mutable_graph()->add_output(), name, shape, type);
  return *this;
}

OnnxModel& OnnxModel::Weights(const std::string& name,
                              const std::vector<int64_t>& shape,
                              const std::vector<float>& values) {
  auto* tensor = proto_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dimension : shape) tensor->add_dims(dimension);
  tensor->set_raw_data(values.data(), values.size() * sizeof(float));
  return *this;
}

onnx::NodeProto* OnnxModel::Node(const std::string& op,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::string& domain) {
  auto* node = proto_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(outputs.empty() ? op : outputs[0]);
  if (!domain.empty()) node->set_domain(domain);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

void OnnxModel::Ints(onnx::NodeProto* node, const std::string& name,
                     const std::vector<int64_t>& values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

}  // namespace heddle::tests
