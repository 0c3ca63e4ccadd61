// SPDX-License-Identifier: Apache-2.0
// Convolutions, matrix products, pooling, normalization.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

TensorData Ones(const Shape& shape) {
  return Floats(shape, std::vector<float>(ElementCount(shape), 1));
}

ModelBuilder Conv() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 8, 8});
  b.Constant("w", Ones({6, 2, 3, 3})).Constant("b", Ones({6}));
  auto* node = b.Node("Conv", {"x", "w", "b"}, {"y"});
  SetInt(node, "group", 2);
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
  SetInts(node, "strides", {2, 2});
  SetInts(node, "dilations", {1, 1});
  b.Output("y");
  return b;
}

ModelBuilder ConvTranspose() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 5, 5});
  b.Constant("w", Ones({4, 3, 3, 3})).Constant("b", Ones({6}));
  auto* node = b.Node("ConvTranspose", {"x", "w", "b"}, {"y"});
  SetInt(node, "group", 2);
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  return b;
}

// Mutations of the window that convolutions and poolings share.
std::vector<Mutation> Window() {
  return {
      {"negative pads", wrong::kValue, Ints("pads", {-1, 1, 1, 1})},
      {"three pads", wrong::kValue, Ints("pads", {1, 1, 1})},
      {"a stride of 0", wrong::kValue, Ints("strides", {0, 1})},
      {"a negative stride", wrong::kValue, Ints("strides", {-1, 1})},
      {"one stride", wrong::kValue, Ints("strides", {1})},
      {"a kernel of 0", wrong::kShapes, Ints("kernel_shape", {0, 3})},
      {"three dimensions of a kernel", wrong::kShapes,
       Ints("kernel_shape", {3, 3, 3})},
      {"unknown auto_pad", wrong::kWord, String("auto_pad", "SOMETIMES")},
      {"an input of rank 1", wrong::kRank, InputShape("x", {4})},
      {"an input of rank 2", wrong::kRank, InputShape("x", {1, 4})},
      {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
  };
}

OperatorCases WithWindow(const std::string& op, ModelBuilder (*valid)(),
                         std::vector<Mutation> own) {
  std::vector<Mutation> all = Window();
  all.insert(all.end(), own.begin(), own.end());
  return {op, valid, all};
}

std::vector<OperatorCases> WithWeights() {
  return {
      WithWindow(
          "Conv", Conv,
          {{"no weights", wrong::kValue, Inputs(1)},
           {"a dilation of 0", wrong::kValue, Ints("dilations", {0, 1})},
           {"group 0", wrong::kValue, Int("group", 0)},
           {"a negative group", wrong::kValue, Int("group", -2)},
           {"a group that does not divide", wrong::kShapes, Int("group", 3)},
           {"weights for other channels", wrong::kShapes,
            Value("w", Ones({6, 3, 3, 3}))},
           {"weights of another kernel", wrong::kShapes,
            Value("w", Ones({6, 2, 5, 5}))},
           {"weights of rank 3", wrong::kShapes, Value("w", Ones({6, 2, 3}))},
           {"a bias for other channels", wrong::kShapes, Value("b", Ones({5}))},
           {"a bias of rank 2", wrong::kShapes, Value("b", Ones({6, 1}))},
           {"integer weights", wrong::kType,
            Value("w", TensorData::Zeros(DataType::kInt32, {6, 2, 3, 3}))},
           {"a kernel beyond the padded input", wrong::kShapes,
            InputShape("x", {1, 4, 0, 8})}}),
      WithWindow(
          "ConvTranspose", ConvTranspose,
          {{"no weights", wrong::kValue, Inputs(1)},
           {"group 0", wrong::kValue, Int("group", 0)},
           {"a group that does not divide", wrong::kShapes, Int("group", 3)},
           {"weights for other channels", wrong::kShapes,
            Value("w", Ones({5, 3, 3, 3}))},
           {"weights of rank 3", wrong::kShapes, Value("w", Ones({4, 3, 3}))},
           {"a bias for other channels", wrong::kShapes, Value("b", Ones({5}))},
           {"a negative output_padding", wrong::kValue,
            Ints("output_padding", {-1, 0})},
           {"one output_padding", wrong::kValue, Ints("output_padding", {1})},
           {"one dimension of output_shape", wrong::kValue,
            Ints("output_shape", {10})}}),
  };
}

ModelBuilder Pool(const char* op) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 8, 8});
  auto* node = b.Node(op, {"x"}, {"y"});
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  return b;
}
ModelBuilder MaxPool() { return Pool("MaxPool"); }
ModelBuilder AveragePool() { return Pool("AveragePool"); }

OperatorCases GlobalPool(const std::string& op) {
  return {op,
          [op] {
            ModelBuilder b;
            b.Input("x", DataType::kFloat, {1, 4, 8, 8});
            b.Node(op, {"x"}, {"y"});
            b.Output("y");
            return b;
          },
          {{"an input of rank 1", wrong::kRank, InputShape("x", {4})},
           {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
           {"a kernel_shape",
            {Rejection::kInvalidModel},
            Ints("kernel_shape", {8, 8})}}};
}

std::vector<OperatorCases> Pools() {
  const Mutation no_kernel = {"no kernel_shape", wrong::kValue,
                              Drop("kernel_shape")};
  return {WithWindow("MaxPool", MaxPool, {no_kernel}),
          WithWindow("AveragePool", AveragePool, {no_kernel}),
          GlobalPool("GlobalAveragePool"), GlobalPool("GlobalMaxPool")};
}

ModelBuilder Gemm() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("w", Ones({4, 3})).Constant("c", Ones({4}));
  auto* node = b.Node("Gemm", {"x", "w", "c"}, {"y"});
  SetInt(node, "transB", 1);
  SetInt(node, "transA", 0);
  SetFloat(node, "alpha", 0.5);
  SetFloat(node, "beta", 2);
  b.Output("y");
  return b;
}

ModelBuilder MatMul() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("w", Ones({3, 4}));
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Products() {
  return {
      {"Gemm",
       Gemm,
       {{"one input", wrong::kValue, Inputs(1)},
        {"inner dimensions that differ", wrong::kShapes,
         Value("w", Ones({4, 5}))},
        {"B the wrong way round", wrong::kShapes, Int("transB", 0)},
        {"A the wrong way round", wrong::kShapes, Int("transA", 1)},
        {"A of rank 3", wrong::kRank, InputShape("x", {1, 2, 3})},
        {"B of rank 1", wrong::kRank, Value("w", Ones({3}))},
        {"C that cannot be broadcast", wrong::kShapes, Value("c", Ones({3}))},
        {"C larger than the result", wrong::kShapes,
         Value("c", Ones({1, 2, 4}))},
        {"A of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"operands of different types", wrong::kTypes,
         Value("w", Int32s({4, 3}, std::vector<int32_t>(12, 1)))}}},
      {"MatMul",
       MatMul,
       {{"one input", wrong::kValue, Inputs(1)},
        {"inner dimensions that differ", wrong::kShapes,
         InputShape("x", {2, 4})},
        {"a scalar", wrong::kRank, InputShape("x", {})},
        {"batches that cannot be broadcast", wrong::kShapes,
         [](onnx::ModelProto* m) {
           InputShape("x", {3, 2, 3})(m);
           Value("w", Ones({2, 3, 4}))(m);
         }},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"operands of different types", wrong::kTypes,
         Value("w", Int32s({3, 4}, std::vector<int32_t>(12, 1)))}}},
  };
}

ModelBuilder BatchNormalization() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 4, 4});
  for (const char* name : {"s", "b", "m", "v"}) b.Constant(name, Ones({3}));
  auto* node = b.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
  SetFloat(node, "epsilon", 1e-3f);
  b.Output("y");
  return b;
}

ModelBuilder InstanceNormalization() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 4, 4});
  b.Constant("s", Ones({3})).Constant("b", Ones({3}));
  auto* node = b.Node("InstanceNormalization", {"x", "s", "b"}, {"y"});
  SetFloat(node, "epsilon", 1e-3f);
  b.Output("y");
  return b;
}

ModelBuilder LayerNormalization() {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Constant("s", Ones({4})).Constant("b", Ones({4}));
  SetInt(b.Node("LayerNormalization", {"x", "s", "b"}, {"y"}), "axis", -1);
  b.Output("y");
  return b;
}

ModelBuilder Lrn() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 4, 4});
  auto* node = b.Node("LRN", {"x"}, {"y"});
  SetInt(node, "size", 3);
  SetFloat(node, "alpha", 1e-3f);
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Normalizations() {
  return {
      {"BatchNormalization",
       BatchNormalization,
       {{"no variance", wrong::kValue, Inputs(4)},
        {"no scale", wrong::kValue, NoInput(1)},
        {"a scale for other channels", wrong::kShapes, Value("s", Ones({4}))},
        {"a bias for other channels", wrong::kShapes, Value("b", Ones({2}))},
        {"a mean of rank 2", wrong::kShapes, Value("m", Ones({3, 1}))},
        {"a variance for other channels", wrong::kShapes,
         Value("v", Ones({1}))},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"integer scale", wrong::kType, Value("s", Int32s({3}, {1, 1, 1}))}}},
      {"InstanceNormalization",
       InstanceNormalization,
       {{"no bias", wrong::kValue, Inputs(2)},
        {"a scale for other channels", wrong::kShapes, Value("s", Ones({4}))},
        {"a bias for other channels", wrong::kShapes, Value("b", Ones({2}))},
        {"a scale of rank 2", wrong::kShapes, Value("s", Ones({3, 1}))},
        {"an input of rank 1", wrong::kRank, InputShape("x", {3})},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"integer bias", wrong::kType, Value("b", Int32s({3}, {1, 1, 1}))}}},
      {"LayerNormalization",
       LayerNormalization,
       {{"no scale", wrong::kValue, Inputs(1)},
        {"a scale for other rows", wrong::kRank, Value("s", Ones({3}))},
        {"a bias for other rows", wrong::kRank, Value("b", Ones({5}))},
        {"an axis beyond the rank", wrong::kValue, Int("axis", 3)},
        {"an axis before the rank", wrong::kValue, Int("axis", -4)},
        {"half-precision statistics", wrong::kWord, Int("stash_type", 10)},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"integer bias", wrong::kType, Value("b", Int32s({4}, {1, 1, 1, 1}))}}},
      {"LRN",
       Lrn,
       {{"no size", wrong::kValue, Drop("size")},
        {"size 0", wrong::kValue, Int("size", 0)},
        {"a negative size", wrong::kValue, Int("size", -3)},
        {"an input of rank 1", wrong::kRank, InputShape("x", {3})},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)}}},
  };
}

std::vector<OperatorCases> ConvolutionCases() {
  std::vector<OperatorCases> all;
  for (const auto& part :
       {WithWeights(), Pools(), Products(), Normalizations()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

const InvalidModels kConvolution(ConvolutionCases);

}  // namespace
}  // namespace heddle::compiler
