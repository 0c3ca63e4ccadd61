// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/compare.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::comparer {
namespace {

using onnx::TensorProto;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Tensor Make(int32_t type, const std::vector<T>& values) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(T));
  return tensor;
}

Tensor Floats(const std::vector<float>& values) {
  return Make(TensorProto::FLOAT, values);
}

bool Within(const Tensor& expected, const Tensor& actual) {
  return CompareWithin(expected, actual, Tolerance()).equal;
}

TEST(CompareTest, EveryFlippedBitOfEveryByteBreaksExactEquality) {
  const Tensor expected = Floats({0.0f, 1.5f, -3e-39f, 7e30f, kInf, kNan});
  ASSERT_TRUE(CompareExact(expected, expected).equal);
  for (size_t byte = 0; byte < expected.bytes.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      Tensor actual = expected;
      actual.bytes[byte] ^= static_cast<char>(1 << bit);
      const Comparison result = CompareExact(expected, actual);
      EXPECT_FALSE(result.equal) << byte << "." << bit;
      EXPECT_EQ(result.differing, 1);
      EXPECT_EQ(result.worst, static_cast<int64_t>(byte / 4));
    }
  }
}

TEST(CompareTest, ZerosOfBothSignsDifferExactlyAndAgreeWithin) {
  EXPECT_FALSE(CompareExact(Floats({0.0f}), Floats({-0.0f})).equal);
  EXPECT_TRUE(Within(Floats({0.0f}), Floats({-0.0f})));
}

TEST(CompareTest, RelativePartOfTheTolerance) {
  // One value: its range is 0, so that only rtol allows a difference.
  EXPECT_TRUE(Within(Floats({1000.0f}), Floats({1000.9f})));
  EXPECT_FALSE(Within(Floats({1000.0f}), Floats({1001.1f})));
}

TEST(CompareTest, RangePartOfTheTolerance) {
  EXPECT_TRUE(Within(Floats({0.0f, 100.0f}), Floats({0.009f, 100.0f})));
  const Comparison result = CompareWithin(
      Floats({0.0f, 100.0f}), Floats({0.011f, 100.0f}), Tolerance());
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.worst, 0);
  EXPECT_NEAR(result.max_error, 0.011, 1e-6);
  EXPECT_EQ(result.range, 100);
}

TEST(CompareTest, NonFiniteNumbersMustBeOfTheSameClass) {
  EXPECT_TRUE(Within(Floats({kNan, kInf, 1}), Floats({kNan, kInf, 1})));
  EXPECT_FALSE(Within(Floats({kInf}), Floats({-kInf})));
  EXPECT_FALSE(Within(Floats({kInf}), Floats({3e38f})));
  EXPECT_FALSE(Within(Floats({1}), Floats({kNan})));
  EXPECT_FALSE(Within(Floats({kNan}), Floats({1})));
  EXPECT_FALSE(Within(Floats({1}), Floats({kInf})));
}

TEST(CompareTest, AbsolutePartOfTheTolerance) {
  const Tolerance tolerance{0, 0, 0.25};
  EXPECT_TRUE(
      CompareWithin(Floats({1, 2}), Floats({1.25f, 2}), tolerance).equal);
  EXPECT_FALSE(
      CompareWithin(Floats({1, 2}), Floats({1.2501f, 2}), tolerance).equal);
}

TEST(CompareTest, IntegersMustBeEqualWhateverTheTolerance) {
  const Tensor expected = Make<int8_t>(TensorProto::INT8, {-128, 0, 127});
  EXPECT_TRUE(Within(expected, expected));
  const Tensor actual = Make<int8_t>(TensorProto::INT8, {-128, 1, 127});
  const Comparison result =
      CompareWithin(expected, actual, Tolerance{1000, 1000, 1000});
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.max_error, 1);
  // Differences that double cannot show.
  EXPECT_FALSE(Within(Make<int64_t>(TensorProto::INT64, {INT64_MAX}),
                      Make<int64_t>(TensorProto::INT64, {INT64_MAX - 1})));
}

TEST(CompareTest, TypeAndShapeMustBeEqual) {
  Tensor wide = Floats({1, 2});
  wide.shape = {2, 1};
  EXPECT_FALSE(Within(Floats({1, 2}), wide));
  EXPECT_FALSE(Within(Floats({1}), Make<int32_t>(TensorProto::INT32, {1})));
  EXPECT_FALSE(CompareExact(Floats({1, 2}), Floats({1})).equal);
  Tensor cut = Floats({1, 2});
  cut.bytes.resize(4);
  EXPECT_FALSE(CompareExact(Floats({1, 2}), cut).equal);
}

TEST(CompareTest, HalfAndBfloatAreNumbers) {
  const Tensor half =
      Make<uint16_t>(TensorProto::FLOAT16, {0x3c00, 0xc000, 0x0001, 0x7c00});
  EXPECT_EQ(ElementValue(half, 0), 1.0);
  EXPECT_EQ(ElementValue(half, 1), -2.0);
  EXPECT_EQ(ElementValue(half, 2), std::ldexp(1.0, -24));
  EXPECT_EQ(ElementValue(half, 3), kInf);
  EXPECT_EQ(ElementValue(Make<uint16_t>(TensorProto::BFLOAT16, {0xc040}), 0),
            -3.0);
}

}  // namespace
}  // namespace heddle::comparer
