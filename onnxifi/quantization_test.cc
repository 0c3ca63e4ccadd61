// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/quantization.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <vector>

#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

void AddNode(const std::string& op, const std::vector<std::string>& inputs,
             const std::string& output, onnx::GraphProto* graph) {
  auto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
}

void AddFloats(const std::string& name, const std::vector<float>& values,
               onnx::GraphProto* graph) {
  auto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  if (values.size() > 1) tensor->add_dims(static_cast<int64_t>(values.size()));
  for (float value : values) tensor->add_float_data(value);
}

// x and w are codes that come in, y codes that go out.
onnx::GraphProto Graph() {
  onnx::GraphProto graph;
  graph.add_input()->set_name("x");
  graph.add_input()->set_name("w");
  graph.add_output()->set_name("y");
  AddNode("DequantizeLinear", {"x", "xs", "xz"}, "xf", &graph);
  AddNode("DequantizeLinear", {"w", "ws"}, "wf", &graph);
  AddNode("MatMul", {"xf", "wf"}, "yf", &graph);
  AddNode("QuantizeLinear", {"yf", "ys", "xz"}, "y", &graph);
  AddFloats("xs", {0.5f}, &graph);
  AddFloats("ws", {0.25f, 0.5f, 1, 2}, &graph);
  AddFloats("ys", {2}, &graph);
  auto* zero = graph.add_initializer();
  zero->set_name("xz");
  zero->set_data_type(onnx::TensorProto::UINT8);
  zero->set_raw_data(std::string(1, 3));
  return graph;
}

onnxStatus Check(const char* name, const std::vector<float>& scales,
                 const std::vector<int32_t>& biases, uint32_t axis,
                 const compiler::Shape& shape) {
  Descriptor descriptor;
  descriptor.name = name;
  descriptor.quantization_params = scales.size();
  descriptor.quantization_axis = axis;
  descriptor.scales = scales.data();
  descriptor.biases = biases.data();
  return CodeOf(CheckAgreement(ReadQuantization(Graph()), descriptor, shape));
}

constexpr onnxStatus kMismatch = ONNXIFI_STATUS_MISMATCHING_DATATYPE;

TEST(Quantization, OneScale) {
  EXPECT_EQ(Check("x", {0.5f}, {3}, 0, {1, 8}), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(Check("x", {0.25f}, {3}, 0, {1, 8}), kMismatch);
  EXPECT_EQ(Check("x", {0.5f}, {0}, 0, {1, 8}), kMismatch);
  EXPECT_EQ(Check("x", {0.5f, 0.5f}, {3, 3}, 1, {1, 8}),
            ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(Check("x", {0.5f, 1}, {3, 3}, 1, {1, 8}), kMismatch);
  EXPECT_EQ(Check("y", {2}, {3}, 0, {1, 4}), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(Check("y", {1}, {3}, 0, {1, 4}), kMismatch);
}

TEST(Quantization, ScalesAlongAnAxis) {
  const compiler::Shape shape = {8, 4};
  EXPECT_EQ(Check("w", {0.25f, 0.5f, 1, 2}, {0, 0, 0, 0}, 1, shape),
            ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(Check("w", {0.25f, 0.5f, 2, 1}, {0, 0, 0, 0}, 1, shape), kMismatch);
  EXPECT_EQ(Check("w", {0.25f, 0.5f, 1, 2}, {0, 0, 0, 1}, 1, shape), kMismatch);
  EXPECT_EQ(Check("w", {0.25f, 0.5f, 1, 2}, {0, 0, 0, 0}, 0, shape), kMismatch);
  EXPECT_EQ(Check("w", {0.25f}, {0}, 0, shape), kMismatch);
}

TEST(Quantization, WhereNothingIsSaid) {
  EXPECT_EQ(Check("x", {}, {}, 0, {1, 8}), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(Check("z", {7}, {7}, 0, {1, 8}), ONNXIFI_STATUS_SUCCESS);
}

TEST(Quantization, ScalesGivenAsWeights) {
  onnx::GraphProto graph = Graph();
  graph.clear_initializer();
  QuantizationModel model = ReadQuantization(graph);
  const float scale = 1, right = 0.5f;
  const int32_t bias = 3;
  Descriptor descriptor;
  descriptor.name = "x";
  descriptor.quantization_params = 1;
  descriptor.scales = &scale;
  descriptor.biases = &bias;
  EXPECT_TRUE(CheckAgreement(model, descriptor, {1, 8}).ok());
  compiler::TensorData data =
      compiler::TensorData::Zeros(compiler::DataType::kFloat, {});
  data.as<float>()[0] = right;
  model.AddValues({{"xs", data}});
  EXPECT_EQ(CodeOf(CheckAgreement(model, descriptor, {1, 8})), kMismatch);
  descriptor.scales = &right;
  EXPECT_TRUE(CheckAgreement(model, descriptor, {1, 8}).ok());
}

}  // namespace
}  // namespace heddle::onnxifi
