// SPDX-License-Identifier: Apache-2.0
// Parameters that are computed at run time, on the card.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/define.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

TensorData Scale(const Shape& shape, uint64_t seed) {
  return RandomData(DataType::kFloat, shape, seed, 0.01f, 0.2f);
}

TEST(LowerComputed, Quantization) {
  for (bool per_channel : {false, true}) {
    const Shape channels = per_channel ? Shape{5} : Shape{};
    for (bool scale_only : {false, true}) {
      ModelBuilder b;
      b.Input("x", DataType::kFloat, {2, 5, 6});
      b.Input("s", DataType::kFloat, channels);
      const TensorData zero = RandomData(DataType::kUint8, channels, 2);
      if (scale_only) {
        b.Constant("z", zero);
      } else {
        b.Input("z", DataType::kUint8, channels);
      }
      SetInt(b.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}), "axis", 1);
      SetInt(b.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}), "axis", 1);
      b.Output("q");
      b.Output("y");
      std::vector<TensorData> inputs = {
          RandomData(DataType::kFloat, {2, 5, 6}, 3, -20, 20),
          Scale(channels, 4)};
      if (!scale_only) inputs.push_back(zero);
      ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
    }
  }
}

TEST(LowerComputed, Normalizations) {
  const Shape shape = {2, 5, 6, 7};
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    for (bool batch : {true, false}) {
      ModelBuilder b;
      b.Input("x", type, shape);
      std::vector<TensorData> inputs = {RandomData(type, shape, 1)};
      std::vector<std::string> names = {"x"};
      for (const char* name : {"s", "b", "m", "v"}) {
        if (!batch && inputs.size() == 3) break;
        b.Input(name, type, {5});
        inputs.push_back(RandomData(type, {5}, 7 + inputs.size(), 0.5f, 2));
        names.push_back(name);
      }
      b.Node(batch ? "BatchNormalization" : "InstanceNormalization", names,
             {"y"});
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
    }
  }
}

TEST(LowerComputed, QuantizedProducts) {
  for (bool conv : {false, true}) {
    const Shape x = conv ? Shape{1, 6, 5, 7} : Shape{2, 5, 40},
                w = conv ? Shape{4, 3, 3, 9} : Shape{2, 40, 6};
    ModelBuilder b;
    std::vector<TensorData> inputs = {RandomData(DataType::kUint8, x, 1),
                                      Scale({}, 2),
                                      RandomData(DataType::kUint8, {}, 3),
                                      RandomData(DataType::kInt8, w, 4),
                                      Scale({conv ? 4 : 6}, 5),
                                      RandomData(DataType::kInt8, {}, 6),
                                      Floats({}, {3.5f}),
                                      RandomData(DataType::kUint8, {}, 7)};
    if (conv) {
      inputs.push_back(RandomData(DataType::kInt32, {4}, 8, -900, 900));
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < inputs.size(); ++i) {
      names.push_back("i" + std::to_string(i));
      b.Input(names.back(), inputs[i].type, inputs[i].shape);
    }
    auto* node = b.Node(conv ? "QLinearConv" : "QLinearMatMul", names, {"y"});
    if (conv) {
      SetInt(node, "group", 2);
      SetInts(node, "pads", {1, 2, 1, 4});
    }
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
  }
}

// The sum is cut where floats would round.
TEST(LowerComputed, IntegerConvolutionOfManyChannels) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {1, 70, 4, 5});
  b.Input("w", DataType::kUint8, {3, 70, 3, 3});
  b.Input("z", DataType::kUint8, {});
  b.Node("ConvInteger", {"x", "w", "z"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kUint8, {1, 70, 4, 5}, 1),
                             RandomData(DataType::kUint8, {3, 70, 3, 3}, 2),
                             RandomData(DataType::kUint8, {}, 3)},
                            kSmall);
}

TEST(LowerComputed, Slices) {
  for (bool axes : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {6, 7, 8});
    std::vector<std::string> names = {"x", "starts", "ends"};
    b.Input("starts", DataType::kInt64, {2});
    b.Input("ends", DataType::kInt64, {2});
    std::vector<TensorData> inputs = {
        RandomData(DataType::kFloat, {6, 7, 8}, 1), Int64s({2}, {-5, 6}),
        Int64s({2}, {4, 1})};
    if (axes) {
      b.Input("axes", DataType::kInt64, {2});
      inputs.push_back(Int64s({2}, {0, -2}));
      names.push_back("axes");
    } else {
      names.push_back("");
    }
    b.Input("steps", DataType::kInt64, {2});
    inputs.push_back(Int64s({2}, {2, -2}));
    names.push_back("steps");
    b.Node("Slice", names, {"y"});
    b.Output("y", DataType::kFloat, {2, 3, 8});
    const auto y = ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
    ASSERT_EQ(y.size(), 1u);
    // Rows 1 and 3, columns 6, 4 and 2.
    EXPECT_EQ(y[0].as<float>()[(1 * 3 + 2) * 8 + 5],
              inputs[0].as<float>()[(3 * 7 + 2) * 8 + 5]);
  }
}

TEST(LowerComputed, Pads) {
  for (const char* mode : {"constant", "reflect", "edge"}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {4, 5});
    b.Input("pads", DataType::kInt64, {4});
    b.Input("value", DataType::kFloat, {});
    SetString(b.Node("Pad", {"x", "pads", "value"}, {"y"}), "mode", mode);
    b.Output("y", DataType::kFloat, {7, 6});
    const auto x = RandomData(DataType::kFloat, {4, 5}, 1);
    const auto y = ExpectCardEqualsReference(
        b.Bytes(), {x, Int64s({4}, {2, -1, 1, 2}), Floats({}, {9})}, kSmall);
    ASSERT_EQ(y.size(), 1u);
    EXPECT_EQ(y[0].as<float>()[2 * 6 + 1], x.as<float>()[2]);
    const float corner = y[0].as<float>()[0];
    EXPECT_EQ(corner, std::string(mode) == "constant" ? 9
                      : std::string(mode) == "edge"   ? x.as<float>()[1]
                                                    : x.as<float>()[2 * 5 + 1]);
  }
}

TEST(LowerComputed, ValueOfAPad) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 5});
  b.Constant("pads", Int64s({4}, {2, -1, 1, 2}));
  b.Input("value", DataType::kFloat, {});
  b.Node("Pad", {"x", "pads", "value"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {4, 5}, 1), Floats({}, {9})},
      kSmall);
}

TEST(LowerComputed, RangesTrianglesAndIndices) {
  ModelBuilder b(14);
  b.Input("start", DataType::kFloat, {});
  b.Input("limit", DataType::kFloat, {});
  b.Input("delta", DataType::kFloat, {});
  b.Node("Range", {"start", "limit", "delta"}, {"r"});
  b.Input("x", DataType::kFloat, {3, 5, 6});
  b.Input("k", DataType::kInt64, {1});
  b.Node("Trilu", {"x", "k"}, {"t"});
  b.Input("i", DataType::kInt64, {2, 2});
  SetInt(b.Node("Gather", {"x", "i"}, {"g"}), "axis", 1);
  b.Output("r", DataType::kFloat, {5});
  b.Output("t");
  b.Output("g");
  const auto y = ExpectCardEqualsReference(
      b.Bytes(),
      {Floats({}, {1}), Floats({}, {2.5f}), Floats({}, {0.3f}),
       RandomData(DataType::kFloat, {3, 5, 6}, 1), Int64s({1}, {-2}),
       Int64s({2, 2}, {4, -1, 0, 2})},
      kSmall);
  ASSERT_EQ(y.size(), 3u);
  EXPECT_EQ(y[0].as<float>()[1], 1.3f);
  EXPECT_EQ(y[1].as<float>()[3 * 6], 0);
}

// Operator, types and shapes of its operands, the declared result.
struct Wrong {
  std::string op;
  std::vector<DataType> types;
  std::vector<Shape> shapes;
  DataType type;
  Shape y;
  std::vector<Rejection> kinds;
};

TEST(LowerComputed, Rejections) {
  constexpr DataType kF = DataType::kFloat, kI = DataType::kInt64;
  const std::vector<Rejection> invalid = {Rejection::kInvalidModel},
                               shape = {Rejection::kUnsupportedShape};
  const std::vector<Wrong> cases = {
      {"Slice", {kF, kI, kI}, {{4, 5}, {1}, {2}}, kF, {2, 3}, invalid},
      {"Slice", {kF, kI, kI}, {{4, 5}, {1, 2}, {1, 2}}, kF, {2, 3}, invalid},
      {"Slice", {kF, kI, kI}, {{4, 5}, {3}, {3}}, kF, {2, 3}, invalid},
      {"Slice", {kF, kI, kI}, {{4, 5}, {2}, {2}}, kF, {2}, shape},
      {"Slice", {kF, kI, kI}, {{4, 5}, {2}, {2}}, kF, {2, 0}, shape},
      {"Slice",
       {kF, kI, kI},
       {{4, 5}, {2}, {2}},
       DataType::kInt8,
       {2, 3},
       {Rejection::kMismatchingDatatype}},
      {"Pad", {kF, kI, kF}, {{4, 5}, {2}, {}}, kF, {6, 7}, invalid},
      {"Pad", {kF, kI, kF}, {{4, 5}, {4}, {2}}, kF, {6, 7}, invalid},
      {"Pad",
       {kF, kI, DataType::kInt8},
       {{4, 5}, {4}, {}},
       kF,
       {6, 7},
       invalid},
      {"Range", {kF, kF, kF}, {{}, {2}, {}}, kF, {7}, invalid},
      {"Range", {kF, kF, kI}, {{}, {}, {}}, kF, {7}, invalid},
      {"ReduceSum",
       {kF, kI},
       {{3, 4, 4}, {2}},
       kF,
       {3, 4, 1},
       {Rejection::kMismatchingShape}},
      {"QLinearMatMul",
       {DataType::kUint8, kF, DataType::kUint8, DataType::kUint8, kF,
        DataType::kUint8, kF, DataType::kUint8},
       {{3, 4}, {}, {}, {4, 2}, {3}, {}, {}, {}},
       DataType::kUint8,
       {3, 2},
       {Rejection::kMismatchingShape, Rejection::kUnsupportedShape,
        Rejection::kInvalidModel}},
      {"ConvInteger",
       {DataType::kUint8, DataType::kUint8},
       {{1, 2, 5, 5}, {3, 1, 2, 2}},
       DataType::kInt32,
       {1, 3, 4, 4},
       {Rejection::kMismatchingShape}},
  };
  for (const Wrong& c : cases) {
    ModelBuilder b;
    std::vector<std::string> names;
    for (size_t i = 0; i < c.types.size(); ++i) {
      names.push_back("i" + std::to_string(i));
      b.Input(names.back(), c.types[i], c.shapes[i]);
    }
    b.Node(c.op, names, {"y"});
    b.Output("y", c.type, c.y);
    const absl::Status status = CompileOnnx(b.Bytes(), {}).status();
    const Rejection kind = RejectionOf(status);
    EXPECT_EQ(std::count(c.kinds.begin(), c.kinds.end(), kind), 1)
        << c.op << ": " << status;
  }
}

TEST(LowerComputed, AxesThatShapesLeaveOpen) {
  for (int64_t axis : {1, -1}) {
    ModelBuilder b(18);
    b.Input("x", DataType::kFloat, {3, 4, 4, 1});
    b.Input("axes", DataType::kInt64, {1});
    for (const char* op : {"ReduceSum", "ReduceMax"}) {
      const std::string y = op;
      SetInt(b.Node(op, {"x", "axes"}, {y}), "keepdims", 0);
      b.Output(y, DataType::kFloat, {3, 4, 1});
    }
    const auto x = RandomData(DataType::kFloat, {3, 4, 4, 1}, 1);
    const int64_t given = axis == 1 ? 1 : -2;
    const auto y =
        ExpectCardEqualsReference(b.Bytes(), {x, Int64s({1}, {given})}, kSmall);
    ASSERT_EQ(y.size(), 2u);
    float sum = 0;
    for (int64_t i = 0; i < 4; ++i) {
      sum += x.as<float>()[axis == 1 ? 4 * i : i];
    }
    EXPECT_NEAR(y[0].as<float>()[0], sum, 1e-5);
  }
}

TEST(LowerComputed, Resizes) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinate :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
          "half_pixel_symmetric", "tf_crop_and_resize"}) {
      ModelBuilder b(19);
      b.Input("x", DataType::kFloat, {1, 1, 6, 9});
      b.Input("roi", DataType::kFloat, {8});
      b.Input("scales", DataType::kFloat, {4});
      auto* node = b.Node("Resize", {"x", "roi", "scales"}, {"y"});
      SetString(node, "mode", mode);
      SetString(node, "coordinate_transformation_mode", coordinate);
      SetFloat(node, "extrapolation_value", 7);
      b.Output("y", DataType::kFloat, {1, 1, 9, 6});
      ExpectCardEqualsReference(b.Bytes(),
                                {RandomData(DataType::kFloat, {1, 1, 6, 9}, 1),
                                 Floats({8}, {0, 0, 0, -0.2f, 1, 1, 1, 0.8f}),
                                 Floats({4}, {1, 1, 1.5f, 0.7f})},
                                kSmall);
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
