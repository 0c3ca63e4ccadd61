// SPDX-License-Identifier: Apache-2.0
// The operators of diffusion.cc against their definitions in double, as ONNX
// Runtime computes them on other devices than the CPU only; and what they
// refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

NodeSpec Spec(const char* op, std::map<std::string, Attribute> attributes) {
  return {op, "com.microsoft", 1, std::move(attributes)};
}

void ExpectNear(const absl::StatusOr<TensorData>& y, const Shape& shape,
                const std::vector<double>& expected) {
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ(y->shape, shape);
  ASSERT_EQ(static_cast<size_t>(y->count()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(y->as<float>()[i], expected[i], 2e-5) << i;
  }
}

// From -2 to 2.
TensorData Real(const Shape& shape, uint32_t seed) {
  TensorData data = TensorData::Zeros(kFloat, shape);
  std::minstd_rand random(seed);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random() % 4001) / 1000 - 2;
  }
  return data;
}

TEST(Diffusion, SumsAndGates) {
  const TensorData x = Real({2, 3, 8}, 1), bias = Real({8}, 2),
                   skip = Real({2, 3, 8}, 3);
  std::vector<double> sum(48), gated(24);
  for (int i = 0; i < 48; ++i) {
    sum[i] = double{x.as<float>()[i]} + bias.as<float>()[i % 8];
  }
  for (int i = 0; i < 24; ++i) {
    const double left = sum[i / 4 * 8 + i % 4],
                 right = sum[i / 4 * 8 + 4 + i % 4];
    gated[i] = left * 0.5 * right * (1 + std::erf(right / std::sqrt(2.0)));
  }
  ExpectNear(RunNode(Spec("BiasSplitGelu", {}), {x, bias}), {2, 3, 4}, gated);
  for (int i = 0; i < 48; ++i) sum[i] += skip.as<float>()[i];
  ExpectNear(RunNode(Spec("BiasAdd", {}), {x, bias, skip}), {2, 3, 8}, sum);
}

// A bias of 2 rows for 6: each for 3 that follow, or both three times.
TEST(Diffusion, BiasOfSoftmax) {
  const TensorData x = Real({6, 4}, 4), bias = Real({2, 4}, 5);
  for (int64_t inner : {0, 1}) {
    std::vector<double> y(24);
    for (int r = 0; r < 6; ++r) {
      double total = 0;
      for (int i = 0; i < 4; ++i) {
        const int row = inner != 0 ? r / 3 : r % 2;
        total += y[r * 4 + i] = std::exp(double{x.as<float>()[r * 4 + i]} +
                                         bias.as<float>()[row * 4 + i]);
      }
      for (int i = 0; i < 4; ++i) y[r * 4 + i] /= total;
    }
    ExpectNear(RunNode(Spec("BiasSoftmax", {{"axis", int64_t{1}},
                                            {"is_inner_broadcast", inner}}),
                       {x, bias}),
               {6, 4}, y);
  }
}

// Of [2, 3, 2, 4], channels last, two groups.
std::vector<double> Grouped(const std::vector<double>& x,
                            const TensorData& gamma, const TensorData& beta,
                            bool silu) {
  std::vector<double> y(48);
  for (int n = 0; n < 2; ++n) {
    for (int g = 0; g < 2; ++g) {
      double mean = 0, squares = 0;
      const auto each = [&](const auto& f) {
        for (int p = 0; p < 6; ++p) {
          for (int c = 2 * g; c < 2 * g + 2; ++c) f(n * 24 + p * 4 + c, c);
        }
      };
      each([&](int i, int) { mean += x[i] / 12; });
      each([&](int i, int) { squares += (x[i] - mean) * (x[i] - mean) / 12; });
      each([&](int i, int c) {
        const double v =
            (x[i] - mean) / std::sqrt(squares + 1e-3) * gamma.as<float>()[c] +
            beta.as<float>()[c];
        y[i] = silu ? v / (1 + std::exp(-v)) : v;
      });
    }
  }
  return y;
}

TEST(Diffusion, Groups) {
  const Shape shape = {2, 3, 2, 4};
  const TensorData x = Real(shape, 6), gamma = Real({4}, 7),
                   beta = Real({4}, 8), bias = Real({4}, 9);
  std::vector<double> own(48);
  for (int i = 0; i < 48; ++i) own[i] = x.as<float>()[i];
  for (int64_t silu : {0, 1}) {
    const std::map<std::string, Attribute> attributes = {
        {"groups", int64_t{2}}, {"activation", silu}, {"epsilon", 1e-3f}};
    ExpectNear(RunNode(Spec("GroupNorm", attributes), {x, gamma, beta}), shape,
               Grouped(own, gamma, beta, silu != 0));
    for (const Shape& form : {shape, Shape{2, 1, 1, 4}, Shape{2, 4}}) {
      const TensorData skip = Real(form, 10);
      std::vector<double> sum = own;
      for (int i = 0; i < 48; ++i) {
        sum[i] +=
            double{skip.as<float>()[form == shape ? i : i / 24 * 4 + i % 4]} +
            bias.as<float>()[i % 4];
      }
      ExpectNear(RunNode(Spec("SkipGroupNorm", attributes),
                         {x, gamma, beta, skip, bias}),
                 shape, Grouped(sum, gamma, beta, silu != 0));
    }
  }
}

// Channels second are the same with dimensions moved.
TEST(Diffusion, ChannelsSecond) {
  TensorData x = Real({2, 3, 2, 4}, 6), turned = Real({2, 4, 3, 2}, 6);
  std::vector<double> own(48);
  for (int i = 0; i < 48; ++i) {
    own[i] = x.as<float>()[i];
    turned.as<float>()[i / 24 * 24 + i % 4 * 6 + i % 24 / 4] = x.as<float>()[i];
  }
  const TensorData gamma = Real({4}, 7), beta = Real({4}, 8);
  const std::vector<double> last = Grouped(own, gamma, beta, false);
  std::vector<double> expected(48);
  for (int i = 0; i < 48; ++i) {
    expected[i / 24 * 24 + i % 4 * 6 + i % 24 / 4] = last[i];
  }
  ExpectNear(RunNode(Spec("GroupNorm", {{"groups", int64_t{2}},
                                        {"activation", int64_t{0}},
                                        {"channels_last", int64_t{0}},
                                        {"epsilon", 1e-3f}}),
                     {turned, gamma, beta}),
             {2, 4, 3, 2}, expected);
}

TEST(Diffusion, WhatDoesNotFitIsRefused) {
  const auto kind = [](const NodeSpec& spec,
                       const std::vector<TensorData>& inputs) {
    return RejectionOf(RunNode(spec, inputs).status());
  };
  const TensorData x = Real({2, 3, 7}, 1), four = Real({4}, 2);
  EXPECT_EQ(kind(Spec("BiasAdd", {}), {x, four, x}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind(Spec("BiasAdd", {}), {x, Real({7}, 2), Real({3, 7}, 3)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind(Spec("BiasSplitGelu", {}), {x, Real({7}, 2)}),
            Rejection::kMismatchingShape);
  const auto softmax = [](int64_t axis) {
    return Spec("BiasSoftmax",
                {{"axis", axis}, {"is_inner_broadcast", int64_t{0}}});
  };
  EXPECT_EQ(kind(softmax(3), {x, Real({7}, 2)}), Rejection::kInvalidModel);
  EXPECT_EQ(kind(softmax(2), {x, four}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind(softmax(1), {x, Real({7}, 2)}), Rejection::kMismatchingShape);
  const auto group = [](int64_t groups, int64_t activation) {
    return Spec("GroupNorm", {{"groups", groups}, {"activation", activation}});
  };
  const TensorData image = Real({1, 2, 2, 4}, 3);
  EXPECT_EQ(kind(group(2, 0), {image, four, four}), Rejection::kNone);
  EXPECT_EQ(kind(group(3, 0), {image, four, four}), Rejection::kInvalidModel);
  EXPECT_EQ(kind(group(2, 2), {image, four, four}),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(kind(group(2, 0), {x, four, four}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind(group(2, 0), {image, four, Real({2}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind(Spec("SkipGroupNorm",
                      {{"groups", int64_t{2}}, {"activation", int64_t{0}}}),
                 {image, four, four, Real({1, 2}, 4)}),
            Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
