// SPDX-License-Identifier: Apache-2.0
// Logic and bits, Shrink and CastLike: results and rejections, by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/define.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

NodeSpec Spec(const std::string& op, int opset,
              std::map<std::string, Attribute> attributes = {}) {
  return {op, "", opset, std::move(attributes)};
}

TensorData Bools(const Shape& shape, const std::vector<uint8_t>& values) {
  return MakeData(DataType::kBool, shape, values);
}

std::string Bits(const absl::StatusOr<TensorData>& y) {
  EXPECT_TRUE(y.ok()) << y.status();
  std::string bits;
  if (!y.ok()) return bits;
  EXPECT_EQ(y->type, DataType::kBool);
  for (uint8_t v : y->bytes) bits += static_cast<char>('0' + v);
  return bits;
}

template <typename T>
std::vector<T> Values(const absl::StatusOr<TensorData>& y) {
  EXPECT_TRUE(y.ok()) << y.status();
  if (!y.ok()) return {};
  return std::vector<T>(y->as<T>(), y->as<T>() + y->count());
}

TEST(LogicTest, TruthTables) {
  const TensorData a = Bools({2, 1}, {0, 1}), b = Bools({2}, {0, 1});
  EXPECT_EQ(Bits(RunNode(Spec("And", 7), {a, b})), "0001");
  EXPECT_EQ(Bits(RunNode(Spec("Or", 7), {a, b})), "0111");
  EXPECT_EQ(Bits(RunNode(Spec("Xor", 7), {a, b})), "0110");
  EXPECT_EQ(Bits(RunNode(Spec("Not", 1), {b})), "10");
  EXPECT_EQ(
      RejectionOf(RunNode(Spec("And", 7), {b, Bools({3}, {0, 0, 0})}).status()),
      Rejection::kMismatchingShape);
  EXPECT_EQ(RejectionOf(RunNode(Spec("Or", 7), {a, Uint8s({}, {1})}).status()),
            Rejection::kUnsupportedDatatype);
}

// By the width and more nothing is left, as numpy has it.
TEST(LogicTest, Shifts) {
  const auto left = Spec("BitShift", 11, {{"direction", "LEFT"}});
  const auto right = Spec("BitShift", 11, {{"direction", "RIGHT"}});
  const TensorData x = Uint8s({6}, {1, 0x81, 255, 255, 255, 3});
  const TensorData n = Uint8s({6}, {0, 1, 7, 8, 32, 255});
  EXPECT_EQ(Values<uint8_t>(RunNode(left, {x, n})),
            (std::vector<uint8_t>{1, 2, 128, 0, 0, 0}));
  EXPECT_EQ(Values<uint8_t>(RunNode(right, {x, n})),
            (std::vector<uint8_t>{1, 0x40, 1, 0, 0, 0}));
  const auto u32 = [](const std::vector<uint32_t>& v) {
    return MakeData(DataType::kUint32, {static_cast<int64_t>(v.size())}, v);
  };
  EXPECT_EQ(Values<uint32_t>(RunNode(
                left, {u32({~0u, ~0u, ~0u, ~0u}), u32({31, 32, 33, ~0u})})),
            (std::vector<uint32_t>{1u << 31, 0, 0, 0}));
  EXPECT_EQ(Values<uint32_t>(
                RunNode(right, {u32({~0u, ~0u, 1u << 31}), u32({31, 32, 4})})),
            (std::vector<uint32_t>{1, 0, 1u << 27}));
  const auto u64 = [](const std::vector<uint64_t>& v) {
    return MakeData(DataType::kUint64, {static_cast<int64_t>(v.size())}, v);
  };
  EXPECT_EQ(
      Values<uint64_t>(RunNode(left, {u64({1, 1, 1}), u64({40, 63, 64})})),
      (std::vector<uint64_t>{uint64_t{1} << 40, uint64_t{1} << 63, 0}));
  EXPECT_EQ(
      RejectionOf(RunNode(Spec("BitShift", 11, {{"direction", "UP"}}), {x, n})
                      .status()),
      Rejection::kInvalidModel);
}

TEST(LogicTest, Bitwise) {
  const TensorData a = Int8s({4}, {-1, 0x55, -128, 3});
  const TensorData b = Int8s({4}, {0x0f, -1, 127, 5});
  EXPECT_EQ(Values<int8_t>(RunNode(Spec("BitwiseAnd", 18), {a, b})),
            (std::vector<int8_t>{0x0f, 0x55, 0, 1}));
  EXPECT_EQ(Values<int8_t>(RunNode(Spec("BitwiseOr", 18), {a, b})),
            (std::vector<int8_t>{-1, -1, -1, 7}));
  EXPECT_EQ(Values<int8_t>(RunNode(Spec("BitwiseXor", 18), {a, b})),
            (std::vector<int8_t>{-16, ~0x55, -1, 6}));
  EXPECT_EQ(Values<int8_t>(RunNode(Spec("BitwiseNot", 18), {a})),
            (std::vector<int8_t>{0, ~0x55, 127, -4}));
  EXPECT_EQ(
      Values<uint8_t>(RunNode(Spec("BitwiseNot", 18), {Uint8s({2}, {0, 1})})),
      (std::vector<uint8_t>{255, 254}));
  EXPECT_EQ(Values<int64_t>(RunNode(Spec("BitwiseXor", 18),
                                    {Int64s({2}, {1, -1}), Int64s({}, {3})})),
            (std::vector<int64_t>{2, -4}));
  EXPECT_EQ(
      Values<int64_t>(RunNode(Spec("BitwiseNot", 18), {Int64s({1}, {5})})),
      (std::vector<int64_t>{-6}));
}

TEST(LogicTest, SpecialNumbers) {
  const TensorData x =
      Floats({6}, {1, kInf, -kInf, std::nanf(""), -std::nanf(""), -0.0f});
  EXPECT_EQ(Bits(RunNode(Spec("IsNaN", 9), {x})), "000110");
  EXPECT_EQ(Bits(RunNode(Spec("IsInf", 10), {x})), "011000");
  const auto with = [](int64_t positive, int64_t negative) {
    return Spec("IsInf", 10,
                {{"detect_positive", positive}, {"detect_negative", negative}});
  };
  EXPECT_EQ(Bits(RunNode(with(1, 0), {x})), "010000");
  EXPECT_EQ(Bits(RunNode(with(0, 1), {x})), "001000");
  EXPECT_EQ(Bits(RunNode(with(0, 0), {x})), "000000");
}

TEST(LogicTest, Shrinks) {
  const auto spec = Spec("Shrink", 9, {{"lambd", 1.5f}, {"bias", 1.5f}});
  EXPECT_EQ(Values<float>(RunNode(
                spec, {Floats({6}, {-2, -1.5f, 0, 1.5f, 2, std::nanf("")})})),
            (std::vector<float>{-0.5f, 0, 0, 0, 0.5f, 0}));
  EXPECT_EQ(Values<int8_t>(RunNode(spec, {Int8s({5}, {-5, -1, 0, 1, 4})})),
            (std::vector<int8_t>{-3, 0, 0, 0, 2}));
  // Below -lambd counts first.
  EXPECT_EQ(Values<float>(
                RunNode(Spec("Shrink", 9, {{"lambd", -1.0f}, {"bias", 0.25f}}),
                        {Floats({3}, {0.5f, -3, 4})})),
            (std::vector<float>{0.75f, -2.75f, 3.75f}));
}

TEST(LogicTest, CastsToTheTypeOfTheSecond) {
  const auto y = RunNode(Spec("CastLike", 15),
                         {Floats({3}, {1.5f, -2.5f, 300}), Int32s({}, {7})});
  EXPECT_EQ(Values<int32_t>(y), (std::vector<int32_t>{1, -2, 300}));
  EXPECT_EQ(Bits(RunNode(Spec("CastLike", 15),
                         {Floats({2}, {0, 0.5f}), Bools({1}, {0})})),
            "01");
}

}  // namespace
}  // namespace heddle::compiler
