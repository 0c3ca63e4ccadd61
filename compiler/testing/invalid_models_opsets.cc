// SPDX-License-Identifier: Apache-2.0
// Operators in the forms of opsets 18 to 26, and of opsets 1 and 6; the opset
// is a part of the case's name.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

// A model of one node that reads the float "x".
ModelBuilder Model(int opset, const Shape& shape,
                   void (*add)(ModelBuilder* builder)) {
  ModelBuilder b(opset);
  b.Input("x", DataType::kFloat, shape);
  add(&b);
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Movement() {
  return {
      {"Split18",
       [] {
         return Model(18, {2, 7}, [](ModelBuilder* b) {
           auto* node = b->Node("Split", {"x"}, {"y", "z"});
           SetInt(node, "axis", 1);
           SetInt(node, "num_outputs", 2);
         });
       },
       {{"neither parts nor their number", wrong::kValue, Drop("num_outputs")},
        {"another number than there are outputs", wrong::kValue,
         Int("num_outputs", 3)},
        {"no parts", wrong::kValue, Int("num_outputs", 0)},
        {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
        {"an axis without an element for the last part", wrong::kShapes,
         [](onnx::ModelProto* m) {
           Outputs({"y", "z", "u", "v"})(m);
           Int("num_outputs", 4)(m);
           InputShape("x", {2, 5})(m);
         }},
        {"parts by attribute", wrong::kValue, Ints("split", {3, 4})}}},
      {"Pad18",
       [] {
         return Model(18, {2, 3, 4}, [](ModelBuilder* b) {
           b->Constant("p", Int64s({2}, {1, 2}));
           b->Constant("a", Int64s({1}, {-1}));
           SetString(b->Node("Pad", {"x", "p", "", "a"}, {"y"}), "mode",
                     "edge");
         });
       },
       {{"an axis beyond the rank", wrong::kValue,
         Value("a", Int64s({1}, {3}))},
        {"an axis before the first", wrong::kValue,
         Value("a", Int64s({1}, {-4}))},
        {"an axis twice", wrong::kValue,
         [](onnx::ModelProto* m) {
           Value("a", Int64s({2}, {1, -2}))(m);
           Value("p", Int64s({4}, {1, 1, 1, 1}))(m);
         }},
        {"more axes than pads", wrong::kShapes,
         Value("a", Int64s({2}, {0, 1}))},
        {"more pads than axes", wrong::kShapes,
         Value("p", Int64s({4}, {1, 2, 3, 4}))},
        {"axes of float", wrong::kType, Value("a", Floats({1}, {1}))},
        {"the mode of opset 19", wrong::kWord, String("mode", "wrap")},
        {"pads that take more than there is", wrong::kShapes,
         Value("p", Int64s({2}, {-3, -2}))}}},
      {"Pad19",
       [] {
         return Model(19, {2, 3}, [](ModelBuilder* b) {
           b->Constant("p", Int64s({4}, {0, 1, 0, 2}));
           SetString(b->Node("Pad", {"x", "p"}, {"y"}), "mode", "wrap");
         });
       },
       {{"a mode that does not exist", wrong::kWord, String("mode", "turn")},
        {"too few pads", wrong::kShapes, Value("p", Int64s({2}, {1, 2}))},
        {"pads of int32", wrong::kType,
         Value("p", Int32s({4}, {0, 1, 0, 2}))}}},
      {"Resize18",
       [] {
         return Model(18, {1, 1, 4, 6}, [](ModelBuilder* b) {
           b->Constant("s", Int64s({2}, {6, 8}));
           auto* node = b->Node("Resize", {"x", "", "", "s"}, {"y"});
           SetInts(node, "axes", {2, 3});
           SetString(node, "keep_aspect_ratio_policy", "not_larger");
         });
       },
       {{"an axis beyond the rank", wrong::kValue, Ints("axes", {2, 4})},
        {"an axis before the first", wrong::kValue, Ints("axes", {2, -5})},
        {"an axis twice", wrong::kValue, Ints("axes", {2, -2})},
        {"more sizes than axes", wrong::kShapes, Ints("axes", {2})},
        {"more axes than sizes", wrong::kShapes, Ints("axes", {1, 2, 3})},
        {"a policy that does not exist", wrong::kWord,
         String("keep_aspect_ratio_policy", "wider")},
        {"a size of 0", wrong::kShapes, Value("s", Int64s({2}, {6, 0}))},
        {"the coordinates of opset 19", wrong::kWord,
         String("coordinate_transformation_mode", "half_pixel_symmetric")}}},
  };
}

std::vector<OperatorCases> Reductions() {
  std::vector<OperatorCases> all;
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    const std::string name = op;
    all.push_back(
        {name + "18",
         [name] {
           ModelBuilder b(18);
           b.Input("x", DataType::kFloat, {2, 3, 4});
           b.Constant("a", Int64s({1}, {1}));
           SetInt(b.Node(name, {"x", "a"}, {"y"}), "keepdims", 1);
           b.Output("y");
           return b;
         },
         {{"an axis beyond the rank", wrong::kValue,
           Value("a", Int64s({1}, {3}))},
          {"an axis before the first", wrong::kValue,
           Value("a", Int64s({1}, {-4}))},
          {"an axis twice", wrong::kValue, Value("a", Int64s({2}, {1, -2}))},
          {"axes of rank 2", wrong::kShapes, Value("a", Int64s({1, 1}, {1}))},
          {"axes of int32", wrong::kType, Value("a", Int32s({1}, {1}))},
          {"the attribute of opset 17", wrong::kValue, Ints("axes", {1})},
          {"an input of bool", wrong::kType,
           InputType("x", DataType::kBool)}}});
  }
  return all;
}

std::vector<OperatorCases> Quantization() {
  const std::vector<Mutation> both = {
      {"a block of another size", wrong::kShapes, Int("block_size", 4)},
      {"a negative block", wrong::kValue, Int("block_size", -3)},
      {"a scale for no block", wrong::kShapes, Int("block_size", 0)},
      {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
      {"a scale of another shape", wrong::kShapes,
       Value("s", Floats({3, 2}, {1, 1, 1, 1, 1, 1}))},
      {"a zero point of another shape", wrong::kShapes,
       Value("z", MakeData<uint16_t>(DataType::kUint16, {2, 2}, {1, 2, 3, 4}))},
      {"a scale of int32", wrong::kType,
       Value("s", Int32s({2, 3}, {1, 1, 1, 1, 1, 1}))}};
  OperatorCases quantize = {
      "QuantizeLinear21",
      [] {
        return Model(21, {2, 7}, [](ModelBuilder* b) {
          b->Constant("s", Floats({2, 3}, {1, 2, 3, 4, 5, 6}));
          b->Constant("z", MakeData<uint16_t>(DataType::kUint16, {2, 3},
                                              {1, 2, 3, 4, 5, 6}));
          auto* node = b->Node("QuantizeLinear", {"x", "s", "z"}, {"y"});
          SetInt(node, "axis", 1);
          SetInt(node, "block_size", 3);
          SetInt(node, "output_dtype", 4);
        });
      },
      both};
  quantize.own.push_back({"another type than the zero point's", wrong::kValue,
                          Int("output_dtype", 5)});
  quantize.own.push_back(
      {"a type that is no code's", wrong::kType, Int("output_dtype", 1)});
  quantize.own.push_back(
      {"the attribute of opset 23", wrong::kValue, Int("precision", 1)});
  OperatorCases dequantize = {
      "DequantizeLinear21",
      [] {
        ModelBuilder b(21);
        b.Input("x", DataType::kUint16, {2, 7});
        b.Constant("s", Floats({2, 3}, {1, 2, 3, 4, 5, 6}));
        b.Constant("z", MakeData<uint16_t>(DataType::kUint16, {2, 3},
                                           {1, 2, 3, 4, 5, 6}));
        auto* node = b.Node("DequantizeLinear", {"x", "s", "z"}, {"y"});
        SetInt(node, "axis", 1);
        SetInt(node, "block_size", 3);
        b.Output("y");
        return b;
      },
      both};
  dequantize.own.push_back({"another type than the zero point's", wrong::kTypes,
                            InputType("x", DataType::kInt16)});
  dequantize.own.push_back(
      {"the attribute of opset 23", wrong::kValue, Int("output_dtype", 1)});
  return {quantize, dequantize};
}

// Of opsets 24 to 26.
std::vector<OperatorCases> Latest() {
  return {
      {"Cast24",
       [] {
         return Model(24, {2, 3}, [](ModelBuilder* b) {
           auto* node = b->Node("Cast", {"x"}, {"y"});
           SetInt(node, "to", 7);
           SetString(node, "round_mode", "down");
         });
       },
       {{"an unknown round_mode", wrong::kWord,
         String("round_mode", "sideways")},
        {"an exponent of 8 bits", wrong::kType, Int("to", 24)}}},
      {"BitCast26",
       [] {
         return Model(26, {2, 3}, [](ModelBuilder* b) {
           SetInt(b->Node("BitCast", {"x"}, {"y"}), "to", 6);
         });
       },
       {{"no target", wrong::kValue, Drop("to")},
        {"a target of another size", wrong::kValue, Int("to", 7)},
        {"a target without bits", wrong::kType, Int("to", 9)}}},
      {"TensorScatter24",
       [] {
         return Model(24, {2, 5, 3}, [](ModelBuilder* b) {
           b->Constant("u", Floats({2, 1, 3}, {1, 2, 3, 4, 5, 6}));
           b->Constant("at", Int64s({2}, {1, 4}));
           b->Node("TensorScatter", {"x", "u", "at"}, {"y"});
         });
       },
       {{"the axis of the batch", wrong::kValue, Int("axis", 0)},
        {"an unknown mode", wrong::kWord, String("mode", "spiral")},
        {"an update of another width", wrong::kShapes,
         Value("u", Floats({2, 1, 2}, {1, 2, 3, 4}))},
        {"a place too few", wrong::kShapes, Value("at", Int64s({1}, {1}))}}},
      {"Attention24",
       [] {
         return Model(24, {2, 1, 3, 4}, [](ModelBuilder* b) {
           b->Constant("k", Floats({2, 1, 2, 4}, std::vector<float>(16, 1)));
           b->Constant("n", Int64s({2}, {1, 2}));
           b->Node("Attention", {"x", "k", "k", "", "", "", "n"}, {"y"});
         });
       },
       {{"a length too few", wrong::kShapes, Value("n", Int64s({1}, {1}))}}},
  };
}

std::vector<OperatorCases> Old() {
  std::vector<OperatorCases> all;
  for (const char* op : {"Add", "Div", "Mul", "Pow", "Sub"}) {
    const std::string name = op;
    all.push_back(
        {name + "6",
         [name] {
           ModelBuilder b(6);
           b.Input("x", DataType::kFloat, {2, 3, 4});
           b.Input("x2", DataType::kFloat, {3});
           auto* node = b.Node(name, {"x", "x2"}, {"y"});
           SetInt(node, "broadcast", 1);
           SetInt(node, "axis", 1);
           b.Output("y");
           return b;
         },
         {{"an axis beyond the rank", wrong::kShapes, Int("axis", 3)},
          {"an axis before the first", wrong::kShapes, Int("axis", -1)},
          {"the axis of another dimension", wrong::kShapes, Int("axis", 2)},
          {"no axis", wrong::kShapes, Drop("axis")},
          {"no broadcasting", wrong::kShapes, Int("broadcast", 0)},
          {"the shape of no dimension", wrong::kShapes, InputShape("x2", {5})},
          {"a dimension of 1, as numpy has it", wrong::kShapes,
           InputShape("x2", {3, 1})},
          {"consumed_inputs of opset 1", wrong::kValue,
           Ints("consumed_inputs", {0, 0})}}});
  }
  all.push_back(
      {"Reshape1",
       [] {
         return Model(1, {2, 6}, [](ModelBuilder* b) {
           SetInts(b->Node("Reshape", {"x"}, {"y"}), "shape", {3, -1});
         });
       },
       {{"another number of elements", wrong::kShapes, Ints("shape", {5, -1})},
        {"two open dimensions", wrong::kValue, Ints("shape", {-1, -1})},
        {"the input of opset 5", wrong::kValue, [](onnx::ModelProto* m) {
           m->mutable_graph()->mutable_node(0)->add_input("x");
         }}}});
  all.push_back(
      {"Cast1",
       [] {
         return Model(1, {2}, [](ModelBuilder* b) {
           SetString(b->Node("Cast", {"x"}, {"y"}), "to", "INT32");
         });
       },
       {{"no type", wrong::kValue, Drop("to")},
        {"a word that is no type", wrong::kWord, String("to", "WORD")},
        {"the number of opset 6", wrong::kValue, Int("to", 6)}}});
  return all;
}

std::vector<OperatorCases> OpsetCases() {
  std::vector<OperatorCases> all;
  for (auto* family : {Movement, Reductions, Quantization, Latest, Old}) {
    for (OperatorCases& cases : family()) all.push_back(std::move(cases));
  }
  return all;
}

const InvalidModels kOpsets(OpsetCases);

}  // namespace
}  // namespace heddle::compiler
