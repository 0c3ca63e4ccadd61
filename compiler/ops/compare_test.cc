// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/ops/half.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

std::string Bits(const char* op, const TensorData& a, const TensorData& b) {
  const auto y = RunNode({op, "", 13, {}}, {a, b});
  EXPECT_TRUE(y.ok()) << y.status();
  std::string bits;
  if (!y.ok()) return bits;
  EXPECT_EQ(y->type, DataType::kBool);
  for (uint8_t v : y->bytes) bits += static_cast<char>('0' + v);
  return bits;
}

TEST(CompareTest, NothingHoldsWithANan) {
  const TensorData a = Floats({4}, {1, 2, std::nanf(""), -0.0f});
  const TensorData b = Floats({4}, {2, 2, std::nanf(""), 0.0f});
  for (const DataType type : {DataType::kFloat, DataType::kFloat16}) {
    const TensorData x = Narrowed(a, type), y = Narrowed(b, type);
    EXPECT_EQ(Bits("Equal", x, y), "0101");
    EXPECT_EQ(Bits("Less", x, y), "1000");
    EXPECT_EQ(Bits("LessOrEqual", x, y), "1101");
    EXPECT_EQ(Bits("Greater", x, y), "0000");
    EXPECT_EQ(Bits("GreaterOrEqual", x, y), "0101");
  }
}

TEST(CompareTest, IntegersByTheirSign) {
  const auto data = [](DataType type) {
    return MakeData<uint32_t>(type, {3}, {0x80000000u, 1, 0xffffffffu});
  };
  const auto one = [](DataType type) {
    return MakeData<uint32_t>(type, {1}, {1});
  };
  EXPECT_EQ(Bits("Greater", data(DataType::kUint32), one(DataType::kUint32)),
            "101");
  EXPECT_EQ(Bits("Greater", data(DataType::kInt32), one(DataType::kInt32)),
            "000");
  EXPECT_EQ(Bits("LessOrEqual", Int64s({2, 1}, {int64_t{1} << 40, -1}),
                 Int64s({2}, {0, int64_t{1} << 41})),
            "0111");
  EXPECT_EQ(Bits("Equal", MakeData<uint8_t>(DataType::kBool, {2}, {1, 0}),
                 MakeData<uint8_t>(DataType::kBool, {2}, {1, 1})),
            "10");
}

TEST(CompareTest, Opsets) {
  EXPECT_FALSE(
      RunNode({"Less", "", 7, {}}, {Int32s({1}, {1}), Int32s({1}, {1})}).ok());
  EXPECT_FALSE(
      RunNode({"Equal", "", 7, {}}, {Floats({1}, {1}), Floats({1}, {1})}).ok());
  EXPECT_FALSE(
      RunNode({"LessOrEqual", "", 11, {}}, {Floats({1}, {1}), Floats({1}, {1})})
          .ok());
}

}  // namespace
}  // namespace heddle::compiler
