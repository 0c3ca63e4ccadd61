// SPDX-License-Identifier: Apache-2.0
// ScatterElements, Scatter and ScatterND on the card.
#include <gtest/gtest.h>

#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

TensorData AnyBits(DataType type, const Shape& shape, uint64_t seed) {
  TensorData bytes = RandomData(
      DataType::kUint8,
      {ElementCount(shape) * static_cast<int64_t>(ElementBytes(type))}, seed);
  bytes.type = type;
  bytes.shape = shape;
  return bytes;
}

// Updates of shape `places` along `axis`, of which many have the same place;
// indices count from either end.
void Check(DataType type, const Shape& shape, const Shape& places, int64_t axis,
           DataType index, const std::string& reduction = "none") {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " by " + ShapeToString(places) + " along " +
               std::to_string(axis) + " " + reduction);
  const auto size = static_cast<float>(shape[axis]);
  const bool none = reduction == "none";
  ModelBuilder b(none ? 13 : 18);
  b.Input("x", type, shape);
  b.Input("i", index, places);
  b.Input("u", type, places);
  auto* node = b.Node("ScatterElements", {"x", "i", "u"}, {"y"});
  SetInt(node, "axis", axis);
  if (!none) SetString(node, "reduction", reduction);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(),
      {AnyBits(type, shape, 3),
       RandomData(index, places, 5, -size - 0.9f, size - 0.1f),
       AnyBits(type, places, 7)},
      kSizes);
}

TEST(LowerScatterElements, Types) {
  for (DataType type :
       {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16,
        DataType::kUint8, DataType::kInt8, DataType::kInt16, DataType::kUint16,
        DataType::kInt32, DataType::kUint32, DataType::kBool}) {
    for (DataType index : {DataType::kInt32, DataType::kInt64}) {
      Check(type, {7, 19}, {7, 23}, 1, index);
    }
  }
}

TEST(LowerScatterElements, Axes) {
  for (int64_t axis : {0, 1, 2, 3}) {
    Shape places = {3, 4, 5, 6};
    places[axis] = 7;
    Check(DataType::kFloat, {3, 4, 5, 6}, places, axis, DataType::kInt64);
  }
  Check(DataType::kFloat, {50}, {33}, 0, DataType::kInt32);
}

// Updates that leave out the end of other dimensions.
TEST(LowerScatterElements, Parts) {
  Check(DataType::kFloat, {8, 9, 10}, {5, 20, 3}, 1, DataType::kInt64);
  Check(DataType::kInt8, {8, 9, 10}, {2, 9, 10}, 2, DataType::kInt64);
  Check(DataType::kFloat, {8, 9, 10}, {1, 1, 1}, 0, DataType::kInt32, "add");
}

TEST(LowerScatterElements, Reductions) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kUint8,
                        DataType::kInt8, DataType::kInt16, DataType::kUint16,
                        DataType::kInt32, DataType::kUint32}) {
    for (const char* reduction : {"add", "mul", "max", "min"}) {
      Check(type, {5, 6, 19}, {5, 9, 19}, 1, DataType::kInt64, reduction);
    }
  }
  for (const char* reduction : {"add", "max"}) {
    Check(DataType::kFloat, {5, 6, 19}, {20, 6, 19}, 0, DataType::kInt64,
          reduction);
    Check(DataType::kFloat, {5, 6, 19}, {5, 6, 40}, 2, DataType::kInt64,
          reduction);
    Check(DataType::kInt32, {30}, {70}, 0, DataType::kInt32, reduction);
  }
}

TEST(LowerScatterElements, LargerThanSram) {
  Check(DataType::kFloat, {40, 30, 70}, {40, 50, 70}, 1, DataType::kInt64);
  Check(DataType::kInt32, {90, 900}, {90, 500}, 1, DataType::kInt32, "add");
}

// Done in pieces.
TEST(LowerScatterElements, AxesLongerThanSram) {
  Check(DataType::kFloat, {5000}, {700}, 0, DataType::kInt32);
  Check(DataType::kFloat, {5000}, {700}, 0, DataType::kInt32, "add");
  Check(DataType::kInt8, {2, 9000, 2}, {2, 900, 2}, 1, DataType::kInt64, "max");
  Check(DataType::kFloat, {35000}, {50}, 0, DataType::kInt64);
}

TEST(LowerScatterElements, IntegersOf64Bits) {
  Check(DataType::kInt32, {4, 5}, {4, 3}, 1, DataType::kInt64);
  ModelBuilder b(18);
  b.Input("x", DataType::kInt64, {4, 5});
  b.Input("i", DataType::kInt64, {4, 3});
  b.Input("u", DataType::kInt64, {4, 3});
  SetString(b.Node("ScatterElements", {"x", "i", "u"}, {"y"}), "reduction",
            "add");
  b.Output("y");
  CompileOptions options;
  EXPECT_EQ(RejectionOf(CompileOnnx(b.Bytes(), options).status()),
            Rejection::kUnsupportedDatatype);
}

TEST(LowerScatter, OfOpset9) {
  ModelBuilder b(9);
  b.Input("x", DataType::kFloat, {3, 7});
  b.Input("i", DataType::kInt32, {3, 4});
  b.Input("u", DataType::kFloat, {3, 4});
  SetInt(b.Node("Scatter", {"x", "i", "u"}, {"y"}), "axis", 1);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {3, 7}, 1),
                             RandomData(DataType::kInt32, {3, 4}, 2, 0, 6.9f),
                             RandomData(DataType::kFloat, {3, 4}, 3)},
                            kSizes);
}

// Updates [to.., row..] of the rows that `depth` indices choose.
void CheckNd(DataType type, const Shape& shape, const Shape& to, int64_t depth,
             const std::string& reduction = "none") {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " by " + ShapeToString(to) + ", " + std::to_string(depth) + " " +
               reduction);
  Shape places = to, updates = to;
  places.push_back(depth);
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  TensorData indices = RandomData(DataType::kInt64, places, 5, 0, 1e6f);
  for (int64_t i = 0; i < indices.count(); ++i) {
    int64_t& v = indices.as<int64_t>()[i];
    v = v % (2 * shape[i % depth]) - shape[i % depth];
  }
  ModelBuilder b(18);
  b.Input("x", type, shape);
  b.Input("i", DataType::kInt64, places);
  b.Input("u", type, updates);
  SetString(b.Node("ScatterND", {"x", "i", "u"}, {"y"}), "reduction",
            reduction);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {AnyBits(type, shape, 3), indices, AnyBits(type, updates, 7)},
      kSizes);
}

TEST(LowerScatterNd, EveryDepthAndReduction) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    for (int64_t depth : {1, 2, 3}) {
      CheckNd(DataType::kFloat, {3, 4, 21}, {17}, depth, reduction);
    }
    CheckNd(DataType::kInt8, {3, 4, 5}, {2, 9}, 2, reduction);
  }
  CheckNd(DataType::kFloat16, {3, 4, 5}, {}, 2);
  CheckNd(DataType::kBool, {3, 4, 5}, {6}, 1);
}

TEST(LowerScatterNd, LargerThanSram) {
  CheckNd(DataType::kFloat, {60, 700}, {50}, 1);
  CheckNd(DataType::kFloat, {30, 20, 90}, {70}, 2, "add");
  CheckNd(DataType::kFloat, {30, 200, 3}, {70}, 2);
}

}  // namespace
}  // namespace heddle::compiler
