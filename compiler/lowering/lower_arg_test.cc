// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string Model(const char* op, DataType type, const Shape& shape,
                  int64_t axis, bool keep, bool last) {
  ModelBuilder b(13);
  b.Input("x", type, shape);
  onnx::NodeProto* node = b.Node(op, {"x"}, {"y"});
  SetInt(node, "axis", axis);
  if (!keep) SetInt(node, "keepdims", 0);
  if (last) SetInt(node, "select_last_index", 1);
  b.Output("y");
  return b.Bytes();
}

TEST(LowerArg, EveryFormTilesOverItsResults) {
  struct {
    Shape shape;
    int64_t axis;
  } const cases[] = {{{3, 5, 7}, 0}, {{3, 5, 7}, 1},       {{3, 5, 7}, -1},
                     {{1, 1000}, 1}, {{2, 21, 33, 31}, 1}, {{70, 90}, -1},
                     {{17}, 0}};
  CardCase options;
  options.sram_bytes = {0, 16 << 10};
  int seed = 0;
  for (const auto& c : cases) {
    for (const char* op : {"ArgMax", "ArgMin"}) {
      for (const DataType type :
           {DataType::kFloat, DataType::kInt32, DataType::kUint8,
            DataType::kFloat16, DataType::kInt8}) {
        // Few values, so that many are equal.
        SCOPED_TRACE(op + ShapeToString(c.shape) + DataTypeName(type));
        TensorData x = RandomData(type, c.shape, ++seed, -3, 3);
        if (type == DataType::kFloat) {
          for (int64_t i = 0; i < x.count(); ++i) {
            x.as<float>()[i] = static_cast<float>(int(x.as<float>()[i]));
          }
        }
        ExpectCardEqualsReference(
            Model(op, type, c.shape, c.axis, seed % 2, seed % 4 < 2), {x},
            options);
      }
    }
  }
}

TEST(LowerArg, NansAndInfinities) {
  const TensorData x = Floats({3, 4}, {kNan, -kInf, 2, 2, -kInf, -kInf, -kInf,
                                       kNan, kNan, kInf, kInf, kNan});
  auto y = ExpectCardEqualsReference(
      Model("ArgMax", DataType::kFloat, {3, 4}, 1, false, false), {x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<int64_t>()[0], 2);
  EXPECT_EQ(y[0].as<int64_t>()[2], 1);
  y = ExpectCardEqualsReference(
      Model("ArgMax", DataType::kFloat, {3, 4}, 1, false, true), {x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<int64_t>()[0], 3);
  EXPECT_EQ(y[0].as<int64_t>()[1], 2);
}

// Of rows along the lanes, which some lanes have nothing of.
TEST(LowerArg, NansAndInfinitiesInLongRows) {
  constexpr int64_t kRows = 7, kCount = 37;
  TensorData x = RandomData(DataType::kFloat, {kRows, kCount}, 4);
  float* v = x.as<float>();
  for (int64_t i = 0; i < kCount; ++i) {
    v[i] = kNan;
    v[kCount + i] = -kInf;
    v[2 * kCount + i] = i == 20 ? -kInf : kNan;
    v[3 * kCount + i] = i % 3 == 0 ? kNan : kInf;
    v[4 * kCount + i] = i % 2 == 0 ? -0.0f : 0.0f;
    v[5 * kCount + i] = i % 17 == 5 ? 9.0f : v[5 * kCount + i];
  }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    for (const bool last : {false, true}) {
      SCOPED_TRACE(std::string(op) + (last ? " last" : ""));
      ExpectCardEqualsReference(
          Model(op, DataType::kFloat, {kRows, kCount}, 1, true, last), {x});
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
