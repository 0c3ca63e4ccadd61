// SPDX-License-Identifier: Apache-2.0
// What samples images and transforms signals.
#include <string>
#include <vector>

#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

TensorData Reals(const Shape& shape) {
  return TensorData::Zeros(DataType::kFloat, shape);
}

ModelBuilder GridSample() {
  ModelBuilder b(20);
  b.Input("x", DataType::kFloat, {2, 3, 5, 4});
  b.Input("grid", DataType::kFloat, {2, 6, 7, 2});
  b.Node("GridSample", {"x", "grid"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder RoiAlign() {
  ModelBuilder b(16);
  b.Input("x", DataType::kFloat, {2, 3, 5, 4});
  b.Input("rois", DataType::kFloat, {6, 4});
  b.Input("batch", DataType::kInt64, {6});
  SetInt(b.Node("RoiAlign", {"x", "rois", "batch"}, {"y"}), "sampling_ratio",
         2);
  b.Output("y");
  return b;
}

ModelBuilder MaxUnpool() {
  ModelBuilder b(11);
  b.Input("x", DataType::kFloat, {2, 3, 5, 4});
  b.Input("i", DataType::kInt64, {2, 3, 5, 4});
  auto* node = b.Node("MaxUnpool", {"x", "i"}, {"y"});
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  return b;
}

ModelBuilder AffineGrid() {
  ModelBuilder b(20);
  b.Input("x", DataType::kFloat, {2, 2, 3});
  b.Constant("size", Int64s({4}, {2, 3, 5, 6}));
  b.Node("AffineGrid", {"x", "size"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Dft() {
  ModelBuilder b(20);
  b.Input("x", DataType::kFloat, {2, 10, 1});
  b.Constant("length", Int64s({}, {8}));
  b.Constant("axis", Int64s({}, {1}));
  b.Node("DFT", {"x", "length", "axis"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Stft() {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {2, 40, 1});
  b.Constant("step", Int64s({}, {5}));
  b.Constant("window", Reals({10}));
  b.Node("STFT", {"x", "step", "window"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Det() {
  ModelBuilder b(11);
  b.Input("x", DataType::kFloat, {2, 3, 3});
  b.Node("Det", {"x"}, {"y"});
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Cases() {
  return {
      {"GridSample",
       GridSample,
       {{"a mode that is none", wrong::kValue, String("mode", "quintic")},
        {"a mode of before", wrong::kValue, String("mode", "bilinear")},
        {"a padding that is none", wrong::kValue,
         String("padding_mode", "wrap")},
        {"x of rank 2", wrong::kRank, InputShape("x", {2, 3})},
        {"x of another rank", wrong::kShapes, InputShape("x", {2, 3, 5, 4, 2})},
        {"a grid of another rank", wrong::kShapes,
         InputShape("grid", {2, 6, 2})},
        {"a grid of other images", wrong::kShapes,
         InputShape("grid", {3, 6, 7, 2})},
        {"a grid of three coordinates", wrong::kShapes,
         InputShape("grid", {2, 6, 7, 3})},
        {"a grid of integers", wrong::kType,
         InputType("grid", DataType::kInt32)},
        {"no grid", wrong::kValue, Inputs(1)}}},
      {"RoiAlign",
       RoiAlign,
       {{"a mode that is none", wrong::kValue, String("mode", "median")},
        {"coordinates that are none", wrong::kValue,
         String("coordinate_transformation_mode", "asymmetric")},
        {"x of rank 3", wrong::kRank, InputShape("x", {3, 5, 4})},
        {"rois of three corners", wrong::kShapes, InputShape("rois", {6, 3})},
        {"rois of rank 1", wrong::kShapes, InputShape("rois", {24})},
        {"images of other regions", wrong::kShapes, InputShape("batch", {5})},
        {"images of rank 2", wrong::kShapes, InputShape("batch", {6, 1})},
        {"images that are no integers", wrong::kType,
         InputType("batch", DataType::kFloat)},
        {"rois of integers", wrong::kType, InputType("rois", DataType::kInt32)},
        {"no images", wrong::kValue, Inputs(2)}}},
      {"MaxUnpool",
       MaxUnpool,
       {{"no window", wrong::kValue, Drop("kernel_shape")},
        {"a window of one axis", wrong::kValue, Ints("kernel_shape", {2})},
        {"a window of nothing", wrong::kValue, Ints("kernel_shape", {0, 2})},
        {"strides of one axis", wrong::kValue, Ints("strides", {2})},
        {"a stride of 0", wrong::kValue, Ints("strides", {0, 2})},
        {"pads of one side", wrong::kValue, Ints("pads", {1, 1})},
        {"a negative pad", wrong::kValue, Ints("pads", {-1, 0, 0, 0})},
        {"x of rank 2", wrong::kRank, InputShape("x", {2, 60})},
        {"other indices", wrong::kShapes, InputShape("i", {2, 3, 4, 4})},
        {"indices of rank 1", wrong::kShapes, InputShape("i", {120})},
        {"indices that are no integers", wrong::kType,
         InputType("i", DataType::kFloat)},
        {"no indices", wrong::kValue, Inputs(1)}}},
      {"AffineGrid",
       AffineGrid,
       {{"theta of rank 2", wrong::kShapes, InputShape("x", {2, 3})},
        {"theta of one axis", wrong::kShapes, InputShape("x", {2, 1, 2})},
        {"a square theta", wrong::kShapes, InputShape("x", {2, 3, 3})},
        {"theta of volumes", wrong::kShapes, InputShape("x", {2, 3, 4})},
        {"a size of one axis", wrong::kShapes,
         Value("size", Int64s({3}, {2, 3, 5}))},
        {"a size of volumes", wrong::kShapes,
         Value("size", Int64s({5}, {2, 3, 5, 6, 7}))},
        {"a size that is no list", wrong::kShapes,
         Value("size", Int64s({1, 4}, {2, 3, 5, 6}))},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)},
        {"no size", wrong::kValue, Inputs(1)}}},
      {"DFT",
       Dft,
       {{"an axis that is none", wrong::kValue, Value("axis", Int64s({}, {3}))},
        {"the axis of the parts", wrong::kValue,
         Value("axis", Int64s({}, {2}))},
        {"one side of a complex signal", wrong::kValue,
         [](onnx::ModelProto* m) {
           InputShape("x", {2, 10, 2})(m);
           Int("onesided", 1)(m);
         }},
        {"numbers of three parts", wrong::kValue, InputShape("x", {2, 10, 3})},
        {"x of rank 1", wrong::kValue, InputShape("x", {2})},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)},
        {"an attribute of before", wrong::kValue, Int("axis", 1)}}},
      {"STFT",
       Stft,
       {{"a step of 0", wrong::kValue, Value("step", Int64s({}, {0}))},
        {"a negative step", wrong::kValue, Value("step", Int64s({}, {-5}))},
        {"a window that is longer", wrong::kValue,
         Value("window", Reals({41}))},
        {"a window of rank 2", wrong::kValue, Value("window", Reals({10, 1}))},
        {"one side of a complex signal", wrong::kValue,
         InputShape("x", {2, 40, 2})},
        {"numbers of three parts", wrong::kValue, InputShape("x", {2, 40, 3})},
        {"x of rank 1", wrong::kValue, InputShape("x", {40})},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)},
        {"no step", wrong::kValue, Inputs(1)}}},
      {"Det",
       Det,
       {{"x of rank 1", wrong::kValue, InputShape("x", {9})},
        {"x that is no square", wrong::kValue, InputShape("x", {2, 3, 4})},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)},
        {"an attribute", wrong::kValue, Int("axis", 1)}}},
  };
}

const InvalidModels kSignal(Cases);

}  // namespace
}  // namespace heddle::compiler
