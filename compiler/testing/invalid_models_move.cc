// SPDX-License-Identifier: Apache-2.0
// Operators that move, repeat or select elements.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

using Setup = std::function<void(ModelBuilder*)>;

// A float "x" of this shape; `setup` adds constants and the node.
std::function<ModelBuilder()> On(const Shape& shape, const Setup& setup,
                                 int opset = 13) {
  return [=] {
    ModelBuilder b(opset);
    b.Input("x", DataType::kFloat, shape);
    setup(&b);
    b.Output("y");
    return b;
  };
}

std::vector<OperatorCases> Joining() {
  return {
      {"Concat",
       On({2, 3},
          [](ModelBuilder* b) {
            b->Input("x2", DataType::kFloat, {2, 4});
            SetInt(b->Node("Concat", {"x", "x2"}, {"y"}), "axis", 1);
          }),
       {{"no axis", wrong::kValue, Drop("axis")},
        {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
        {"an axis before the first", wrong::kValue, Int("axis", -3)},
        {"other dimensions that differ", wrong::kShapes,
         InputShape("x2", {3, 4})},
        {"ranks that differ", wrong::kShapes, InputShape("x2", {2, 4, 1})},
        {"types that differ", wrong::kTypes, InputType("x2", DataType::kInt32)},
        {"an absent operand", wrong::kValue, NoInput(1)}},
       true},
      {"Split",
       On({2, 6},
          [](ModelBuilder* b) {
            b->Constant("p", Int64s({2}, {2, 4}));
            SetInt(b->Node("Split", {"x", "p"}, {"y", "z"}), "axis", 1);
          }),
       {{"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
        {"an axis before the first", wrong::kValue, Int("axis", -3)},
        {"parts that are too long", wrong::kShapes,
         Value("p", Int64s({2}, {2, 5}))},
        {"parts that are too short", wrong::kShapes,
         Value("p", Int64s({2}, {2, 3}))},
        {"a negative part", wrong::kShapes, Value("p", Int64s({2}, {-2, 8}))},
        {"three parts for two outputs", wrong::kShapes,
         Value("p", Int64s({3}, {2, 2, 2}))},
        {"parts of rank 2", wrong::kShapes, Value("p", Int64s({2, 1}, {2, 4}))},
        {"parts of int32", wrong::kType, Value("p", Int32s({2}, {2, 4}))},
        {"the attribute of opset 11",
         {Rejection::kInvalidModel},
         Ints("split", {2, 4})}}},
  };
}

std::vector<OperatorCases> Selecting() {
  return {
      {"Slice",
       On({4, 6},
          [](ModelBuilder* b) {
            b->Constant("s", Int64s({2}, {0, 1}));
            b->Constant("e", Int64s({2}, {4, 5}));
            b->Constant("a", Int64s({2}, {0, 1}));
            b->Constant("t", Int64s({2}, {1, 2}));
            b->Node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
          }),
       {{"no ends", wrong::kValue, Inputs(2)},
        {"one end", wrong::kShapes, Value("e", Int64s({1}, {4}))},
        {"one axis", wrong::kShapes, Value("a", Int64s({1}, {0}))},
        {"one step", wrong::kShapes, Value("t", Int64s({1}, {1}))},
        {"a step of 0", wrong::kValue, Value("t", Int64s({2}, {1, 0}))},
        {"an axis beyond the rank", wrong::kValue,
         Value("a", Int64s({2}, {0, 2}))},
        {"an axis before the first", wrong::kValue,
         Value("a", Int64s({2}, {0, -3}))},
        {"an axis twice", wrong::kValue, Value("a", Int64s({2}, {1, -1}))},
        {"starts of rank 2", wrong::kShapes,
         Value("s", Int64s({1, 2}, {0, 1}))},
        {"starts of float", wrong::kType, Value("s", Floats({2}, {0, 1}))},
        {"the attribute of opset 9",
         {Rejection::kInvalidModel},
         Ints("starts", {0, 1})}}},
      {"Gather",
       On({4, 6},
          [](ModelBuilder* b) {
            b->Constant("i", Int64s({2}, {0, 3}));
            SetInt(b->Node("Gather", {"x", "i"}, {"y"}), "axis", 0);
          }),
       {{"no indices", wrong::kValue, Inputs(1)},
        {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
        {"an axis before the first", wrong::kValue, Int("axis", -3)},
        {"an index beyond the end", wrong::kValue,
         Value("i", Int64s({2}, {0, 4}))},
        {"an index before the beginning", wrong::kValue,
         Value("i", Int64s({2}, {0, -5}))},
        {"indices of float", wrong::kType, Value("i", Floats({2}, {0, 1}))},
        {"a scalar", wrong::kRank, InputShape("x", {})}}},
  };
}

std::vector<OperatorCases> Shaping() {
  return {
      {"Reshape",
       On({2, 6},
          [](ModelBuilder* b) {
            b->Constant("s", Int64s({2}, {3, 4}));
            b->Node("Reshape", {"x", "s"}, {"y"});
          }),
       {{"no shape", wrong::kValue, Inputs(1)},
        {"two open dimensions", wrong::kValue,
         Value("s", Int64s({2}, {-1, -1}))},
        {"another number of elements", wrong::kShapes,
         Value("s", Int64s({2}, {3, 5}))},
        {"an open dimension that does not divide", wrong::kShapes,
         Value("s", Int64s({2}, {5, -1}))},
        {"a dimension of -2", wrong::kValue, Value("s", Int64s({2}, {-2, 6}))},
        {"a copy of a dimension beyond the rank", wrong::kShapes,
         Value("s", Int64s({3}, {2, 6, 0}))},
        {"a shape of rank 2", wrong::kShapes,
         Value("s", Int64s({1, 2}, {3, 4}))},
        {"a shape of float", wrong::kType, Value("s", Floats({2}, {3, 4}))},
        {"a shape of int32", wrong::kType, Value("s", Int32s({2}, {3, 4}))},
        {"the attribute of opset 1",
         {Rejection::kInvalidModel},
         Ints("shape", {3, 4})}}},
      {"Flatten",
       On({2, 3, 4},
          [](ModelBuilder* b) {
            SetInt(b->Node("Flatten", {"x"}, {"y"}), "axis", 1);
          }),
       {{"an axis beyond the rank", wrong::kValue, Int("axis", 4)},
        {"an axis before the first", wrong::kValue, Int("axis", -4)}}},
      {"Squeeze",
       On({1, 3, 1},
          [](ModelBuilder* b) {
            b->Constant("a", Int64s({1}, {0}));
            b->Node("Squeeze", {"x", "a"}, {"y"});
          }),
       {{"a dimension that is not 1", wrong::kShapes,
         Value("a", Int64s({1}, {1}))},
        {"an axis beyond the rank", wrong::kValue,
         Value("a", Int64s({1}, {3}))},
        {"an axis before the first", wrong::kValue,
         Value("a", Int64s({1}, {-4}))},
        {"axes of rank 2", wrong::kShapes, Value("a", Int64s({1, 1}, {0}))},
        {"axes of int32", wrong::kType, Value("a", Int32s({1}, {0}))},
        {"the attribute of opset 11",
         {Rejection::kInvalidModel},
         Ints("axes", {0})}}},
      {"Unsqueeze",
       On({3},
          [](ModelBuilder* b) {
            b->Constant("a", Int64s({2}, {0, 2}));
            b->Node("Unsqueeze", {"x", "a"}, {"y"});
          }),
       {{"no axes", wrong::kValue, Inputs(1)},
        {"an axis beyond the new rank", wrong::kValue,
         Value("a", Int64s({2}, {0, 3}))},
        {"an axis before the first", wrong::kValue,
         Value("a", Int64s({2}, {0, -4}))},
        {"an axis twice", wrong::kValue, Value("a", Int64s({2}, {1, 1}))},
        {"an axis twice, once negative", wrong::kValue,
         Value("a", Int64s({2}, {2, -1}))},
        {"axes of int32", wrong::kType, Value("a", Int32s({2}, {0, 2}))}}},
      {"Transpose",
       On({2, 3, 4},
          [](ModelBuilder* b) {
            SetInts(b->Node("Transpose", {"x"}, {"y"}), "perm", {2, 0, 1});
          }),
       {{"a permutation that is too short", wrong::kValue,
         Ints("perm", {1, 0})},
        {"a permutation that is too long", wrong::kValue,
         Ints("perm", {3, 2, 1, 0})},
        {"a dimension twice", wrong::kValue, Ints("perm", {2, 2, 1})},
        {"a dimension beyond the rank", wrong::kValue, Ints("perm", {3, 0, 1})},
        {"a negative dimension", wrong::kValue, Ints("perm", {-1, 0, 1})}}},
      {"Expand",
       On({3, 1},
          [](ModelBuilder* b) {
            b->Constant("s", Int64s({3}, {2, 3, 4}));
            b->Node("Expand", {"x", "s"}, {"y"});
          }),
       {{"no shape", wrong::kValue, Inputs(1)},
        {"a shape that does not fit", wrong::kShapes,
         Value("s", Int64s({3}, {2, 5, 4}))},
        {"a negative dimension", wrong::kShapes,
         Value("s", Int64s({3}, {2, 3, -1}))},
        {"a shape of rank 2", wrong::kShapes,
         Value("s", Int64s({1, 3}, {2, 3, 4}))},
        {"a shape of float", wrong::kType,
         Value("s", Floats({3}, {2, 3, 4}))}}},
  };
}

std::vector<OperatorCases> Growing() {
  return {
      {"Pad",
       On({2, 3},
          [](ModelBuilder* b) {
            b->Constant("p", Int64s({4}, {0, 1, 0, 2}));
            b->Constant("v", Floats({}, {1}));
            SetString(b->Node("Pad", {"x", "p", "v"}, {"y"}), "mode",
                      "constant");
          }),
       {{"no pads", wrong::kValue, Inputs(1)},
        {"three pads", wrong::kShapes, Value("p", Int64s({3}, {0, 1, 0}))},
        {"pads of rank 2", wrong::kShapes,
         Value("p", Int64s({2, 2}, {0, 1, 0, 2}))},
        {"pads of int32", wrong::kType, Value("p", Int32s({4}, {0, 1, 0, 2}))},
        {"nothing left of a dimension", wrong::kValue,
         Value("p", Int64s({4}, {0, -2, 0, -2}))},
        {"an unknown mode", wrong::kWord, String("mode", "circular")},
        {"a value of another type", wrong::kTypes, Value("v", Int32s({}, {1}))},
        {"the attribute of opset 2",
         {Rejection::kInvalidModel},
         Ints("pads", {0, 1, 0, 2})}}},
      {"Tile",
       On({2, 3},
          [](ModelBuilder* b) {
            b->Constant("r", Int64s({2}, {2, 1}));
            b->Node("Tile", {"x", "r"}, {"y"});
          }),
       {{"no repeats", wrong::kValue, Inputs(1)},
        {"one repeat", wrong::kShapes, Value("r", Int64s({1}, {2}))},
        {"a negative repeat", wrong::kValue, Value("r", Int64s({2}, {2, -1}))},
        {"repeats of rank 2", wrong::kShapes,
         Value("r", Int64s({1, 2}, {2, 1}))},
        {"repeats of float", wrong::kType, Value("r", Floats({2}, {2, 1}))}}},
      {"Resize",
       On({1, 1, 4, 4},
          [](ModelBuilder* b) {
            b->Constant("s", Floats({4}, {1, 1, 2, 2}));
            auto* node = b->Node("Resize", {"x", "", "s"}, {"y"});
            SetString(node, "mode", "nearest");
            SetString(node, "coordinate_transformation_mode", "asymmetric");
            SetString(node, "nearest_mode", "floor");
          }),
       {{"neither scales nor sizes", wrong::kValue, Inputs(1)},
        {"three scales", wrong::kShapes, Value("s", Floats({3}, {1, 2, 2}))},
        {"a scale of 0", wrong::kValue, Value("s", Floats({4}, {1, 1, 0, 2}))},
        {"a negative scale", wrong::kValue,
         Value("s", Floats({4}, {1, 1, -2, 2}))},
        {"scales of rank 2", wrong::kShapes,
         Value("s", Floats({1, 4}, {1, 1, 2, 2}))},
        {"scales of int64", wrong::kType,
         Value("s", Int64s({4}, {1, 1, 2, 2}))},
        {"an unknown mode", wrong::kWord, String("mode", "best")},
        {"an unknown coordinate transformation", wrong::kWord,
         String("coordinate_transformation_mode", "best")},
        {"an unknown rounding", wrong::kWord, String("nearest_mode", "best")}}},
      {"Upsample",
       On(
           {1, 1, 4, 4},
           [](ModelBuilder* b) {
             b->Constant("s", Floats({4}, {1, 1, 2, 2}));
             SetString(b->Node("Upsample", {"x", "s"}, {"y"}), "mode",
                       "nearest");
           },
           9),
       {{"no scales", wrong::kValue, Inputs(1)},
        {"three scales", wrong::kShapes, Value("s", Floats({3}, {1, 2, 2}))},
        {"a scale below 1", wrong::kValue,
         Value("s", Floats({4}, {1, 1, 0.5, 2}))},
        {"a scale of 0", wrong::kValue, Value("s", Floats({4}, {1, 1, 0, 2}))},
        {"scales of rank 2", wrong::kShapes,
         Value("s", Floats({1, 4}, {1, 1, 2, 2}))},
        {"scales of int64", wrong::kType,
         Value("s", Int64s({4}, {1, 1, 2, 2}))},
        {"an unknown mode", wrong::kWord, String("mode", "best")}}},
      {"DepthToSpace",
       On({1, 8, 2, 3},
          [](ModelBuilder* b) {
            auto* node = b->Node("DepthToSpace", {"x"}, {"y"});
            SetInt(node, "blocksize", 2);
            SetString(node, "mode", "DCR");
          }),
       {{"no blocksize", wrong::kValue, Drop("blocksize")},
        {"a blocksize of 0", wrong::kValue, Int("blocksize", 0)},
        {"a negative blocksize", wrong::kValue, Int("blocksize", -2)},
        {"channels that it does not divide", wrong::kShapes,
         InputShape("x", {1, 6, 2, 3})},
        {"an input of rank 3", wrong::kRank, InputShape("x", {8, 2, 3})},
        {"an unknown mode", wrong::kWord, String("mode", "DRC")}}},
      {"SpaceToDepth",
       On({1, 2, 4, 6},
          [](ModelBuilder* b) {
            SetInt(b->Node("SpaceToDepth", {"x"}, {"y"}), "blocksize", 2);
          }),
       {{"no blocksize", wrong::kValue, Drop("blocksize")},
        {"a blocksize of 0", wrong::kValue, Int("blocksize", 0)},
        {"a negative blocksize", wrong::kValue, Int("blocksize", -2)},
        {"a height that it does not divide", wrong::kShapes,
         InputShape("x", {1, 2, 5, 6})},
        {"a width that it does not divide", wrong::kShapes,
         InputShape("x", {1, 2, 4, 7})},
        {"an input of rank 3", wrong::kRank, InputShape("x", {2, 4, 6})}}},
  };
}

std::vector<OperatorCases> MovementCases() {
  std::vector<OperatorCases> all;
  for (const auto& part : {Joining(), Selecting(), Shaping(), Growing()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

const InvalidModels kMovement(MovementCases);

}  // namespace
}  // namespace heddle::compiler
