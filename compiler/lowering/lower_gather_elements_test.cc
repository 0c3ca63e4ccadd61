// SPDX-License-Identifier: Apache-2.0
// GatherElements on the card.
#include <gtest/gtest.h>

#include <string>

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

// x of `shape`, chosen along `axis` by int32 or int64 indices of shape `to`
// that count from either end.
void Check(DataType type, const Shape& shape, const Shape& to, int64_t axis,
           DataType index, int64_t opset = 13) {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " by " + ShapeToString(to) + " along " + std::to_string(axis));
  const auto rank = static_cast<int64_t>(shape.size());
  const auto size = static_cast<float>(shape[axis < 0 ? axis + rank : axis]);
  ModelBuilder b(opset);
  b.Input("x", type, shape);
  b.Input("i", index, to);
  SetInt(b.Node("GatherElements", {"x", "i"}, {"y"}), "axis", axis);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(),
      {AnyBits(type, shape, 3),
       RandomData(index, to, 5, -size - 0.9f, size - 0.1f)},
      kSizes);
}

TEST(LowerGatherElements, Types) {
  for (DataType type :
       {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16,
        DataType::kUint8, DataType::kInt8, DataType::kInt16, DataType::kUint16,
        DataType::kInt32, DataType::kUint32, DataType::kBool}) {
    for (DataType index : {DataType::kInt32, DataType::kInt64}) {
      Check(type, {7, 19}, {7, 23}, 1, index);
    }
  }
}

TEST(LowerGatherElements, Axes) {
  for (int64_t axis : {0, 1, 2, 3, -1, -4}) {
    Check(DataType::kFloat, {3, 4, 5, 6}, {3, 4, 5, 6}, axis, DataType::kInt64);
  }
  Check(DataType::kFloat, {50}, {33}, 0, DataType::kInt32, 11);
  Check(DataType::kUint8, {2, 3, 4, 5, 6}, {2, 3, 9, 5, 6}, 2,
        DataType::kInt64);
}

// Indices that leave out the end of other dimensions.
TEST(LowerGatherElements, Parts) {
  Check(DataType::kFloat, {8, 9, 10}, {5, 20, 3}, 1, DataType::kInt64);
  Check(DataType::kInt8, {8, 9, 10}, {2, 9, 10}, 2, DataType::kInt64);
  Check(DataType::kFloat, {8, 9, 10}, {1, 1, 1}, 0, DataType::kInt32);
}

TEST(LowerGatherElements, LargerThanSram) {
  Check(DataType::kFloat, {6, 30, 70}, {6, 50, 70}, 1, DataType::kInt64);
  Check(DataType::kFloat, {9, 900}, {9, 500}, 1, DataType::kInt32);
  Check(DataType::kFloat, {300, 20}, {700, 20}, 0, DataType::kInt32);
}

// Gone through in pieces.
TEST(LowerGatherElements, AxesLongerThanSram) {
  Check(DataType::kFloat, {6000}, {200}, 0, DataType::kInt32);
  Check(DataType::kInt8, {3, 9000, 2}, {3, 70, 2}, 1, DataType::kInt64);
  Check(DataType::kFloat16, {70000}, {100}, 0, DataType::kInt64);
}

TEST(LowerGatherElements, ConstantsAndChains) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {6, 40});
  b.Constant("i", RandomData(DataType::kInt64, {6, 40}, 5, -40.9f, 39.9f));
  b.Node("Relu", {"x"}, {"r"});
  SetInt(b.Node("GatherElements", {"r", "i"}, {"g"}), "axis", 1);
  b.Node("Neg", {"g"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {6, 40}, 1)}, kSizes);
}

}  // namespace
}  // namespace heddle::compiler
