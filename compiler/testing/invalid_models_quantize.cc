// SPDX-License-Identifier: Apache-2.0
// Quantized arithmetic.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

TensorData Bytes(const Shape& shape) {
  return Uint8s(shape, std::vector<uint8_t>(ElementCount(shape), 3));
}
TensorData Scale(const Shape& shape) {
  return Floats(shape, std::vector<float>(ElementCount(shape), 0.5f));
}

ModelBuilder Quantize() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("s", Scale({3})).Constant("z", Bytes({3}));
  SetInt(b.Node("QuantizeLinear", {"x", "s", "z"}, {"y"}), "axis", 1);
  b.Output("y");
  return b;
}

ModelBuilder Dequantize() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {2, 3});
  b.Constant("s", Scale({3})).Constant("z", Bytes({3}));
  SetInt(b.Node("DequantizeLinear", {"x", "s", "z"}, {"y"}), "axis", 1);
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Linear() {
  const std::vector<Mutation> both = {
      {"no scale", wrong::kValue, Inputs(1)},
      {"an absent scale", wrong::kValue, NoInput(1)},
      {"an integer scale", wrong::kType, Value("s", Int32s({3}, {1, 1, 1}))},
      {"a scale of other length", wrong::kShapes, Value("s", Scale({4}))},
      {"a zero point of other length", wrong::kShapes, Value("z", Bytes({4}))},
      {"a scalar zero point", wrong::kShapes, Value("z", Bytes({}))},
      {"a scale of rank 2", wrong::kShapes, Value("s", Scale({1, 3}))},
      {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
      {"an axis before the first", wrong::kValue, Int("axis", -3)},
      {"an axis of other length", wrong::kShapes, Int("axis", 0)},
      {"an input of bool", wrong::kType, InputType("x", DataType::kBool)}};
  std::vector<OperatorCases> cases = {{"QuantizeLinear", Quantize, both},
                                      {"DequantizeLinear", Dequantize, both}};
  cases[0].own.push_back({"a zero point of float", wrong::kType,
                          Value("z", Floats({3}, {1, 1, 1}))});
  cases[1].own.push_back({"a zero point of another type", wrong::kTypes,
                          Value("z", Int8s({3}, {1, 1, 1}))});
  cases[1].own.push_back({"a scale of 0.5 for floats", wrong::kType,
                          InputType("x", DataType::kFloat)});
  return cases;
}

ModelBuilder Dynamic() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"});
  b.Output("y");
  return b;
}

ModelBuilder QLinearConv() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {1, 4, 8, 8});
  b.Constant("xs", Scale({})).Constant("xz", Bytes({}));
  b.Constant("w", Bytes({6, 2, 3, 3}));
  b.Constant("ws", Scale({6})).Constant("wz", Bytes({6}));
  b.Constant("ys", Scale({})).Constant("yz", Bytes({}));
  b.Constant("b", Int32s({6}, std::vector<int32_t>(6, 7)));
  auto* node =
      b.Node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"},
             {"y"});
  SetInt(node, "group", 2);
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  return b;
}

ModelBuilder ConvInteger() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {1, 4, 8, 8});
  b.Constant("w", Bytes({6, 2, 3, 3}));
  b.Constant("xz", Bytes({})).Constant("wz", Bytes({}));
  auto* node = b.Node("ConvInteger", {"x", "w", "xz", "wz"}, {"y"});
  SetInt(node, "group", 2);
  SetInts(node, "pads", {1, 1, 1, 1});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  return b;
}

std::vector<Mutation> ConvMutations() {
  return {
      {"negative pads", wrong::kValue, Ints("pads", {-1, 1, 1, 1})},
      {"three pads", wrong::kValue, Ints("pads", {1, 1, 1})},
      {"a stride of 0", wrong::kValue, Ints("strides", {0, 1})},
      {"group 0", wrong::kValue, Int("group", 0)},
      {"a group that does not divide", wrong::kShapes, Int("group", 3)},
      {"unknown auto_pad", wrong::kWord, String("auto_pad", "SOMETIMES")},
      {"weights for other channels", wrong::kShapes,
       Value("w", Bytes({6, 3, 3, 3}))},
      {"weights of rank 3", wrong::kShapes, Value("w", Bytes({6, 2, 3}))},
      {"weights of float", wrong::kType, Value("w", Scale({6, 2, 3, 3}))},
      {"an input of rank 1", wrong::kRank, InputShape("x", {4})},
      {"an input of float", wrong::kType, InputType("x", DataType::kFloat)},
  };
}

ModelBuilder QLinearMatMul() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {2, 3});
  b.Constant("xs", Scale({})).Constant("xz", Bytes({}));
  b.Constant("w", Bytes({3, 4}));
  b.Constant("ws", Scale({})).Constant("wz", Bytes({}));
  b.Constant("ys", Scale({})).Constant("yz", Bytes({}));
  b.Node("QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"},
         {"y"});
  b.Output("y");
  return b;
}

ModelBuilder MatMulInteger() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {2, 3});
  b.Constant("w", Bytes({3, 4}));
  b.Constant("xz", Bytes({})).Constant("wz", Bytes({}));
  b.Node("MatMulInteger", {"x", "w", "xz", "wz"}, {"y"});
  b.Output("y");
  return b;
}

std::vector<Mutation> QLinearMutations() {
  return {
      {"no output zero point", wrong::kValue, Inputs(7)},
      {"an absent scale of the output", wrong::kValue, NoInput(6)},
      {"an absent zero point of the input", wrong::kValue, NoInput(2)},
      {"an integer scale", wrong::kType, Value("xs", Int32s({}, {1}))},
      {"a zero point of another type than the input", wrong::kTypes,
       Value("xz", Int8s({}, {1}))},
      {"a zero point of another type than the weights", wrong::kTypes,
       Value("wz", Int8s({}, {1}))},
      {"a zero point of float", wrong::kType, Value("yz", Floats({}, {1}))},
      {"a scale of the output with two elements", wrong::kShapes,
       Value("ys", Scale({2}))},
      {"scales of weights of other length", wrong::kShapes,
       Value("ws", Scale({5}))},
  };
}

std::vector<OperatorCases> QuantizationCases() {
  std::vector<OperatorCases> all = Linear();
  all.push_back(
      {"DynamicQuantizeLinear",
       Dynamic,
       {{"an integer input", wrong::kType, InputType("x", DataType::kInt32)},
        {"an axis", {Rejection::kInvalidModel}, Int("axis", 0)}}});

  OperatorCases conv = {"QLinearConv", QLinearConv, ConvMutations()};
  for (const Mutation& m : QLinearMutations()) conv.own.push_back(m);
  conv.own.push_back({"a float bias", wrong::kType,
                      Value("b", Floats({6}, std::vector<float>(6, 1)))});
  conv.own.push_back({"a bias for other channels", wrong::kShapes,
                      Value("b", Int32s({5}, std::vector<int32_t>(5, 7)))});
  all.push_back(conv);

  OperatorCases integer = {"ConvInteger", ConvInteger, ConvMutations()};
  integer.own.push_back({"no weights", wrong::kValue, Inputs(1)});
  integer.own.push_back({"a zero point of another type", wrong::kTypes,
                         Value("xz", Int8s({}, {1}))});
  integer.own.push_back({"a zero point of the input per channel",
                         wrong::kShapes, Value("xz", Bytes({4}))});
  all.push_back(integer);

  OperatorCases product = {"QLinearMatMul", QLinearMatMul, QLinearMutations()};
  product.own.push_back({"inner dimensions that differ", wrong::kShapes,
                         InputShape("x", {2, 4})});
  product.own.push_back({"a scalar", wrong::kRank, InputShape("x", {})});
  product.own.push_back(
      {"an input of float", wrong::kType, InputType("x", DataType::kFloat)});
  all.push_back(product);

  all.push_back(
      {"MatMulInteger",
       MatMulInteger,
       {{"one operand", wrong::kValue, Inputs(1)},
        {"inner dimensions that differ", wrong::kShapes,
         InputShape("x", {2, 4})},
        {"a scalar", wrong::kRank, InputShape("x", {})},
        {"an input of float", wrong::kType, InputType("x", DataType::kFloat)},
        {"weights of float", wrong::kType, Value("w", Scale({3, 4}))},
        {"a zero point of another type", wrong::kTypes,
         Value("wz", Int8s({}, {1}))},
        {"zero points of other length", wrong::kShapes,
         Value("wz", Bytes({3}))}}});
  return all;
}

const InvalidModels kQuantization(QuantizationCases);

}  // namespace
}  // namespace heddle::compiler
