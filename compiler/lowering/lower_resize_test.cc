// SPDX-License-Identifier: Apache-2.0
// Resize, Upsample and Gather on the card.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

const DataType kTypes[] = {DataType::kFloat,    DataType::kFloat16,
                           DataType::kBfloat16, DataType::kUint8,
                           DataType::kInt8,     DataType::kInt16,
                           DataType::kUint16,   DataType::kInt32,
                           DataType::kUint32,   DataType::kBool};

TensorData AnyBits(DataType type, const Shape& shape, uint64_t seed) {
  TensorData bytes = RandomData(
      DataType::kUint8,
      {ElementCount(shape) * static_cast<int64_t>(ElementBytes(type))}, seed);
  bytes.type = type;
  bytes.shape = shape;
  return bytes;
}

struct ResizeCase {
  std::string mode, coordinate, nearest;
  std::vector<float> scales;
  std::vector<int64_t> sizes;
};

void CheckResize(DataType type, const Shape& shape, const ResizeCase& c) {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + c.mode + " " +
               c.coordinate + " " + c.nearest);
  ModelBuilder b;
  b.Input("x", type, shape);
  b.Constant("scales",
             Floats({static_cast<int64_t>(c.scales.size())}, c.scales));
  std::vector<std::string> inputs = {"x", "", "scales"};
  if (!c.sizes.empty()) {
    b.Constant("sizes",
               Int64s({static_cast<int64_t>(c.sizes.size())}, c.sizes));
    inputs = {"x", "", "", "sizes"};
  }
  auto* node = b.Node("Resize", inputs, {"y"});
  SetString(node, "mode", c.mode);
  SetString(node, "coordinate_transformation_mode", c.coordinate);
  SetString(node, "nearest_mode", c.nearest);
  b.Output("y");
  const TensorData x = type == DataType::kFloat ? RandomData(type, shape, 3)
                                                : AnyBits(type, shape, 3);
  ExpectCardEqualsReference(b.Bytes(), {x}, kSizes);
}

TEST(LowerResize, NearestModes) {
  for (const char* coordinate :
       {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn"}) {
    for (const char* nearest :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      CheckResize(DataType::kFloat, {2, 3, 9, 11},
                  {"nearest", coordinate, nearest, {1, 1, 2, 3}, {}});
      CheckResize(DataType::kUint8, {1, 5, 9, 11},
                  {"nearest", coordinate, nearest, {}, {1, 5, 13, 7}});
      CheckResize(DataType::kFloat, {1, 2, 30, 31},
                  {"nearest", coordinate, nearest, {}, {1, 3, 47, 90}});
    }
  }
}

TEST(LowerResize, NearestTypes) {
  for (DataType type : kTypes) {
    CheckResize(type, {2, 16, 13, 7},
                {"nearest", "asymmetric", "floor", {1, 1, 2, 2}, {}});
    CheckResize(type, {1, 3, 13, 17},
                {"nearest", "half_pixel", "floor", {1, 1, 1.7f, 2.3f}, {}});
  }
}

TEST(LowerResize, Linear) {
  for (const char* coordinate :
       {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
    CheckResize(DataType::kFloat, {2, 3, 9, 11},
                {"linear", coordinate, "floor", {1, 1, 2, 2}, {}});
    CheckResize(DataType::kFloat, {1, 5, 9, 11},
                {"linear", coordinate, "floor", {}, {1, 5, 14, 6}});
    CheckResize(DataType::kFloat, {20, 30},
                {"linear", coordinate, "floor", {0.6f, 3}, {}});
    CheckResize(DataType::kFloat, {2, 3, 50},
                {"linear", coordinate, "floor", {1, 2, 1.5f}, {}});
  }
}

TEST(LowerResize, LargerThanSram) {
  CheckResize(DataType::kFloat, {1, 8, 120, 100},
              {"nearest", "asymmetric", "floor", {1, 1, 2, 2}, {}});
  CheckResize(DataType::kFloat, {1, 8, 60, 50},
              {"linear", "half_pixel", "floor", {1, 1, 2, 2}, {}});
}

TEST(LowerResize, PlanesWiderThanStrips) {
  for (const char* mode : {"nearest", "linear"}) {
    CheckResize(DataType::kFloat, {1, 5, 5, 130},
                {mode, "half_pixel", "floor", {1, 1, 2, 1.3f}, {}});
    CheckResize(DataType::kFloat, {40, 4, 4},
                {mode, "half_pixel", "floor", {1, 4, 4}, {}});
  }
}

// Codes between matrix operations stay in their layout.
TEST(LowerResize, CodesInBlocks) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 32, 9, 10});
  b.Quantize("x", "q", 0.05f, Uint8s({}, {7}));
  auto* pool = b.Node("MaxPool", {"q"}, {"p"});
  SetInts(pool, "kernel_shape", {2, 2});
  b.Constant("scales", Floats({4}, {1, 1, 2, 2}));
  auto* node = b.Node("Resize", {"p", "", "scales"}, {"r"});
  SetString(node, "coordinate_transformation_mode", "asymmetric");
  SetString(node, "nearest_mode", "floor");
  SetInt(b.Node("Concat", {"r", "r"}, {"c"}), "axis", 1);
  auto* after = b.Node("MaxPool", {"c"}, {"z"});
  SetInts(after, "kernel_shape", {2, 2});
  b.Output("z");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 32, 9, 10}, 1)}, kSizes);
}

TEST(LowerGather, ConstantIndices) {
  for (DataType type : kTypes) {
    for (int64_t axis : {0, 1, 2, -1}) {
      ModelBuilder b;
      b.Input("x", type, {5, 6, 7, 9});
      b.Constant("i", Int64s({2, 3}, {4, -5, 2, 1, 1, 0}));
      SetInt(b.Node("Gather", {"x", "i"}, {"y"}), "axis", axis);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {AnyBits(type, {5, 6, 7, 9}, 3)},
                                kSizes);
    }
  }
}

TEST(LowerGather, ComputedIndices) {
  for (DataType type : kTypes) {
    for (DataType index : {DataType::kInt32, DataType::kInt64}) {
      for (bool constant_table : {false, true}) {
        for (int64_t row : {1, 17, 64}) {
          SCOPED_TRACE(std::string(DataTypeName(type)) + " row " +
                       std::to_string(row));
          ModelBuilder b;
          b.Input("i", index, {3, 11});
          std::vector<TensorData> in = {
              RandomData(index, {3, 11}, 5, -13.9f, 12.9f)};
          const TensorData table = AnyBits(type, {13, row}, 3);
          if (constant_table) {
            b.Constant("x", table);
          } else {
            b.Input("in", type, {13, row});
            b.Constant("twice", Int64s({2}, {2, 1}));
            b.Node("Tile", {"in", "twice"}, {"long"});
            b.Constant("s", Int64s({1}, {0}));
            b.Constant("e", Int64s({1}, {13}));
            b.Node("Slice", {"long", "s", "e"}, {"x"});
            in.push_back(table);
          }
          b.Node("Gather", {"x", "i"}, {"y"});
          b.Output("y");
          ExpectCardEqualsReference(b.Bytes(), in, kSizes);
        }
      }
    }
  }
}

TEST(LowerGather, ComputedIndicesOfTheLastAxis) {
  for (DataType type : kTypes) {
    for (DataType index : {DataType::kInt32, DataType::kInt64}) {
      ModelBuilder b;
      b.Input("x", type, {5, 6, 37}).Input("i", index, {2, 19});
      SetInt(b.Node("Gather", {"x", "i"}, {"y"}), "axis", -1);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(),
                                {AnyBits(type, {5, 6, 37}, 3),
                                 RandomData(index, {2, 19}, 5, -37.9f, 36.9f)},
                                kSizes);
    }
  }
}

TEST(LowerGather, ManyConstantIndices) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {500, 20});
  b.Constant("i", RandomData(DataType::kInt64, {700}, 5, -499.9f, 499.9f));
  b.Node("Gather", {"x", "i"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {500, 20}, 1)}, kSizes);
}

}  // namespace
}  // namespace heddle::compiler
