// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

CardCase SeveralSizes() {
  CardCase options;
  options.sram_bytes = {0, 16 << 10, 32 << 10};
  return options;
}

struct PoolCase {
  const char* op;
  Shape shape;
  std::vector<int64_t> kernel, strides, pads;
  const char* auto_pad = nullptr;
  bool ceil_mode = false, include_pad = false;
};

// The model with only this pool.
std::string Model(const PoolCase& c, DataType type) {
  ModelBuilder b(11);
  b.Input("x", type, c.shape);
  onnx::NodeProto* node = b.Node(c.op, {"x"}, {"y"});
  SetInts(node, "kernel_shape", c.kernel);
  if (!c.strides.empty()) SetInts(node, "strides", c.strides);
  if (!c.pads.empty()) SetInts(node, "pads", c.pads);
  if (c.auto_pad) SetString(node, "auto_pad", c.auto_pad);
  if (c.ceil_mode) SetInt(node, "ceil_mode", 1);
  if (c.include_pad) SetInt(node, "count_include_pad", 1);
  b.Output("y");
  return b.Bytes();
}

TEST(LowerPool, AverageInEveryForm) {
  const PoolCase cases[] = {
      {"AveragePool", {2, 5, 13, 17}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"AveragePool",
       {2, 5, 13, 17},
       {3, 2},
       {2, 3},
       {1, 0, 2, 1},
       nullptr,
       true},
      {"AveragePool",
       {1, 3, 14, 9},
       {3, 3},
       {2, 2},
       {1, 1, 1, 1},
       nullptr,
       true,
       true},
      {"AveragePool",
       {1, 3, 14, 9},
       {3, 3},
       {2, 2},
       {2, 0, 1, 2},
       nullptr,
       false,
       true},
      {"AveragePool", {3, 4, 7, 7}, {7, 7}, {}, {}},
      {"AveragePool", {1, 2, 9, 8}, {3, 2}, {2, 2}, {}, "SAME_UPPER"},
      {"AveragePool", {1, 2, 9, 8}, {2, 3}, {1, 2}, {}, "SAME_LOWER"},
      {"AveragePool", {1, 2, 9, 8}, {2, 3}, {1, 2}, {}, "VALID"},
      {"AveragePool", {2, 3, 33}, {4}, {3}, {2, 1}, nullptr, true},
      {"AveragePool", {2, 3, 33}, {2}, {}, {1, 1}, nullptr, false, true},
      {"MaxPool", {2, 5, 13, 17}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"MaxPool", {2, 3, 33}, {4}, {3}, {2, 1}, nullptr, true},
  };
  int seed = 0;
  for (const PoolCase& c : cases) {
    for (const DataType type : {DataType::kFloat, DataType::kFloat16}) {
      SCOPED_TRACE(std::string(c.op) + " " + std::to_string(++seed));
      ExpectCardEqualsReference(
          Model(c, type), {RandomData(type, c.shape, seed)}, SeveralSizes());
    }
  }
}

TEST(LowerPool, PaddingIsNoElement) {
  // Infinities and NaNs at the border meet the padding.
  const PoolCase average = {
      "AveragePool", {1, 1, 3, 3}, {2, 2}, {}, {1, 1, 1, 1}};
  const TensorData x =
      Floats({1, 1, 3, 3}, {-0.0f, kInf, -kInf, kNan, 1, 2, 3, -kInf, 4});
  auto y = ExpectCardEqualsReference(Model(average, DataType::kFloat), {x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<float>()[3], -kInf);
  PoolCase max = average;
  max.op = "MaxPool";
  y = ExpectCardEqualsReference(Model(max, DataType::kFloat), {x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<float>()[3], -kInf);
}

TEST(LowerPool, GlobalPoolsOfMoreThanSram) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    for (const Shape& shape :
         {Shape{1, 1000, 13, 13}, Shape{2, 7, 65, 70}, Shape{3, 5, 9},
          Shape{2, 3, 4, 5, 3}, Shape{1, 4, 1, 1}}) {
      SCOPED_TRACE(op + ShapeToString(shape));
      ModelBuilder b;
      b.Input("x", DataType::kFloat, shape);
      b.Node(op, {"x"}, {"y"});
      b.Output("y");
      CardCase options = SeveralSizes();
      // 65x70 is two pieces of 2275 elements, 18 KiB with its double buffer.
      options.may_refuse_less_sram = true;
      const auto y = ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, shape, 7)}, options);
      ASSERT_EQ(y.size(), 1u);
      EXPECT_EQ(y[0].shape.size(), shape.size());
    }
  }
}

TEST(LowerPool, BetweenConvolutionsKeepsItsPadding) {
  // The convolution wants padding around what the pools produce and read.
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 12, 11});
  b.Constant("w", RandomData(DataType::kFloat, {3, 3, 3, 3}, 1));
  SetInts(b.Node("Conv", {"x", "w"}, {"c"}), "pads", {1, 1, 1, 1});
  onnx::NodeProto* pool = b.Node("AveragePool", {"c"}, {"p"});
  SetInts(pool, "kernel_shape", {3, 3});
  SetInts(pool, "pads", {1, 1, 1, 1});
  pool = b.Node("MaxPool", {"c"}, {"m"});
  SetInts(pool, "kernel_shape", {3, 3});
  SetInts(pool, "pads", {1, 1, 1, 1});
  b.Node("Add", {"p", "m"}, {"s"});
  SetInts(b.Node("Conv", {"s", "w"}, {"d"}), "pads", {1, 1, 1, 1});
  b.Node("GlobalAveragePool", {"d"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {1, 3, 12, 11}, 3)},
                            SeveralSizes());
}

}  // namespace
}  // namespace heddle::compiler
