// SPDX-License-Identifier: Apache-2.0
// What opsets 18 to 26 brought, and forms of opsets 1 to 6, on the card.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, true, true};

void Expect(ModelBuilder* b, DataType type, const Shape& shape) {
  b->Output("y");
  const auto y = ExpectCardEqualsReference(
      b->Bytes(), {RandomData(type, shape, 1)}, kSizes);
  EXPECT_EQ(y.size(), 1u);
}

TEST(LowerOpsets, ReduceWithAxesAsInput) {
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceSumSquare"}) {
    for (int64_t axis : {1, -1}) {
      ModelBuilder b(18);
      b.Input("x", DataType::kFloat, {3, 40, 17});
      b.Constant("a", Int64s({1}, {axis}));
      b.Node(op, {"x", "a"}, {"y"});
      Expect(&b, DataType::kFloat, {3, 40, 17});
    }
  }
}

TEST(LowerOpsets, ReduceOfBools) {
  for (const char* op : {"ReduceMax", "ReduceMin"}) {
    for (int64_t axis : {0, 1}) {
      ModelBuilder b(20);
      b.Input("x", DataType::kInt32, {9, 21});
      b.Constant("c", Int32s({}, {3}));
      b.Constant("a", Int64s({1}, {axis}));
      b.Node("Less", {"x", "c"}, {"t"});
      b.Node(op, {"t", "a"}, {"y"});
      Expect(&b, DataType::kInt32, {9, 21});
    }
  }
}

TEST(LowerOpsets, SplitWithASmallerLastPart) {
  ModelBuilder b(18);
  b.Input("x", DataType::kFloat, {2, 17, 5});
  auto* node = b.Node("Split", {"x"}, {"u", "v", "y"});
  SetInt(node, "axis", 1);
  SetInt(node, "num_outputs", 3);
  Expect(&b, DataType::kFloat, {2, 17, 5});
}

TEST(LowerOpsets, PadOfSomeAxesAndAround) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    ModelBuilder b(19);
    b.Input("x", DataType::kFloat, {2, 9, 11});
    b.Constant("p", Int64s({4}, {1, 2, 0, 3}));
    b.Constant("a", Int64s({2}, {-1, 1}));
    SetString(b.Node("Pad", {"x", "p", "", "a"}, {"y"}), "mode", mode);
    Expect(&b, DataType::kFloat, {2, 9, 11});
  }
}

TEST(LowerOpsets, ResizeOfSomeAxes) {
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* policy : {"stretch", "not_larger", "not_smaller"}) {
      ModelBuilder b(19);
      b.Input("x", DataType::kFloat, {1, 3, 7, 10});
      b.Constant("s", Int64s({2}, {17, 13}));
      auto* node = b.Node("Resize", {"x", "", "", "s"}, {"y"});
      SetInts(node, "axes", {3, 2});
      SetString(node, "mode", mode);
      SetString(node, "keep_aspect_ratio_policy", policy);
      SetString(node, "coordinate_transformation_mode", "half_pixel_symmetric");
      Expect(&b, DataType::kFloat, {1, 3, 7, 10});
    }
  }
}

TEST(LowerOpsets, AveragePoolWithDilations) {
  for (int64_t counted : {0, 1}) {
    ModelBuilder b(19);
    b.Input("x", DataType::kFloat, {1, 3, 13, 15});
    auto* node = b.Node("AveragePool", {"x"}, {"y"});
    SetInts(node, "kernel_shape", {3, 2});
    SetInts(node, "dilations", {2, 3});
    SetInts(node, "pads", {2, 1, 1, 3});
    SetInts(node, "strides", {1, 2});
    SetInt(node, "ceil_mode", 1);
    SetInt(node, "count_include_pad", counted);
    Expect(&b, DataType::kFloat, {1, 3, 13, 15});
  }
}

// A scale for the tensor, each channel and each block, codes of 16 bits.
TEST(LowerOpsets, QuantizeSixteenBitsAndBlocks) {
  const Shape shape = {3, 10};
  for (DataType type : {DataType::kUint16, DataType::kInt16, DataType::kInt8}) {
    for (const Shape& scales : {Shape{}, Shape{10}, Shape{3, 4}}) {
      ModelBuilder b(21);
      b.Input("x", DataType::kFloat, shape);
      b.Constant("s", RandomData(DataType::kFloat, scales, 3, 0.01f, 0.1f));
      TensorData zero = TensorData::Zeros(type, scales);
      for (size_t i = 0; i < zero.bytes.size(); i += 2) zero.bytes[i] = i + 5;
      b.Constant("z", zero);
      for (const char* op : {"QuantizeLinear", "DequantizeLinear"}) {
        const bool first = op[0] == 'Q';
        auto* node =
            b.Node(op, {first ? "x" : "q", "s", "z"}, {first ? "q" : "y"});
        SetInt(node, "axis", 1);
        if (scales.size() == 2) SetInt(node, "block_size", 3);
      }
      Expect(&b, DataType::kFloat, shape);
    }
  }
}

TEST(LowerOpsets, OldBroadcasting) {
  for (int opset : {1, 6}) {
    ModelBuilder b(opset);
    b.Input("x", DataType::kFloat, {2, 3, 8, 5});
    b.Constant("c", Floats({3}, {1, -2, 3}));
    auto* node = b.Node("Mul", {"x", "c"}, {"t"});
    SetInt(node, "broadcast", 1);
    SetInt(node, "axis", 1);
    b.Node("Relu", {"t"}, {"y"});
    Expect(&b, DataType::kFloat, {2, 3, 8, 5});
  }
}

TEST(LowerOpsets, WeightsOfFourBitsInBlocks) {
  ModelBuilder b(21);
  b.Input("x", DataType::kFloat, {1, 2});
  b.Constant("scale", Floats({2, 2}, {1, 0.5f, 2, 4}));
  onnx::TensorProto* w = b.proto().mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(22);  // int4: 1, 2, -1, -8; 3, 4, 0, 7
  w->add_dims(2);
  w->add_dims(4);
  w->set_raw_data(std::string({'\x21', '\x8f', '\x43', '\x70'}));
  auto* node = b.Node("DequantizeLinear", {"w", "scale"}, {"d"});
  SetInt(node, "axis", 1);
  SetInt(node, "block_size", 2);
  b.Node("MatMul", {"x", "d"}, {"y"});
  b.Output("y");
  const auto y =
      ExpectCardEqualsReference(b.Bytes(), {Floats({1, 2}, {1, 10})});
  ASSERT_EQ(y.size(), 1u);
  const auto* values = y[0].as<float>();
  EXPECT_EQ(std::vector<float>(values, values + 4),
            (std::vector<float>{1 + 60, 2 + 80, -0.5f, -4 + 280}));
}

}  // namespace
}  // namespace heddle::compiler
