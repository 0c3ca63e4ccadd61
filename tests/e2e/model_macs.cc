// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/model_macs.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <stdexcept>

namespace heddle::tests {
namespace {

using Shape = std::vector<int64_t>;

std::map<std::string, Shape> ShapesOf(const onnx::GraphProto& graph) {
  std::map<std::string, Shape> shapes;
  const auto add = [&shapes](const onnx::ValueInfoProto& value) {
    if (!value.type().tensor_type().has_shape()) return;
    Shape& shape = shapes[value.name()];
    shape.clear();
    for (const auto& dim : value.type().tensor_type().shape().dim()) {
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
    }
  };
  for (const auto& value : graph.value_info()) add(value);
  for (const auto& value : graph.input()) add(value);
  for (const auto& value : graph.output()) add(value);
  for (const auto& tensor : graph.initializer()) {
    shapes[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
  }
  return shapes;
}

uint64_t Product(const Shape& shape, size_t from = 0) {
  uint64_t product = 1;
  for (size_t i = from; i < shape.size(); ++i) product *= shape[i];
  return product;
}

void SetShape(onnx::ValueInfoProto* value, const Shape& shape) {
  auto* proto = value->mutable_type()->mutable_tensor_type()->mutable_shape();
  proto->clear_dim();
  for (const int64_t dimension : shape) {
    proto->add_dim()->set_dim_value(dimension);
  }
}

// Index of the input with the weights or the right operand; -1 for others.
int RightOperand(const std::string& op) {
  if (op == "Conv" || op == "MatMul" || op == "Gemm") return 1;
  if (op == "MatMulInteger" || op == "ConvInteger") return 1;
  if (op == "QLinearConv" || op == "QLinearMatMul" || op == "QGemm") return 3;
  return -1;
}

bool Transposed(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "transB") return attribute.i() != 0;
  }
  return false;
}

}  // namespace

std::map<std::string, uint64_t> NodeMacs(
    const std::string& bytes, const std::map<std::string, Shape>& inputs) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) throw std::runtime_error("not a model");
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    const auto given = inputs.find(input.name());
    if (given != inputs.end()) SetShape(&input, given->second);
  }
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    // What is declared there may not fit the shapes given.
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  onnx::shape_inference::InferShapes(model);
  const std::map<std::string, Shape> shapes = ShapesOf(model.graph());
  std::map<std::string, uint64_t> all;
  std::map<std::string, int> numbers;
  for (const auto& node : model.graph().node()) {
    const std::string number = std::to_string(numbers[node.op_type()]++);
    uint64_t& macs =
        all[node.name().empty() ? node.op_type() + "_" + number : node.name()];
    const int right = RightOperand(node.op_type());
    if (right < 0 || right >= node.input_size()) continue;
    const auto weights = shapes.find(node.input(right));
    const auto output = shapes.find(node.output(0));
    if (weights == shapes.end()) continue;
    const Shape& w = weights->second;
    const bool convolution = node.op_type().find("Conv") != std::string::npos;
    if (convolution) {
      // Each output element needs one kernel of one output channel.
      if (output != shapes.end()) {
        macs += Product(output->second) * Product(w, 1);
      }
    } else if (output != shapes.end() && w.size() >= 2) {
      macs += Product(output->second) *
              (Transposed(node) ? w.back() : w[w.size() - 2]);
    } else {
      macs += Product(w);  // at least one row
    }
  }
  return all;
}

uint64_t ModelMacs(const std::string& model,
                   const std::map<std::string, Shape>& inputs) {
  uint64_t macs = 0;
  for (const auto& [name, of_node] : NodeMacs(model, inputs)) macs += of_node;
  return macs;
}

}  // namespace heddle::tests
