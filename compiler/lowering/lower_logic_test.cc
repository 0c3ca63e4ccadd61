// SPDX-License-Identifier: Apache-2.0
// Logic and bits, CastLike, Shrink and the Gelu family on the card.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/ops/define.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

const Shape kShape = {2, 5, 9, 33};

TensorData AnyBits(DataType type, uint64_t seed) {
  TensorData data = TensorData::Zeros(type, kShape);
  for (uint8_t& byte : data.bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(seed >> 56);
  }
  return data;
}

TEST(LowerLogic, TruthValues) {
  ModelBuilder b;
  b.Input("x", DataType::kBool, kShape);
  b.Input("y", DataType::kBool, {9, 33});
  b.Node("And", {"x", "y"}, {"and"});
  b.Node("Or", {"x", "y"}, {"or"});
  b.Node("Xor", {"and", "or"}, {"xor"});
  b.Node("Not", {"xor"}, {"not"});
  for (const char* name : {"and", "or", "xor", "not"}) b.Output(name);
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kBool, kShape, 1),
                             RandomData(DataType::kBool, {9, 33}, 2)},
                            kSmall);
}

// A condition that several comparisons make, in one program with what it
// selects.
TEST(LowerLogic, ConditionsOfComparisons) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Input("y", DataType::kFloat, kShape);
  b.Node("Less", {"x", "y"}, {"less"});
  b.Node("IsNaN", {"x"}, {"nan"});
  b.Node("IsInf", {"y"}, {"inf"});
  b.Node("Or", {"nan", "inf"}, {"special"});
  b.Node("Not", {"special"}, {"normal"});
  b.Node("And", {"less", "normal"}, {"condition"});
  b.Node("Where", {"condition", "x", "y"}, {"z"});
  b.Output("z");
  TensorData x = RandomData(DataType::kFloat, kShape, 3);
  TensorData y = RandomData(DataType::kFloat, kShape, 4);
  for (int64_t i = 0; i < x.count(); i += 7) x.as<float>()[i] = std::nanf("");
  for (int64_t i = 0; i < y.count(); i += 5) {
    y.as<float>()[i] =
        (i % 2 ? 1 : -1) * std::numeric_limits<float>::infinity();
  }
  ExpectCardEqualsReference(b.Bytes(), {x, y}, kSmall);
}

TEST(LowerLogic, Shifts) {
  for (DataType type :
       {DataType::kUint8, DataType::kUint16, DataType::kUint32}) {
    for (const char* direction : {"LEFT", "RIGHT"}) {
      ModelBuilder b;
      b.Input("x", type, kShape);
      b.Input("n", type, kShape);
      SetString(b.Node("BitShift", {"x", "n"}, {"y"}), "direction", direction);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(), {AnyBits(type, 5), RandomData(type, kShape, 6, 0, 40)},
          kSmall);
    }
  }
}

TEST(LowerLogic, Bitwise) {
  for (DataType type :
       {DataType::kUint8, DataType::kInt8, DataType::kUint16, DataType::kInt16,
        DataType::kUint32, DataType::kInt32}) {
    ModelBuilder b(18);
    b.Input("x", type, kShape);
    b.Input("n", type, kShape);
    b.Node("BitwiseAnd", {"x", "n"}, {"and"});
    b.Node("BitwiseOr", {"x", "n"}, {"or"});
    b.Node("BitwiseXor", {"x", "n"}, {"xor"});
    b.Node("BitwiseNot", {"x"}, {"not"});
    for (const char* name : {"and", "or", "xor", "not"}) b.Output(name);
    ExpectCardEqualsReference(b.Bytes(), {AnyBits(type, 5), AnyBits(type, 6)},
                              kSmall);
  }
}

TEST(LowerLogic, InfinitiesOfEitherSign) {
  for (int signs = 0; signs < 4; ++signs) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {100});
    auto* node = b.Node("IsInf", {"x"}, {"y"});
    SetInt(node, "detect_positive", signs & 1);
    SetInt(node, "detect_negative", signs >> 1);
    b.Output("y");
    TensorData x = RandomData(DataType::kFloat, {100}, 7);
    x.as<uint32_t>()[3] = 0x7f800000u;
    x.as<uint32_t>()[20] = 0xff800000u;
    x.as<uint32_t>()[50] = 0x7f800001u;
    const auto y = ExpectCardEqualsReference(b.Bytes(), {x});
    ASSERT_EQ(y.size(), 1u);
    EXPECT_EQ(y[0].bytes[3], signs & 1);
    EXPECT_EQ(y[0].bytes[20], signs >> 1);
    EXPECT_EQ(y[0].bytes[50], 0);
  }
}

TEST(LowerLogic, ShrinkOfEveryType) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kUint8,
                        DataType::kInt8, DataType::kUint16, DataType::kInt16,
                        DataType::kUint32, DataType::kInt32}) {
    ModelBuilder b;
    b.Input("x", type, kShape);
    auto* node = b.Node("Shrink", {"x"}, {"y"});
    SetFloat(node, "lambd", 1.5f);
    SetFloat(node, "bias", 0.75f);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, kShape, 8, -9, 9)},
                              kSmall);
  }
}

TEST(LowerLogic, CastLikeIsCast) {
  for (DataType to : {DataType::kFloat16, DataType::kInt32, DataType::kUint8,
                      DataType::kBool, DataType::kFloat}) {
    ModelBuilder b(15);
    b.Input("x", DataType::kFloat, kShape);
    b.Input("like", to, {3});
    b.Node("Neg", {"x"}, {"n"});
    b.Node("CastLike", {"n", "like"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, kShape, 9, -3, 99),
                               TensorData::Zeros(to, {3})},
                              kSmall);
  }
}

TEST(LowerLogic, GeluFamily) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b;
    b.Input("x", type, {3, 5, 96});
    b.Input("bias", type, {96});
    b.Node("Gelu", {"x"}, {"exact"}, "com.microsoft");
    b.Node("BiasGelu", {"x", "bias"}, {"biased"}, "com.microsoft");
    b.Node("FastGelu", {"x"}, {"fast"}, "com.microsoft");
    b.Node("FastGelu", {"x", "bias"}, {"fast_biased"}, "com.microsoft");
    b.Node("QuickGelu", {"x"}, {"quick"}, "com.microsoft");
    for (const char* name :
         {"exact", "biased", "fast", "fast_biased", "quick"}) {
      b.Output(name);
    }
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(type, {3, 5, 96}, 10, -9, 9), RandomData(type, {96}, 11)},
        kSmall);
  }
}

TEST(LowerLogic, FunctionsOfOpset18And20) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(20);
    b.Input("x", type, kShape);
    b.Node("Gelu", {"x"}, {"exact"});
    SetString(b.Node("Gelu", {"x"}, {"tanh"}), "approximate", "tanh");
    b.Node("Mish", {"x"}, {"mish"});
    for (const char* name : {"exact", "tanh", "mish"}) b.Output(name);
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(type, kShape, 12, -20, 20)}, kSmall);
  }
}

}  // namespace
}  // namespace heddle::compiler
