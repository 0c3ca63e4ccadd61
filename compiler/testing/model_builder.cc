// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

void Describe(onnx::ValueInfoProto* value, const std::string& name,
              DataType type, const Shape& shape) {
  value->set_name(name);
  if (type == DataType::kUndefined) return;
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type));
  auto* dims = tensor->mutable_shape();
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      dims->add_dim()->set_dim_param("batch");
    } else {
      dims->add_dim()->set_dim_value(dimension);
    }
  }
}

onnx::AttributeProto* AddAttribute(onnx::NodeProto* node,
                                   const std::string& name,
                                   onnx::AttributeProto::AttributeType type) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

}  // namespace

ModelBuilder::ModelBuilder(int opset) {
  model_.set_ir_version(8);
  auto* import = model_.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  import = model_.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  model_.mutable_graph()->set_name("test");
}

ModelBuilder& ModelBuilder::Input(const std::string& name, DataType type,
                                  const Shape& shape) {
  Describe(model_.mutable_graph()->add_input(), name, type, shape);
  return *this;
}

ModelBuilder& ModelBuilder::Output(const std::string& name, DataType type,
                                   const Shape& shape) {
  Describe(model_.mutable_graph()->add_output(), name, type, shape);
  return *this;
}

ModelBuilder& ModelBuilder::Constant(const std::string& name,
                                     const TensorData& data) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(static_cast<int>(data.type));
  for (int64_t dimension : data.shape) tensor->add_dims(dimension);
  tensor->set_raw_data(data.bytes.data(), data.bytes.size());
  return *this;
}

onnx::NodeProto* ModelBuilder::Node(const std::string& op,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs,
                                    const std::string& domain) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_domain(domain);
  for (const std::string& name : inputs) node->add_input(name);
  for (const std::string& name : outputs) node->add_output(name);
  if (!outputs.empty()) node->set_name(outputs[0] + "_node");
  return node;
}

ModelBuilder& ModelBuilder::Quantize(const std::string& x, const std::string& y,
                                     float scale, const TensorData& zero) {
  Constant(y + "_scale", Floats({}, {scale}));
  Constant(y + "_zero", zero);
  Node("QuantizeLinear", {x, y + "_scale", y + "_zero"}, {y});
  return *this;
}

ModelBuilder& ModelBuilder::Dequantize(const std::string& x,
                                       const std::string& y,
                                       const TensorData& scale,
                                       const TensorData& zero) {
  Constant(y + "_scale", scale);
  Constant(y + "_zero", zero);
  auto* node = Node("DequantizeLinear", {x, y + "_scale", y + "_zero"}, {y});
  if (scale.count() > 1) SetInt(node, "axis", 0);
  return *this;
}

void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
  AddAttribute(node, name, onnx::AttributeProto::INT)->set_i(value);
}

void SetFloat(onnx::NodeProto* node, const std::string& name, float value) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT)->set_f(value);
}

void SetInts(onnx::NodeProto* node, const std::string& name,
             const std::vector<int64_t>& values) {
  auto* attribute = AddAttribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

void SetString(onnx::NodeProto* node, const std::string& name,
               const std::string& value) {
  AddAttribute(node, name, onnx::AttributeProto::STRING)->set_s(value);
}

}  // namespace heddle::compiler
