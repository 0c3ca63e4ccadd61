// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TensorData Quantize(const std::vector<float>& x, float scale,
                    const TensorData& zero) {
  auto y = RunNode(
      {"QuantizeLinear", "", 13, {}},
      {Floats({static_cast<int64_t>(x.size())}, x), Floats({}, {scale}), zero});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? *y : TensorData();
}

TEST(QuantizeLinearTest, TiesToEvenThenOffset) {
  EXPECT_EQ(Quantize({0.5f, 1.5f, 2.5f}, 1, Uint8s({}, {0})).bytes,
            (std::vector<uint8_t>{0, 2, 2}));
  EXPECT_EQ(Quantize({0.5f, 1.5f, 2.5f}, 1, Uint8s({}, {1})).bytes,
            (std::vector<uint8_t>{1, 3, 3}));
}

TEST(QuantizeLinearTest, SpecialValues) {
  for (uint8_t z : {0, 7, 255}) {
    EXPECT_EQ(Quantize({kNaN, kInf, -kInf}, 0.5f, Uint8s({}, {z})).bytes,
              (std::vector<uint8_t>{0, 255, 0}));
  }
  const TensorData y = Quantize({kNaN, kInf, -kInf}, 0.5f, Int8s({}, {-3}));
  EXPECT_EQ(y.as<int8_t>()[0], -128);
  EXPECT_EQ(y.as<int8_t>()[1], 127);
  EXPECT_EQ(y.as<int8_t>()[2], -128);
  // Scale 0: x/0 is infinite, 0/0 a NaN.
  EXPECT_EQ(Quantize({1, -1, 0}, 0, Uint8s({}, {9})).bytes,
            (std::vector<uint8_t>{255, 0, 0}));
  // A negative scale is only a sign.
  EXPECT_EQ(Quantize({1, -1}, -1, Uint8s({}, {9})).bytes,
            (std::vector<uint8_t>{8, 10}));
}

TEST(QuantizeLinearTest, IsADivision) {
  // f32(x * f32(1/s)) is 5.5 and rounds to 6; f32(x / s) is below and gives 5.
  int different = 0;
  for (int i = 1; i < 2000; ++i) {
    const float s = 0.001f * static_cast<float>(i);
    for (int n = 0; n < 8; ++n) {
      const float x = (static_cast<float>(n) + 0.5f) * s;
      const float quotient = x / s;
      const float product = x * (1.0f / s);
      if (std::nearbyint(quotient) == std::nearbyint(product)) continue;
      ++different;
      EXPECT_EQ(Quantize({x}, s, Uint8s({}, {0})).bytes[0],
                static_cast<uint8_t>(std::nearbyint(quotient)));
    }
  }
  EXPECT_GT(different, 0);
}

TEST(QuantizeLinearTest, MissingZeroPointIsUint8Zero) {
  auto y = RunNode({"QuantizeLinear", "", 13, {}},
                   {Floats({1}, {3}), Floats({}, {1})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->type, DataType::kUint8);
}

TEST(QuantizeLinearTest, PerAxis) {
  const TensorData x = Floats({2, 2}, {1, 1, 1, 1});
  auto y = RunNode({"QuantizeLinear", "", 13, {{"axis", int64_t{0}}}},
                   {x, Floats({2}, {1, 0.5f}), Uint8s({2}, {0, 10})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes, (std::vector<uint8_t>{1, 1, 12, 12}));
  // Default axis 1; negative axes count from the end.
  y = RunNode({"QuantizeLinear", "", 13, {{"axis", int64_t{-1}}}},
              {x, Floats({2}, {1, 0.5f}), Uint8s({2}, {0, 10})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->bytes, (std::vector<uint8_t>{1, 12, 1, 12}));
  EXPECT_EQ(RejectionOf(RunNode({"QuantizeLinear", "", 12, {}},
                                {x, Floats({2}, {1, 1}), Uint8s({2}, {0, 0})})
                            .status()),
            Rejection::kMismatchingShape);
  EXPECT_EQ(RejectionOf(RunNode({"QuantizeLinear", "", 13, {}},
                                {x, Floats({3}, {1, 1, 1})})
                            .status()),
            Rejection::kMismatchingShape);
}

TEST(DequantizeLinearTest, ExactDifferenceThenOneRounding) {
  auto y = RunNode(
      {"DequantizeLinear", "", 13, {}},
      {Uint8s({3}, {0, 128, 255}), Floats({}, {0.1f}), Uint8s({}, {130})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->as<float>()[0], -130.0f * 0.1f);
  EXPECT_EQ(y->as<float>()[2], 125.0f * 0.1f);
  y = RunNode({"DequantizeLinear", "", 13, {}},
              {Int32s({1}, {16777217}), Floats({}, {2})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->as<float>()[0], 33554432.0f);
  EXPECT_EQ(
      RejectionOf(RunNode({"DequantizeLinear", "", 13, {}},
                          {Uint8s({1}, {0}), Floats({}, {1}), Int8s({}, {0})})
                      .status()),
      Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
