// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/form_writer.h"

#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::compiler {

Node FormWriter::Make(const char* op, int opset, std::vector<TensorId> inputs,
                      Attributes attributes) const {
  Node node;
  node.op = op;
  node.name = node_.name;
  node.opset = opset;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.sources = node_.sources;
  return node;
}

TensorId FormWriter::Temporary() {
  // (a computed tensor without a type; inference gives it one)
  std::string hint = node_.name;
  for (TensorId id : node_.outputs) {
    if (id != kNoTensor) hint = graph_->tensors[id].name;
  }
  const TensorId id =
      graph_->AddTemporary(hint + "/form", DataType::kUndefined, {});
  graph_->tensors[id].shape_known = false;
  return id;
}

TensorId FormWriter::Add(const char* op, int opset,
                         std::vector<TensorId> inputs, Attributes attributes) {
  Node node = Make(op, opset, std::move(inputs), std::move(attributes));
  absl::StrAppend(&node.name, "/", op);
  const TensorId id = Temporary();
  node.outputs = {id};
  nodes_.push_back(std::move(node));
  return id;
}

TensorId FormWriter::Constant(TensorData data) {
  const TensorId id = Temporary();
  Tensor& tensor = graph_->tensors[id];
  tensor.type = data.type;
  tensor.shape = data.shape;
  tensor.shape_known = true;
  tensor.constant = std::make_shared<const TensorData>(std::move(data));
  return id;
}

TensorId FormWriter::Ints(const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64,
                                      {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) data.as<int64_t>()[i] = values[i];
  return Constant(std::move(data));
}

TensorId FormWriter::Int32(int32_t value) {
  TensorData data = TensorData::Zeros(DataType::kInt32, {});
  data.as<int32_t>()[0] = value;
  return Constant(std::move(data));
}

TensorId FormWriter::Float(float value) {
  TensorData data = TensorData::Zeros(DataType::kFloat, {});
  data.as<float>()[0] = value;
  return Constant(std::move(data));
}

std::vector<Node> FormWriter::Finish(const char* op, int opset,
                                     std::vector<TensorId> inputs,
                                     Attributes attributes) {
  Node node = Make(op, opset, std::move(inputs), std::move(attributes));
  node.outputs = node_.outputs;
  nodes_.push_back(std::move(node));
  return std::move(nodes_);
}

}  // namespace heddle::compiler
