// SPDX-License-Identifier: Apache-2.0
// TopK on the card.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const CardCase kSizes = {{0, 16 << 10}, true, true};

std::string Model(DataType type, const Shape& shape, int64_t axis, int64_t k,
                  bool largest) {
  ModelBuilder b(13);
  b.Input("x", type, shape);
  b.Constant("k", Int64s({1}, {k}));
  auto* node = b.Node("TopK", {"x", "k"}, {"v", "i"});
  SetInt(node, "axis", axis);
  if (!largest) SetInt(node, "largest", 0);
  b.Output("v");
  b.Output("i");
  return b.Bytes();
}

// Few values, so that many are equal.
void Check(DataType type, const Shape& shape, int64_t axis, int64_t k,
           bool largest) {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " along " + std::to_string(axis) + ", k " + std::to_string(k) +
               (largest ? " largest" : " smallest"));
  TensorData x = RandomData(type, shape, 11 + k, -9, 9);
  if (type == DataType::kFloat) {
    for (int64_t i = 0; i < x.count(); i += 2) {
      x.as<float>()[i] = static_cast<float>(static_cast<int>(x.as<float>()[i]));
    }
  }
  ExpectCardEqualsReference(Model(type, shape, axis, k, largest), {x}, kSizes);
}

TEST(LowerTopK, Types) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kUint8,
                        DataType::kInt8, DataType::kInt16, DataType::kUint16,
                        DataType::kInt32, DataType::kUint32}) {
    for (bool largest : {true, false}) Check(type, {5, 37}, 1, 9, largest);
  }
}

TEST(LowerTopK, AxesAndSizes) {
  for (int64_t axis : {0, 1, 2, -1}) {
    Check(DataType::kFloat, {3, 5, 7}, axis, 3, true);
    Check(DataType::kFloat, {3, 5, 7}, axis, 1, false);
  }
  Check(DataType::kFloat, {1}, 0, 1, true);
  Check(DataType::kFloat, {1000}, 0, 5, true);
  Check(DataType::kFloat, {2, 64}, 1, 64, true);
  Check(DataType::kUint8, {3, 65}, 1, 64, false);
  // Lines are columns of an image of their own.
  Check(DataType::kFloat, {2, 90, 60}, 1, 4, true);
  Check(DataType::kFloat, {2, 2, 2000}, 1, 1, true);
}

TEST(LowerTopK, LongAxes) {
  Check(DataType::kFloat, {2, 1025}, 1, 3, true);
  Check(DataType::kInt32, {5000, 2}, 0, 64, false);
}

TEST(LowerTopK, LargerThanSram) {
  Check(DataType::kFloat, {60, 400}, 1, 2, true);
  Check(DataType::kInt8, {3, 70, 900}, 1, 2, false);
}

TEST(LowerTopK, ExtremesAndEqualOnes) {
  const TensorData x =
      Floats({3, 6}, {kNan, -kInf, 2, 2, kInf, -0.0f, 0, -0.0f, 0, -1, -1, 0,
                      -kInf, -kInf, -kNan, kNan, -kInf, -kInf});
  for (bool largest : {true, false}) {
    const auto y = ExpectCardEqualsReference(
        Model(DataType::kFloat, {3, 6}, 1, 6, largest), {x}, kSizes);
    ASSERT_EQ(y.size(), 2u);
    const std::vector<int64_t> up = {0, 4, 2, 3, 5, 1, 0, 1, 2,
                                     5, 3, 4, 2, 3, 0, 1, 4, 5},
                               down = {1, 5, 2, 3, 4, 0, 3, 4, 0,
                                       1, 2, 5, 0, 1, 4, 5, 2, 3};
    const std::vector<int64_t>& want = largest ? up : down;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(y[1].as<int64_t>()[i], want[i]) << largest << " " << i;
    }
  }
  // The least integer is found like any other.
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(),
                    kMax = std::numeric_limits<int32_t>::max();
  for (bool largest : {true, false}) {
    const auto y = ExpectCardEqualsReference(
        Model(DataType::kInt32, {1, 5}, 1, 5, largest),
        {Int32s({1, 5}, {kMin, kMax, kMin, kMax, 0})}, kSizes);
    ASSERT_EQ(y.size(), 2u);
    const std::vector<int64_t> up = {1, 3, 4, 0, 2}, down = {0, 2, 4, 1, 3};
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(y[1].as<int64_t>()[i], (largest ? up : down)[i]) << i;
    }
  }
}

TEST(LowerTopK, OlderFormsAndOneOutput) {
  {
    ModelBuilder b(9);
    b.Input("x", DataType::kFloat, {4, 20});
    SetInt(b.Node("TopK", {"x"}, {"v", "i"}), "k", 3);
    b.Output("v");
    b.Output("i");
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kFloat, {4, 20}, 1)}, kSizes);
  }
  ModelBuilder b(11);
  b.Input("x", DataType::kFloat, {4, 20});
  b.Constant("k", Int64s({1}, {2}));
  auto* node = b.Node("TopK", {"x", "k"}, {"v"});
  SetInt(node, "sorted", 0);
  b.Output("v");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {4, 20}, 1)}, kSizes);
}

TEST(LowerTopK, WhatTheCardRefuses) {
  CompileOptions options;
  EXPECT_EQ(
      RejectionOf(
          CompileOnnx(Model(DataType::kFloat, {4, 90}, 1, 65, true), options)
              .status()),
      Rejection::kUnsupportedShape);
  EXPECT_EQ(RejectionOf(CompileOnnx(Model(DataType::kInt64, {4, 9}, 1, 2, true),
                                    options)
                            .status()),
            Rejection::kUnsupportedDatatype);
}

}  // namespace
}  // namespace heddle::compiler
