// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string Model(const char* op, DataType type, const Shape& shape,
                  int64_t axis, int opset) {
  ModelBuilder b(opset);
  b.Input("x", type, shape);
  SetInt(b.Node(op, {"x"}, {"y"}), "axis", axis);
  b.Output("y");
  return b.Bytes();
}

TEST(LowerSoftmax, EveryAxisOfBothDefinitions) {
  const struct {
    Shape shape;
    int64_t axis;
    int opset;
  } cases[] = {
      {{3, 5, 7}, 0, 13},  {{3, 5, 7}, 1, 13},   {{3, 5, 7}, -1, 13},
      {{3, 5, 7}, 0, 11},  {{3, 5, 7}, 1, 11},   {{3, 5, 7}, -1, 12},
      {{3, 5, 7}, 3, 11},  {{1, 1000}, 1, 11},   {{2, 21, 33, 31}, 1, 13},
      {{873, 21}, -1, 13}, {{40, 2, 18}, 1, 13}, {{16}, 0, 13}};
  CardCase options;
  options.sram_bytes = {0, 16 << 10, 32 << 10};
  int seed = 0;
  for (const auto& c : cases) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      const DataType type =
          ++seed % 5 == 0 ? DataType::kFloat16 : DataType::kFloat;
      SCOPED_TRACE(op + ShapeToString(c.shape) + std::to_string(c.axis));
      ExpectCardEqualsReference(Model(op, type, c.shape, c.axis, c.opset),
                                {RandomData(type, c.shape, seed, -9, 9)},
                                options);
    }
  }
}

TEST(LowerSoftmax, SumsToOneAndAgreesWithTheDefinition) {
  const TensorData x = RandomData(DataType::kFloat, {2, 50}, 5, -20, 20);
  const auto y = ExpectCardEqualsReference(
      Model("Softmax", DataType::kFloat, {2, 50}, 1, 13), {x});
  ASSERT_EQ(y.size(), 1u);
  for (int r = 0; r < 2; ++r) {
    // x - m of up to 40 has an error of 2e-6.
    double sum = 0;
    for (int i = 0; i < 50; ++i)
      sum += std::exp(double(x.as<float>()[50 * r + i]));
    for (int i = 0; i < 50; ++i) {
      const double expected = std::exp(double(x.as<float>()[50 * r + i])) / sum;
      EXPECT_NEAR(y[0].as<float>()[50 * r + i], expected, 4e-6 * expected);
    }
  }
}

TEST(LowerSoftmax, SpecialValues) {
  const TensorData x = Floats({5, 3}, {kInf, 0, 1, -kInf, 0, 1, kNan, 0, 1,
                                       -kInf, -kInf, -kInf, 3e38f, -3e38f, 0});
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    const auto y = ExpectCardEqualsReference(
        Model(op, DataType::kFloat, {5, 3}, 1, 13), {x});
    ASSERT_EQ(y.size(), 1u);
    const float* row = y[0].as<float>();
    EXPECT_TRUE(std::isnan(row[6]) && std::isnan(row[7]) && std::isnan(row[8]));
    const bool log = std::string(op) == "LogSoftmax";
    EXPECT_EQ(row[3], log ? -kInf : 0);
    EXPECT_EQ(row[12], log ? 0 : 1);
    ExpectCardEqualsReference(Model(op, DataType::kFloat, {5, 3}, 0, 13), {x});
  }
}

}  // namespace
}  // namespace heddle::compiler
