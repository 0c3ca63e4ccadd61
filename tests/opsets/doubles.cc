// SPDX-License-Identifier: Apache-2.0
#include "tests/opsets/doubles.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

constexpr int kFloat = onnx::TensorProto::FLOAT;
constexpr int kDouble = onnx::TensorProto::DOUBLE;

std::vector<float> FloatsOf(const onnx::TensorProto& tensor) {
  if (!tensor.has_raw_data()) {
    return {tensor.float_data().begin(), tensor.float_data().end()};
  }
  std::vector<float> values(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(),
              tensor.raw_data().size());
  return values;
}

void Widen(onnx::TensorProto* tensor) {
  if (tensor->data_type() != kFloat) return;
  const std::vector<float> values = FloatsOf(*tensor);
  tensor->clear_raw_data();
  tensor->clear_float_data();
  tensor->set_data_type(kDouble);
  for (float v : values) tensor->add_double_data(v);
}

// Tensors that are of float whatever the others are.
std::set<std::string> AlwaysFloat(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Resize" && node.op_type() != "Upsample") continue;
    for (int i = 1; i < node.input_size(); ++i) names.insert(node.input(i));
  }
  return names;
}

}  // namespace

OpsetCase WithDoubles(const OpsetCase& c) {
  onnx::ModelProto model;
  if (c.model.empty() || !model.ParseFromString(c.model)) return {};
  onnx::GraphProto* graph = model.mutable_graph();
  const std::set<std::string> keep = AlwaysFloat(*graph);
  OpsetCase result = c;
  bool any = false;
  for (size_t i = 0; i < c.values.size(); ++i) {
    const TensorData& from = c.values[i];
    if (from.type == DataType::kFloat16) return {};
    if (from.type != DataType::kFloat || keep.count(c.inputs[i]) != 0) continue;
    any = true;
    TensorData to = TensorData::Zeros(DataType::kDouble, from.shape);
    for (int64_t k = 0; k < from.count(); ++k) {
      to.as<double>()[k] = from.as<float>()[k];
    }
    result.values[i] = to;
  }
  if (!any) return {};
  for (auto& input : *graph->mutable_input()) {
    auto* type = input.mutable_type()->mutable_tensor_type();
    if (type->elem_type() == kFloat && keep.count(input.name()) == 0) {
      type->set_elem_type(kDouble);
    }
  }
  for (auto& output : *graph->mutable_output()) output.clear_type();
  graph->clear_value_info();
  for (auto& tensor : *graph->mutable_initializer()) {
    if (keep.count(tensor.name()) == 0) Widen(&tensor);
  }
  for (auto& node : *graph->mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) Widen(attribute.mutable_t());
      if (node.op_type() == "Cast" && attribute.name() == "to" &&
          attribute.i() == kFloat) {
        attribute.set_i(kDouble);
      }
    }
  }
  result.model = model.SerializeAsString();
  return result;
}

}  // namespace heddle::tests
