// SPDX-License-Identifier: Apache-2.0
// Operators that are microprograms: types, broadcasting and rejections; their
// functions are tested in vector_math_test, ONNX's cases in node_data_test.
#include "compiler/ops/program_operator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using model::F16ToF32;
using model::F32ToF16;

NodeSpec Spec(const std::string& op, int opset = 13) {
  NodeSpec spec;
  spec.op = op;
  spec.opset = opset;
  return spec;
}

TensorData Halves(const Shape& shape, const std::vector<float>& values) {
  TensorData data = TensorData::Zeros(DataType::kFloat16, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    data.as<uint16_t>()[i] = F32ToF16(values[i]);
  }
  return data;
}

TEST(ProgramOperatorTest, HalvesAreRoundedOnceAtTheEnd) {
  // 2048 + 1 + 1: in float16 after each step it would stay 2048.
  auto sum = RunNode(Spec("Sum"),
                     {Halves({1}, {2048}), Halves({1}, {1}), Halves({1}, {1})});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(F16ToF32(*sum->as<uint16_t>()), 2050);
  // The sum overflows float16, the mean does not.
  auto mean =
      RunNode(Spec("Mean"), {Halves({1}, {60000}), Halves({1}, {60000})});
  ASSERT_TRUE(mean.ok()) << mean.status();
  EXPECT_EQ(F16ToF32(*mean->as<uint16_t>()), 60000);
}

TEST(ProgramOperatorTest, MaxKeepsNaNOfAnyInput) {
  const float nan = std::nanf("");
  for (int at : {0, 1, 2}) {
    std::vector<TensorData> inputs(3, Floats({1}, {1}));
    inputs[at] = Floats({1}, {nan});
    for (const char* op : {"Max", "Min", "Sum", "Mean"}) {
      auto y = RunNode(Spec(op), inputs);
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_TRUE(std::isnan(*y->as<float>())) << op << at;
    }
  }
}

TEST(ProgramOperatorTest, WideIntegers) {
  auto max = RunNode(
      Spec("Max"), {Int64s({2}, {INT64_MIN, 5}), Int64s({}, {INT64_MIN + 1})});
  ASSERT_TRUE(max.ok()) << max.status();
  EXPECT_EQ(max->as<int64_t>()[0], INT64_MIN + 1);
  EXPECT_EQ(max->as<int64_t>()[1], 5);
  auto abs = RunNode(Spec("Abs"), {Int64s({2}, {-7, INT64_MIN})});
  ASSERT_TRUE(abs.ok()) << abs.status();
  EXPECT_EQ(abs->as<int64_t>()[0], 7);
  EXPECT_EQ(abs->as<int64_t>()[1], INT64_MIN);
  auto sign = RunNode(Spec("Sign"), {Int64s({3}, {-7, 0, 9})});
  ASSERT_TRUE(sign.ok()) << sign.status();
  EXPECT_EQ(sign->as<int64_t>()[0], -1);
  EXPECT_EQ(sign->as<int64_t>()[1], 0);
  EXPECT_EQ(sign->as<int64_t>()[2], 1);
}

TEST(ProgramOperatorTest, PowersOfIntegers) {
  auto pow = RunNode(Spec("Pow"), {Int32s({6}, {2, -3, 1, -1, 7, 3}),
                                   Int64s({6}, {31, 3, -5, -3, -1, 40})});
  ASSERT_TRUE(pow.ok()) << pow.status();
  EXPECT_EQ(pow->type, DataType::kInt32);
  const int32_t expected[] = {INT32_MIN, -27, 1, -1, 0};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pow->as<int32_t>()[i], expected[i]) << i;
  }
  uint32_t wrapped = 1;
  for (int i = 0; i < 40; ++i) wrapped *= 3;
  EXPECT_EQ(pow->as<uint32_t>()[5], wrapped);
  auto root = RunNode(Spec("Pow"), {Int32s({2}, {16, -1}), Floats({}, {0.5f})});
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(root->as<int32_t>()[0], 4);
  EXPECT_EQ(root->as<int32_t>()[1], INT32_MIN);
}

TEST(ProgramOperatorTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(RejectionOf(RunNode(Spec("Max"),
                                {Floats({2}, {1, 2}), Floats({3}, {1, 2, 3})})
                            .status()),
            Rejection::kMismatchingShape);
  EXPECT_EQ(
      RejectionOf(
          RunNode(Spec("Max"), {Floats({1}, {1}), Int32s({1}, {1})}).status()),
      Rejection::kInvalidModel);
  EXPECT_EQ(RejectionOf(RunNode(Spec("PRelu"),
                                {Floats({2}, {1, 2}), Floats({2, 1}, {1, 2})})
                            .status()),
            Rejection::kMismatchingShape);
  NodeSpec celu = Spec("Celu");
  celu.attributes["alpha"] = 0.0f;
  EXPECT_EQ(RejectionOf(RunNode(celu, {Floats({1}, {1})}).status()),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(RejectionOf(RunNode(Spec("Mean"), {Int32s({1}, {1})}).status()),
            Rejection::kUnsupportedDatatype);
}

TEST(ProgramOperatorTest, EmptyTensors) {
  for (const char* op : {"Exp", "Max", "Sum"}) {
    auto y = RunNode(Spec(op), {Floats({0, 3}, {})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, (Shape{0, 3}));
  }
}

}  // namespace
}  // namespace heddle::compiler
