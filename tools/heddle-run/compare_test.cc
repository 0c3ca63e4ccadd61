// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::TensorData;

template <typename T>
TensorData Make(DataType type, std::vector<T> values) {
  TensorData t = TensorData::Zeros(type, {static_cast<int64_t>(values.size())});
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

TEST(Compare, Floats) {
  const auto expected = Make<float>(DataType::kFloat, {0, 100, -100, NAN});
  EXPECT_TRUE(Compare(expected, expected, {}).equal);
  auto near = Make<float>(DataType::kFloat, {0.019f, 100.1f, -100.1f, NAN});
  EXPECT_TRUE(Compare(near, expected, {}).equal);
  Tolerance exact;
  exact.exact = true;
  const Comparison bytes = Compare(near, expected, exact);
  EXPECT_FALSE(bytes.equal);
  EXPECT_EQ(bytes.differing, 3);
  EXPECT_EQ(bytes.first, 0);
  auto far = Make<float>(DataType::kFloat, {0, 100, -100.5f, NAN});
  const Comparison differs = Compare(far, expected, {});
  EXPECT_FALSE(differs.equal);
  EXPECT_EQ(differs.first, 2);
  EXPECT_FLOAT_EQ(differs.expected, -100);
  EXPECT_NEAR(differs.max_error, 0.5, 1e-4);
  for (float wrong : {0.0f, INFINITY}) {
    auto no_nan = Make<float>(DataType::kFloat, {0, 100, -100, wrong});
    EXPECT_FALSE(Compare(no_nan, expected, {}).equal);
    EXPECT_FALSE(Compare(expected, no_nan, {}).equal);
  }
}

TEST(Compare, IntegersAreExact) {
  const auto a = Make<int32_t>(DataType::kInt32, {1000000, 2});
  const auto b = Make<int32_t>(DataType::kInt32, {1000001, 2});
  EXPECT_TRUE(Compare(a, a, {}).equal);
  EXPECT_EQ(Compare(b, a, {}).differing, 1);
  // Numbers that a double cannot tell apart.
  const auto c = Make<int64_t>(DataType::kInt64, {INT64_MAX});
  const auto d = Make<int64_t>(DataType::kInt64, {INT64_MAX - 1});
  EXPECT_FALSE(Compare(c, d, {}).equal);
}

// float16 and bfloat16 have a few thousandths of rounding in every operator.
TEST(Compare, TheToleranceKnowsTheType) {
  const auto half = Make<uint16_t>(DataType::kFloat16, {0x3621, 0, 0x3c00});
  const auto near = Make<uint16_t>(DataType::kFloat16, {0x361a, 0, 0x3c00});
  EXPECT_NEAR(ElementAsDouble(half, 0), 0.383057, 1e-6);
  EXPECT_TRUE(Compare(near, half, {}).equal) << "7 units of the last place";
  Tolerance given;
  given.rtol = 1e-3;
  EXPECT_FALSE(Compare(near, half, given).equal) << "the user's word holds";
  const auto far = Make<uint16_t>(DataType::kFloat16, {0x3600, 0, 0x3c00});
  EXPECT_FALSE(Compare(far, half, {}).equal);
  const auto brain = Make<uint16_t>(DataType::kBfloat16, {0x3f80, 0xbf80});
  const auto brain_near = Make<uint16_t>(DataType::kBfloat16, {0x3f88, 0xbf80});
  const auto brain_far = Make<uint16_t>(DataType::kBfloat16, {0x3f90, 0xbf80});
  EXPECT_TRUE(Compare(brain_near, brain, {}).equal);
  EXPECT_FALSE(Compare(brain_far, brain, {}).equal);
}

TEST(Compare, InQuantizationSteps) {
  Tolerance steps;
  steps.steps = 2;
  const auto codes = Make<uint8_t>(DataType::kUint8, {10, 20});
  const auto two = Make<uint8_t>(DataType::kUint8, {12, 20});
  EXPECT_FALSE(Compare(two, codes, {}, 1).equal);
  EXPECT_TRUE(Compare(two, codes, steps, 1).equal);
  EXPECT_FALSE(Compare(two, codes, steps, 0).equal) << "no step is known";
  EXPECT_EQ(Compare(two, codes, steps, 1).max_steps, 2);
  const auto values = Make<float>(DataType::kFloat, {0, 1.5f, 3});
  const auto moved = Make<float>(DataType::kFloat, {0, 1, 3});
  EXPECT_FALSE(Compare(moved, values, {}, 0.25).equal);
  EXPECT_TRUE(Compare(moved, values, steps, 0.25).equal);
  steps.steps = 1;
  EXPECT_FALSE(Compare(moved, values, steps, 0.25).equal);
  steps.steps = 2;
  steps.exact = true;
  EXPECT_FALSE(Compare(moved, values, steps, 0.25).equal);
}

TEST(Compare, TypeAndShape) {
  const auto a = Make<int8_t>(DataType::kInt8, {1, 2});
  const auto b = Make<uint8_t>(DataType::kUint8, {1, 2});
  const auto c = Make<int8_t>(DataType::kInt8, {1});
  EXPECT_FALSE(Compare(a, b, {}).problem.empty());
  EXPECT_FALSE(Compare(a, c, {}).problem.empty());
}

TEST(Compare, Halves) {
  const auto t = Make<uint16_t>(DataType::kFloat16,
                                {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00});
  EXPECT_EQ(ElementAsDouble(t, 0), 1.0);
  EXPECT_EQ(ElementAsDouble(t, 1), -2.0);
  EXPECT_EQ(ElementAsDouble(t, 2), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isinf(ElementAsDouble(t, 3)));
  EXPECT_TRUE(std::isnan(ElementAsDouble(t, 4)));
}

}  // namespace
}  // namespace heddle::run
