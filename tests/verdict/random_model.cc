// SPDX-License-Identifier: Apache-2.0
#include "tests/verdict/random_model.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace heddle::tests {
namespace {

using compiler::kNoTensor;
using compiler::Tensor;
using compiler::TensorData;
using compiler::TensorId;

// Tensors of the generator may have no names.
std::string NameOf(const compiler::Graph& graph, TensorId id) {
  return id == kNoTensor ? ""
                         : graph.tensors[id].name + "." + std::to_string(id);
}

void Fill(const TensorData& data, onnx::TensorProto* proto) {
  proto->set_data_type(static_cast<int>(data.type));
  for (int64_t dim : data.shape) proto->add_dims(dim);
  proto->set_raw_data(data.bytes.data(), data.bytes.size());
}

void Fill(const compiler::Graph& graph, TensorId id,
          onnx::ValueInfoProto* proto) {
  const Tensor& tensor = graph.tensors[id];
  proto->set_name(NameOf(graph, id));
  auto* type = proto->mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(tensor.type));
  type->mutable_shape();
  for (int64_t dim : tensor.shape) {
    type->mutable_shape()->add_dim()->set_dim_value(dim);
  }
}

struct AttributeWriter {
  onnx::AttributeProto* proto;
  void operator()(int64_t value) const {
    proto->set_type(onnx::AttributeProto::INT);
    proto->set_i(value);
  }
  void operator()(float value) const {
    proto->set_type(onnx::AttributeProto::FLOAT);
    proto->set_f(value);
  }
  void operator()(const std::string& value) const {
    proto->set_type(onnx::AttributeProto::STRING);
    proto->set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) proto->add_ints(value);
  }
  void operator()(const std::vector<float>& values) const {
    proto->set_type(onnx::AttributeProto::FLOATS);
    for (float value : values) proto->add_floats(value);
  }
  void operator()(const std::vector<std::string>& values) const {
    proto->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) proto->add_strings(value);
  }
  void operator()(const std::shared_ptr<const TensorData>& value) const {
    proto->set_type(onnx::AttributeProto::TENSOR);
    Fill(*value, proto->mutable_t());
  }
  // Only passes make nodes that have one.
  void operator()(const std::shared_ptr<const compiler::Graph>&) const {}
};

}  // namespace

onnx::ModelProto ToModel(const compiler::RandomGraph& random) {
  const compiler::Graph& graph = random.graph;
  onnx::ModelProto model;
  model.set_ir_version(8);
  int opset = 13;
  auto* proto = model.mutable_graph();
  proto->set_name("random");
  for (TensorId id : graph.inputs) Fill(graph, id, proto->add_input());
  for (TensorId id : graph.outputs) Fill(graph, id, proto->add_output());
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    if (!graph.tensors[id].is_constant()) continue;
    auto* initializer = proto->add_initializer();
    initializer->set_name(NameOf(graph, static_cast<TensorId>(id)));
    Fill(*graph.tensors[id].constant, initializer);
  }
  for (const compiler::Node& node : graph.nodes) {
    auto* to = proto->add_node();
    to->set_op_type(node.op);
    to->set_domain(node.domain);
    if (node.domain.empty()) opset = node.opset;
    for (TensorId id : node.inputs) to->add_input(NameOf(graph, id));
    for (TensorId id : node.outputs) to->add_output(NameOf(graph, id));
    for (const auto& [name, value] : node.attributes) {
      auto* attribute = to->add_attribute();
      attribute->set_name(name);
      std::visit(AttributeWriter{attribute}, value);
    }
  }
  model.add_opset_import()->set_version(opset);
  auto* microsoft = model.add_opset_import();
  microsoft->set_domain("com.microsoft");
  microsoft->set_version(1);
  return model;
}

}  // namespace heddle::tests
