// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul on the card, in all forms of broadcasting, and the
// worked edge cases of the integer semantics.
#include <gtest/gtest.h>

#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

struct Side {
  Shape shape;
  float scale;
  int zero;
  bool constant = false;
  bool has_zero = true;
};

// op(a, b) with the result's parameters; returns the card's bytes.
std::vector<TensorData> OnCard(const std::string& op, DataType type,
                               const Side& a, const Side& b, float scale,
                               int zero,
                               const std::vector<TensorData>& given = {}) {
  ModelBuilder model;
  std::vector<TensorData> inputs;
  std::vector<std::string> names;
  uint64_t seed = 1;
  for (const Side* side : {&a, &b}) {
    const std::string name = side == &a ? "a" : "b";
    const TensorData data = given.empty()
                                ? RandomData(type, side->shape, ++seed)
                                : given[seed++ - 1];
    if (side->constant) {
      model.Constant(name, data);
    } else {
      model.Input(name, type, side->shape);
      inputs.push_back(data);
    }
    model.Constant(name + "s", Floats({}, {side->scale}));
    names.push_back(name);
    names.push_back(name + "s");
    names.push_back(side->has_zero ? name + "z" : "");
    if (side->has_zero) model.Constant(name + "z", Code(type, side->zero));
  }
  model.Constant("cs", Floats({}, {scale}));
  model.Constant("cz", Code(type, zero));
  names.push_back("cs");
  names.push_back("cz");
  model.Node(op, names, {"c"}, kMicrosoft);
  model.Output("c");
  CardCase options;
  options.sram_bytes = {0, 64 << 10, 16 << 10};
  return ExpectCardEqualsReference(model.Bytes(), inputs, options);
}

class Binary
    : public testing::TestWithParam<std::tuple<const char*, DataType>> {};

TEST_P(Binary, Broadcasts) {
  const auto [op, type] = GetParam();
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 37, 5, 7}, {2, 37, 5, 7}},
      {{2, 37, 5, 7}, {2, 37, 1, 1}},
      {{1, 37, 1, 1}, {2, 37, 5, 7}},
      {{2, 37, 5, 7}, {37, 1, 1}},
      {{2, 1, 5, 7}, {1, 37, 5, 7}},
      {{2, 37, 5, 7}, {7}},
      {{2, 37, 5, 7}, {}},
      {{2, 37, 5, 1}, {37, 1, 7}},
      {{3, 50}, {50}},
      {{3, 1}, {3, 50}},
      {{65}, {65}},
      {{2, 19, 6}, {19, 1}},
      {{2, 3, 4, 5, 6}, {4, 1, 6}},
      {{2, 3, 4, 5, 6}, {2, 3, 4, 5, 6}}};
  for (const auto& [a, b] : shapes) {
    SCOPED_TRACE(ShapeToString(a) + ShapeToString(b));
    OnCard(op, type, {a, 0.21f, 131}, {b, 0.02f, 32}, 0.034f, 24);
    OnCard(op, type, {b, 0.21f, 7}, {a, 0.5f, 33}, 1.7f, 251);
  }
}

TEST_P(Binary, ConstantOperandsAndAbsentZeroPoints) {
  const auto [op, type] = GetParam();
  for (const Shape& b : {Shape{1, 21, 1, 1}, Shape{}, Shape{2, 21, 4, 6},
                         Shape{4, 1}, Shape{1, 1, 4, 6}}) {
    for (bool has_zero : {false, true}) {
      SCOPED_TRACE(ShapeToString(b));
      OnCard(op, type, {{2, 21, 4, 6}, 0.21f, 131, false, has_zero},
             {b, 0.02f, 32, true, !has_zero}, 0.034f, 24);
      OnCard(op, type, {b, 0.21f, 131, true, has_zero},
             {{2, 21, 4, 6}, 0.02f, 32}, 0.034f, 24);
    }
  }
}

// All pairs of codes, with scales that are small fractions: ties everywhere.
TEST_P(Binary, AllPairsOfCodes) {
  const auto [op, type] = GetParam();
  TensorData a = TensorData::Zeros(type, {1, 256, 1, 1});
  for (int i = 0; i < 256; ++i) a.bytes[i] = static_cast<uint8_t>(i);
  TensorData b = a;
  b.shape = {1, 1, 16, 16};
  for (const auto& [as, bs, cs] :
       {std::tuple{0.25f, 0.5f, 1.0f}, std::tuple{0.75f, 0.125f, 0.5f},
        std::tuple{0.3f, 0.7f, 0.9f}, std::tuple{1e9f, 1.0f, 1.0f}}) {
    for (int zero : {0, 1, 128, 255}) {
      SCOPED_TRACE(testing::Message() << as << " " << zero);
      OnCard(op, type, {a.shape, as, zero}, {b.shape, bs, 255 - zero}, cs, zero,
             {a, b});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Binary,
    testing::Combine(testing::Values("QLinearAdd", "QLinearMul"),
                     testing::Values(DataType::kUint8, DataType::kInt8)),
    [](const auto& info) {
      return std::string(std::get<0>(info.param)) +
             DataTypeName(std::get<1>(info.param));
    });

TEST(QLinearMul, TieWithTheOffsetBeforeRounding) {
  for (int zero : {0, 1}) {
    const auto c =
        OnCard("QLinearMul", DataType::kUint8, {{1, 1, 1, 1}, 1, 0},
               {{1, 1, 1, 1}, 0.5f, 0}, 1, zero,
               {Uint8s({1, 1, 1, 1}, {1}), Uint8s({1, 1, 1, 1}, {1})});
    ASSERT_EQ(c.size(), 1u);
    EXPECT_EQ(c[0].bytes[0], zero == 0 ? 0 : 2);
  }
}

TEST(QLinearAdd, ConstantTermAndOverflow) {
  auto c = OnCard("QLinearAdd", DataType::kUint8, {{1, 1, 1, 1}, 0.21f, 131},
                  {{1, 1, 1, 1}, 0.02f, 32}, 0.34f, 24,
                  {Uint8s({1, 1, 1, 1}, {72}), Uint8s({1, 1, 1, 1}, {252})});
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].bytes[0], 1);  // k without fma gives 0
  c = OnCard("QLinearAdd", DataType::kUint8, {{1, 1, 1, 1}, 1e9f, 0},
             {{1, 1, 1, 1}, 1, 0}, 1, 0,
             {Uint8s({1, 1, 1, 1}, {100}), Uint8s({1, 1, 1, 1}, {1})});
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].bytes[0], 0);  // the sum leaves int32: qmin, not qmax
}

}  // namespace
}  // namespace heddle::compiler
