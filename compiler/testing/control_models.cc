// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/control_models.h"

#include "compiler/testing/card_case.h"

namespace heddle::compiler {

onnx::GraphProto* AddGraph(onnx::NodeProto* node, const std::string& name) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return attribute->mutable_g();
}

onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  auto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& name : inputs) node->add_input(name);
  for (const std::string& name : outputs) node->add_output(name);
  return node;
}

void AddConstant(onnx::GraphProto* graph, const std::string& name,
                 const TensorData& data) {
  auto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(static_cast<int>(data.type));
  for (int64_t d : data.shape) tensor->add_dims(d);
  tensor->set_raw_data(data.bytes.data(), data.bytes.size());
}

void Declare(onnx::ValueInfoProto* info, const std::string& name, DataType type,
             bool number) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type));
  if (number) tensor->mutable_shape();
}

TensorData Bool(bool value) {
  TensorData data = TensorData::Zeros(DataType::kBool, {});
  data.bytes[0] = value;
  return data;
}

ModelBuilder ChosenModel() {
  ModelBuilder b;
  b.Input("flag", DataType::kBool, {});
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("b", Floats({3}, {0.5f, -1, 2}));
  auto* node = b.Node("If", {"flag"}, {"y"});
  node->set_name("choice");
  auto* taken = AddGraph(node, "then_branch");
  AddConstant(taken, "w", RandomData(DataType::kFloat, {3, 3}, 1));
  AddNode(taken, "Relu", {"x"}, {"r"});
  AddNode(taken, "MatMul", {"r", "w"}, {"m"});
  AddNode(taken, "Add", {"m", "b"}, {"then"});
  Declare(taken->add_output(), "then", DataType::kFloat);
  auto* other = AddGraph(node, "else_branch");
  AddNode(other, "Sub", {"x", "b"}, {"else"});
  Declare(other->add_output(), "else", DataType::kFloat);
  b.Output("y", DataType::kFloat, {2, 3});
  return b;
}

ModelBuilder RepeatedModel() {
  ModelBuilder b;
  b.Input("most", DataType::kInt64, {});
  b.Input("limit", DataType::kFloat, {});
  b.Input("v", DataType::kFloat, {2, 3});
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("zero", Int64s({}, {0}));
  auto* node = b.Node("Loop", {"most", "", "v", "zero"}, {"y", "n"});
  node->set_name("repeat");
  auto* body = AddGraph(node, "body");
  Declare(body->add_input(), "i", DataType::kInt64, true);
  Declare(body->add_input(), "c", DataType::kBool, true);
  Declare(body->add_input(), "now", DataType::kFloat);
  Declare(body->add_input(), "count", DataType::kInt64, true);
  AddConstant(body, "half", Floats({}, {0.5f}));
  AddConstant(body, "one", Int64s({}, {1}));
  AddNode(body, "Mul", {"now", "half"}, {"less"});
  AddNode(body, "Add", {"less", "x"}, {"next"});
  SetInt(AddNode(body, "ReduceSum", {"next"}, {"sum"}), "keepdims", 0);
  AddNode(body, "Less", {"sum", "limit"}, {"on"});
  AddNode(body, "Add", {"count", "one"}, {"counted"});
  Declare(body->add_output(), "on", DataType::kBool, true);
  Declare(body->add_output(), "next", DataType::kFloat);
  Declare(body->add_output(), "counted", DataType::kInt64, true);
  b.Output("y", DataType::kFloat, {2, 3});
  b.Output("n", DataType::kInt64, {});
  return b;
}

ModelBuilder DecoderModel(int64_t length) {
  constexpr int64_t kWords = 11, kWide = 8;
  ModelBuilder b;
  b.Input("first", DataType::kInt64, {1});
  b.Input("h", DataType::kFloat, {1, kWide});
  b.Constant("words", RandomData(DataType::kFloat, {kWords, kWide}, 21));
  b.Constant("w", RandomData(DataType::kFloat, {kWide, kWide}, 22, -1, 1));
  b.Constant("u", RandomData(DataType::kFloat, {kWide, kWords}, 23, -1, 1));
  b.Constant("buffer", Int64s({length}, std::vector<int64_t>(
                                            static_cast<size_t>(length), 0)));
  b.Constant("zero", Int64s({}, {0}));
  b.Constant("length", Int64s({}, {length}));
  auto* node = b.Node("Loop", {"length", "", "first", "h", "buffer", "zero"},
                      {"last", "state", "tokens", "count"});
  node->set_name("decode");
  auto* body = AddGraph(node, "body");
  Declare(body->add_input(), "i", DataType::kInt64, true);
  Declare(body->add_input(), "c", DataType::kBool, true);
  Declare(body->add_input(), "token", DataType::kInt64);
  Declare(body->add_input(), "now", DataType::kFloat);
  Declare(body->add_input(), "said", DataType::kInt64);
  Declare(body->add_input(), "many", DataType::kInt64, true);
  AddConstant(body, "one", Int64s({}, {1}));
  AddConstant(body, "end", Int64s({1}, {3}));
  AddConstant(body, "flat", Int64s({1}, {-1}));
  AddConstant(body, "column", Int64s({2}, {1, 1}));
  AddNode(body, "Gather", {"words", "token"}, {"word"});
  AddNode(body, "MatMul", {"now", "w"}, {"turned"});
  AddNode(body, "Add", {"turned", "word"}, {"sum"});
  AddNode(body, "Tanh", {"sum"}, {"next"});
  AddNode(body, "MatMul", {"next", "u"}, {"logits"});
  auto* arg = AddNode(body, "ArgMax", {"logits"}, {"best"});
  SetInt(arg, "axis", 1);
  SetInt(arg, "keepdims", 0);
  AddNode(body, "Reshape", {"i", "column"}, {"place"});
  AddNode(body, "ScatterND", {"said", "place", "best"}, {"saying"});
  AddNode(body, "Equal", {"best", "end"}, {"over"});
  AddNode(body, "Not", {"over"}, {"on"});
  AddNode(body, "Add", {"many", "one"}, {"more"});
  Declare(body->add_output(), "on", DataType::kBool);
  Declare(body->add_output(), "best", DataType::kInt64);
  Declare(body->add_output(), "next", DataType::kFloat);
  Declare(body->add_output(), "saying", DataType::kInt64);
  Declare(body->add_output(), "more", DataType::kInt64, true);
  b.Output("tokens", DataType::kInt64, {length});
  b.Output("count", DataType::kInt64, {});
  return b;
}

}  // namespace heddle::compiler
