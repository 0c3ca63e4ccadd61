// SPDX-License-Identifier: Apache-2.0
// Volumes, the places of a MaxPool, and Resize by filters, on the card.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

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

TEST(LowerSpatial, ConvolutionsOfVolumes) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    for (bool transposed : {false, true}) {
      for (int64_t group : {1, 2}) {
        ModelBuilder b;
        const Shape shape = {2, 4, 5, 6, 7};
        b.Input("x", type, shape);
        const int64_t maps = transposed ? 3 : 6;
        b.Constant("w", RandomData(type,
                                   {transposed ? 4 : maps,
                                    transposed ? maps : 4 / group, 3, 2, 3},
                                   2));
        b.Constant("b",
                   RandomData(type, {transposed ? maps * group : maps}, 3));
        auto* node = b.Node(transposed ? "ConvTranspose" : "Conv",
                            {"x", "w", "b"}, {"y"});
        SetInt(node, "group", group);
        SetInts(node, "strides", {2, 1, 3});
        SetInts(node, "dilations", {1, 2, 1});
        SetInts(node, "pads", {1, 0, 2, 1, 1, 0});
        b.Output("y");
        ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 4)},
                                  kSmall);
      }
    }
  }
}

TEST(LowerSpatial, ATransposedVolumeHasPlanesOfNoTap) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 2, 3, 4, 4});
  b.Constant("w", RandomData(DataType::kFloat, {2, 3, 1, 2, 2}, 2));
  b.Constant("b", RandomData(DataType::kFloat, {3}, 3));
  auto* node = b.Node("ConvTranspose", {"x", "w", "b"}, {"y"});
  SetInts(node, "strides", {3, 1, 1});
  SetInts(node, "output_padding", {2, 0, 0});
  b.Output("y");
  const auto y = ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 2, 3, 4, 4}, 4)}, kSmall);
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].shape, (Shape{1, 3, 9, 5, 5}));
}

TEST(LowerSpatial, PoolingsOfVolumes) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      ModelBuilder b(19);
      const Shape shape = {2, 3, 7, 8, 9};
      b.Input("x", type, shape);
      auto* node = b.Node(op, {"x"}, {"y"});
      SetInts(node, "kernel_shape", {3, 2, 3});
      SetInts(node, "strides", {2, 2, 1});
      SetInts(node, "pads", {1, 0, 1, 1, 1, 0});
      SetInt(node, "ceil_mode", 1);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 4)},
                                kSmall);
    }
  }
}

TEST(LowerSpatial, PlacesOfTheLargest) {
  const std::vector<Shape> shapes = {
      {2, 3, 20}, {2, 3, 9, 11}, {1, 2, 5, 6, 7}};
  for (const Shape& shape : shapes) {
    for (DataType type :
         {DataType::kFloat, DataType::kFloat16, DataType::kUint8}) {
      for (int64_t order : {0, 1}) {
        ModelBuilder b(12);
        b.Input("x", type, shape);
        auto* node = b.Node("MaxPool", {"x"}, {"y", "i"});
        const std::vector<int64_t> ones(shape.size() - 2, 1);
        SetInts(node, "kernel_shape",
                std::vector<int64_t>(shape.size() - 2, 3));
        SetInts(node, "strides", std::vector<int64_t>(shape.size() - 2, 2));
        SetInts(node, "pads", std::vector<int64_t>(2 * ones.size(), 1));
        SetInt(node, "storage_order", order);
        b.Output("y");
        b.Output("i");
        TensorData x = RandomData(type, shape, 4, -3, 3);
        if (type == DataType::kFloat) {
          for (int64_t i = 0; i < x.count(); i += 3) {
            x.as<float>()[i] = -std::numeric_limits<float>::infinity();
          }
        }
        ExpectCardEqualsReference(b.Bytes(), {x}, kSmall);
      }
    }
  }
}

// Infinite coordinates are outside, also of an axis of one element.
TEST(LowerSpatial, GridSampleOfInfiniteCoordinates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (int64_t aligned : {0, 1}) {
      ModelBuilder b(16);
      b.Input("x", DataType::kFloat, {1, 2, 1, 3});
      b.Input("grid", DataType::kFloat, {1, 1, 3, 2});
      auto* node = b.Node("GridSample", {"x", "grid"}, {"y"});
      SetString(node, "padding_mode", padding);
      SetInt(node, "align_corners", aligned);
      b.Output("y");
      const auto y = ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, {1, 2, 1, 3}, 1),
                      Floats({1, 1, 3, 2}, {0.1f, kInfinity, -kInfinity, 0.2f,
                                            kInfinity, -kInfinity})});
      ASSERT_EQ(y.size(), 1u) << padding << " " << aligned;
    }
  }
}

struct Filter {
  std::string mode, coordinate;
  int64_t antialias, exclude;
};

TEST(LowerSpatial, ResizeByFilters) {
  for (const Filter& f :
       std::vector<Filter>{{"cubic", "half_pixel", 0, 0},
                           {"cubic", "align_corners", 0, 1},
                           {"cubic", "asymmetric", 1, 0},
                           {"linear", "half_pixel", 1, 1},
                           {"cubic", "tf_crop_and_resize", 0, 0}}) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      ModelBuilder b(19);
      b.Input("x", type, {2, 3, 10, 12});
      b.Constant("roi", Floats({8}, {0, 0, 0.2f, -0.5f, 1, 1, 0.7f, 1.2f}));
      b.Constant("sizes", Int64s({4}, {2, 3, 7, 25}));
      auto* node = b.Node("Resize", {"x", "roi", "", "sizes"}, {"y"});
      SetString(node, "mode", f.mode);
      SetString(node, "coordinate_transformation_mode", f.coordinate);
      SetInt(node, "antialias", f.antialias);
      SetInt(node, "exclude_outside", f.exclude);
      SetFloat(node, "extrapolation_value", 10);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(),
                                {RandomData(type, {2, 3, 10, 12}, 4)}, kSmall);
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
