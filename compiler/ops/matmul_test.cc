// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

TensorData Random(Shape shape, std::mt19937* random) {
  std::normal_distribution<float> normal;
  TensorData data = TensorData::Zeros(DataType::kFloat, std::move(shape));
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = normal(*random);
  }
  return data;
}

TEST(MatMulTest, OneChainOfFmaOverIncreasingK) {
  std::mt19937 random(3);
  const TensorData a = Random({3, 50}, &random), b = Random({50, 7}, &random);
  auto y = RunNode({"MatMul", "", 13, {}}, {a, b});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 7; ++n) {
      float acc = 0;
      for (int k = 0; k < 50; ++k) {
        acc =
            std::fma(a.as<float>()[m * 50 + k], b.as<float>()[k * 7 + n], acc);
      }
      EXPECT_EQ(model::Bits(acc), model::Bits(y->as<float>()[m * 7 + n]));
    }
  }
}

TEST(MatMulTest, NumpyShapes) {
  const auto shape = [](Shape a, Shape b) {
    auto y = RunNode({"MatMul", "", 13, {}},
                     {TensorData::Zeros(DataType::kFloat, a),
                      TensorData::Zeros(DataType::kFloat, b)});
    return y.ok() ? ShapeToString(y->shape)
                  : RejectionName(RejectionOf(y.status()));
  };
  EXPECT_EQ(shape({2, 3}, {3, 4}), "[2,4]");
  EXPECT_EQ(shape({3}, {3, 4}), "[4]");
  EXPECT_EQ(shape({2, 3}, {3}), "[2]");
  EXPECT_EQ(shape({3}, {3}), "[]");
  EXPECT_EQ(shape({5, 1, 2, 3}, {6, 3, 4}), "[5,6,2,4]");
  EXPECT_EQ(shape({2, 3}, {4, 3}), "mismatching shape");
  EXPECT_EQ(shape({2, 2, 3}, {3, 3, 4}), "mismatching shape");
  EXPECT_EQ(shape({}, {3}), "invalid model");
}

TEST(GemmTest, RoundsAfterAlphaAndAfterBeta) {
  std::mt19937 random(5);
  const TensorData a = Random({9, 3}, &random), b = Random({4, 9}, &random),
                   c = Random({4}, &random);
  const float alpha = 0.7f, beta = 1.3f;
  auto y = RunNode({"Gemm",
                    "",
                    13,
                    {{"alpha", alpha},
                     {"beta", beta},
                     {"transA", int64_t{1}},
                     {"transB", int64_t{1}}}},
                   {a, b, c});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 4; ++n) {
      float acc = 0;
      for (int k = 0; k < 9; ++k) {
        acc = std::fma(a.as<float>()[k * 3 + m], b.as<float>()[n * 9 + k], acc);
      }
      const float scaled = alpha * acc;
      const float term = beta * c.as<float>()[n];
      EXPECT_EQ(model::Bits(scaled + term),
                model::Bits(y->as<float>()[m * 4 + n]));
    }
  }
}

TEST(GemmTest, WithoutAlphaTheChainStartsAtBetaC) {
  std::mt19937 random(5);
  const TensorData a = Random({3, 9}, &random), b = Random({9, 4}, &random),
                   c = Random({3, 1}, &random);
  const float beta = 1.3f;
  auto y = RunNode({"Gemm", "", 13, {{"beta", beta}}}, {a, b, c});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 4; ++n) {
      float acc = beta * c.as<float>()[m];
      for (int k = 0; k < 9; ++k) {
        acc = std::fma(a.as<float>()[m * 9 + k], b.as<float>()[k * 4 + n], acc);
      }
      EXPECT_EQ(model::Bits(acc), model::Bits(y->as<float>()[m * 4 + n]));
    }
  }
}

// Half precision is computed in fp32 and rounded once.
TEST(MatMulTest, HalfIsRoundedOnce) {
  std::mt19937 random(9);
  std::vector<TensorData> wide = {Random({3, 40}, &random),
                                  Random({40, 5}, &random)};
  std::vector<TensorData> half;
  for (TensorData& t : wide) {
    half.push_back(TensorData::Zeros(DataType::kFloat16, t.shape));
    for (int64_t i = 0; i < t.count(); ++i) {
      const uint16_t h = model::F32ToF16(t.as<float>()[i]);
      half.back().as<uint16_t>()[i] = h;
      t.as<float>()[i] = model::F16ToF32(h);
    }
  }
  for (const char* op : {"MatMul", "Gemm"}) {
    auto y = RunNode({op, "", 13, {}}, half),
         full = RunNode({op, "", 13, {}}, wide);
    ASSERT_TRUE(y.ok()) << y.status();
    ASSERT_TRUE(full.ok()) << full.status();
    for (int64_t i = 0; i < y->count(); ++i) {
      EXPECT_EQ(y->as<uint16_t>()[i], model::F32ToF16(full->as<float>()[i]));
    }
  }
}

TEST(GemmTest, BiasBroadcastsOneWay) {
  const auto zeros = [](Shape s) {
    return TensorData::Zeros(DataType::kFloat, std::move(s));
  };
  for (const Shape& c : {Shape{}, Shape{4}, Shape{2, 1}, Shape{2, 4}}) {
    EXPECT_TRUE(
        RunNode({"Gemm", "", 13, {}}, {zeros({2, 3}), zeros({3, 4}), zeros(c)})
            .ok());
  }
  for (const Shape& c : {Shape{3}, Shape{5, 2, 4}, Shape{2}}) {
    EXPECT_EQ(RejectionOf(RunNode({"Gemm", "", 13, {}},
                                  {zeros({2, 3}), zeros({3, 4}), zeros(c)})
                              .status()),
              Rejection::kMismatchingShape);
  }
}

}  // namespace
}  // namespace heddle::compiler
