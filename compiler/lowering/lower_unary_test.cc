// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/ordered.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

// Random values with all special ones in front.
TensorData Specials(DataType type, const Shape& shape, uint64_t seed) {
  TensorData data = RandomData(type, shape, seed, -12, 12);
  const float special[] = {0.0f,    -0.0f,   kInf,  -kInf,  std::nanf(""),
                           1.0f,    -1.0f,   0.5f,  -0.5f,  1e-40f,
                           -1e-40f, 1e-45f,  3e38f, -3e38f, 88.8f,
                           -88.0f,  -103.0f, 2.5f,  -2.5f,  8388609.0f};
  const uint16_t half[] = {0,      0x8000, 0x7c00, 0xfc00, 0x7e00, 0x3c00,
                           0xbc00, 0x3800, 0x0001, 0x8001, 0x03ff, 0x7bff,
                           0xfbff, 0x4100, 0xc100, 0x7d01, 0xfe12};
  for (size_t i = 0; i < 20 && type == DataType::kFloat; ++i) {
    data.as<float>()[i] = special[i];
  }
  if (type == DataType::kFloat) data.as<uint32_t>()[20] = 0xffa00001u;
  for (size_t i = 0; i < 17 && type == DataType::kFloat16; ++i) {
    data.as<uint16_t>()[i] = half[i];
  }
  return data;
}

class UnaryOnCard : public ::testing::TestWithParam<const char*> {};

TEST_P(UnaryOnCard, EqualsTheReference) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(16);
    b.Input("x", type, {2, 5, 9, 33});
    b.Node(GetParam(), {"x"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {Specials(type, {2, 5, 9, 33}, 1)},
                              kSmall);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, UnaryOnCard,
    ::testing::Values("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh",
                      "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
                      "Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log",
                      "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid",
                      "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt",
                      "Tan", "Tanh", "ThresholdedRelu"),
    [](const auto& info) { return std::string(info.param); });

TEST(LowerUnary, AttributesReachTheCard) {
  ModelBuilder b(16);
  b.Input("x", DataType::kFloat, {3, 100});
  SetFloat(b.Node("Elu", {"x"}, {"a"}), "alpha", 2.5f);
  auto* hard = b.Node("HardSigmoid", {"a"}, {"b"});
  SetFloat(hard, "alpha", 0.5f);
  SetFloat(hard, "beta", 0.25f);
  SetFloat(b.Node("LeakyRelu", {"x"}, {"c"}), "alpha", 0.3f);
  b.Output("b");
  b.Output("c");
  const TensorData x = RandomData(DataType::kFloat, {3, 100}, 4);
  const auto y = ExpectCardEqualsReference(b.Bytes(), {x});
  ASSERT_EQ(y.size(), 2u);
  for (int i = 0; i < 300; ++i) {
    const float v = x.as<float>()[i];
    const float elu = v < 0 ? 2.5f * std::expm1(v) : v;
    const float hard_of = std::fmin(std::fmax(0.5f * elu + 0.25f, 0.f), 1.f);
    EXPECT_NEAR(y[0].as<float>()[i], hard_of, 1e-6) << v;
    EXPECT_EQ(y[1].as<float>()[i], v < 0 ? 0.3f * v : v);
  }
}

TEST(LowerUnary, IntegersWrap) {
  for (DataType type :
       {DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kUint8,
        DataType::kUint16, DataType::kUint32}) {
    ModelBuilder b(14);
    b.Input("x", type, {3, 100});
    b.Node("Abs", {"x"}, {"a"});
    b.Node("Sign", {"x"}, {"s"});
    b.Output("a");
    b.Output("s");
    if (OrderOf(type) == Order::kSigned) {
      b.Node("Neg", {"x"}, {"n"});
      b.Output("n");
    }
    TensorData x = RandomData(type, {3, 100}, 5, -120, 120);
    // The lowest value.
    const size_t bytes = ElementBytes(type);
    for (size_t i = 0; i + 1 < bytes; ++i) x.bytes[i] = 0;
    x.bytes[bytes - 1] = 0x80;
    const auto y = ExpectCardEqualsReference(b.Bytes(), {x}, kSmall);
    if (type == DataType::kInt8) {
      ASSERT_EQ(y.size(), 3u);
      EXPECT_EQ(y[0].as<int8_t>()[0], -128);
      EXPECT_EQ(y[1].as<int8_t>()[0], -1);
      EXPECT_EQ(y[2].as<int8_t>()[0], -128);
    }
  }
}

TEST(LowerUnary, PowBroadcasts) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b;
    b.Input("x", type, {2, 5, 9, 33});
    b.Input("y", type, {5, 1, 33});
    b.Node("Pow", {"x", "y"}, {"z"});
    b.Output("z");
    ExpectCardEqualsReference(
        b.Bytes(),
        {Specials(type, {2, 5, 9, 33}, 1), Specials(type, {5, 1, 33}, 2)},
        kSmall);
  }
}

TEST(LowerUnary, PowWithExponentsOfOtherTypes) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 40});
  b.Input("i", DataType::kInt32, {40});
  b.Input("u", DataType::kUint32, {40});
  b.Constant("wide", Int64s({}, {3}));
  b.Constant("two", Int64s({1, 1, 1}, {2}));
  b.Constant("half", Floats({1}, {0.5f}));
  b.Node("Pow", {"x", "i"}, {"a"});
  b.Node("Pow", {"x", "wide"}, {"b"});
  b.Node("Pow", {"x", "two"}, {"c"});
  b.Node("Pow", {"x", "half"}, {"d"});
  b.Node("Pow", {"x", "u"}, {"e"});
  for (const char* name : {"a", "b", "c", "d", "e"}) b.Output(name);
  const TensorData x = RandomData(DataType::kFloat, {4, 40}, 6);
  TensorData u = RandomData(DataType::kUint32, {40}, 8, 0, 9);
  u.as<uint32_t>()[3] = 0xfffffffeu;
  const auto y = ExpectCardEqualsReference(
      b.Bytes(), {x, RandomData(DataType::kInt32, {40}, 7, -9, 9), u}, kSmall);
  ASSERT_EQ(y.size(), 5u);
  EXPECT_EQ(y[2].shape, (Shape{1, 4, 40}));
  for (int i = 0; i < 160; ++i) {
    const float v = x.as<float>()[i];
    EXPECT_EQ(y[2].as<float>()[i], v * v);
    EXPECT_NEAR(y[1].as<float>()[i], v * v * v, 1e-5f * std::fabs(v * v * v));
    EXPECT_EQ(std::isnan(y[3].as<float>()[i]), v < 0);
  }
}

// No range of the operands says that a power fits int32.
TEST(LowerUnary, WideBasesAreRefused) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4});
  b.Input("y", DataType::kInt32, {4});
  b.Node("Pow", {"x", "y"}, {"z"})->set_name("the_pow");
  b.Output("z");
  const auto result = CompileOnnx(b.Bytes(), {});
  EXPECT_EQ(RejectionOf(result.status()), Rejection::kUnsupportedDatatype);
  EXPECT_NE(result.status().message().find("the_pow"), std::string::npos);
}

TEST(LowerUnary, PReluSlopes) {
  for (bool constant : {false, true}) {
    for (const Shape& slope :
         {Shape{5, 1, 1}, Shape{1}, Shape{2, 5, 9, 33}, Shape{9, 1}}) {
      for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
        const TensorData s = RandomData(type, slope, 3);
        ModelBuilder b(16);
        b.Input("x", type, {2, 5, 9, 33});
        if (constant) {
          b.Constant("s", s);
        } else {
          b.Input("s", type, slope);
        }
        b.Node("PRelu", {"x", "s"}, {"y"});
        b.Output("y");
        std::vector<TensorData> inputs = {Specials(type, {2, 5, 9, 33}, 1)};
        if (!constant) inputs.push_back(s);
        ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
      }
    }
  }
}

class VariadicOnCard : public ::testing::TestWithParam<const char*> {};

TEST_P(VariadicOnCard, ChainsWithBroadcastingAndConstants) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b;
    b.Input("x", type, {7, 1});
    b.Input("y", type, {3, 7, 21});
    b.Constant("c", RandomData(type, {1, 1, 21}, 3));
    b.Input("z", type, {2, 1, 7, 21});
    b.Node(GetParam(), {"x", "y", "c", "z", "x"}, {"all"});
    b.Node(GetParam(), {"y", "y"}, {"two"});
    b.Node(GetParam(), {"z"}, {"one"});
    for (const char* name : {"all", "two", "one"}) b.Output(name);
    const auto y = ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(type, {7, 1}, 1), Specials(type, {3, 7, 21}, 2),
         Specials(type, {2, 1, 7, 21}, 4)},
        kSmall);
    ASSERT_EQ(y.size(), 3u);
    EXPECT_EQ(y[0].shape, (Shape{2, 3, 7, 21}));
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, VariadicOnCard,
                         ::testing::Values("Max", "Mean", "Min", "Sum"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST(LowerUnary, MinAndMaxOfIntegers) {
  for (DataType type :
       {DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16,
        DataType::kInt32, DataType::kUint32}) {
    ModelBuilder b;
    b.Input("x", type, {2, 6, 30});
    b.Input("y", type, {6, 1});
    b.Input("z", type, {30});
    b.Node("Min", {"x", "y", "z"}, {"low"});
    b.Node("Max", {"x", "y", "z"}, {"high"});
    b.Output("low");
    b.Output("high");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(type, {2, 6, 30}, 1, -99, 99),
                               RandomData(type, {6, 1}, 2, -99, 99),
                               RandomData(type, {30}, 3, -99, 99)},
                              kSmall);
  }
}

// Tensors that have no rows, or rows that are too long, are cut all the same.
TEST(LowerUnary, LargeTensorsOfAnyRank) {
  const struct {
    Shape x, y;
  } cases[] = {{{200000}, {200000}},
               {{200000}, {1}},
               {{1, 150, 1200}, {1200}},
               {{1, 150, 1200}, {150, 1}},
               {{2, 150, 600}, {2, 1, 1}},
               {{3, 60000}, {3, 1}},
               {{2, 100, 1, 900}, {1, 900}},
               {{2, 3, 40, 10, 80}, {40, 10, 80}},
               {{4, 30, 50, 30}, {4, 1, 50, 1}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.x) + ShapeToString(c.y));
    ModelBuilder b;
    b.Input("x", DataType::kFloat, c.x);
    b.Input("y", DataType::kFloat, c.y);
    b.Constant("c", RandomData(DataType::kFloat, c.y, 3));
    b.Node("Mul", {"x", "y"}, {"p"});
    b.Node("Tanh", {"p"}, {"t"});
    b.Node("Max", {"c", "t"}, {"m"});
    b.Node("Sub", {"m", "x"}, {"z"});
    b.Output("z");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, c.x, 1),
                               RandomData(DataType::kFloat, c.y, 2)});
  }
}

// A constant as large as the tensor is tiled like an operand.
TEST(LowerUnary, LargeConstants) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {40, 300});
  b.Constant("c", RandomData(DataType::kFloat, {40, 300}, 3));
  b.Node("Max", {"x", "c"}, {"m"});
  b.Node("Add", {"m", "c"}, {"y"});
  b.Output("y");
  CardCase c = kSmall;
  c.may_refuse_less_sram = false;
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {40, 300}, 1)}, c);
}

TEST(LowerUnary, WhereBroadcastsAndKeepsTypes) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kUint8,
                        DataType::kInt8, DataType::kInt32, DataType::kInt16,
                        DataType::kUint32, DataType::kUint16}) {
    ModelBuilder b;
    b.Input("c", DataType::kBool, {2, 1, 7, 9});
    b.Input("x", type, {2, 5, 7, 9});
    b.Input("z", type, {5, 1, 9});
    b.Node("Where", {"c", "x", "z"}, {"y"});
    b.Output("y");
    CardCase options;
    options.sram_bytes = {0, 16 << 10};
    const TensorData c = RandomData(DataType::kBool, {2, 1, 7, 9}, 1);
    const TensorData x = RandomData(type, {2, 5, 7, 9}, 2);
    const TensorData z = RandomData(type, {5, 1, 9}, 3);
    const auto y = ExpectCardEqualsReference(b.Bytes(), {c, x, z}, options);
    ASSERT_EQ(y.size(), 1u);
    const size_t es = ElementBytes(type);
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t column = i % 9, row = i / 9 % 7, channel = i / 63 % 5;
      const bool holds = c.bytes[(i / 315 * 7 + row) * 9 + column] != 0;
      const TensorData& from = holds ? x : z;
      const int64_t k = holds ? i : channel * 9 + column;
      EXPECT_EQ(std::memcmp(&y[0].bytes[i * es], &from.bytes[k * es], es), 0)
          << DataTypeName(type) << " " << i;
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
