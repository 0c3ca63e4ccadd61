// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others: results by hand and by formulas in double,
// and rejections.
#include "compiler/ops/expanded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
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

std::vector<float> Values(const absl::StatusOr<TensorData>& y) {
  EXPECT_TRUE(y.ok()) << y.status();
  if (!y.ok()) return {};
  return std::vector<float>(y->as<float>(), y->as<float>() + y->count());
}

void ExpectNear(const absl::StatusOr<TensorData>& y, const Shape& shape,
                const std::vector<double>& expected, double error = 1e-6) {
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ(y->shape, shape);
  ASSERT_EQ(y->count(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(y->as<float>()[i], expected[i],
                error * std::max(1.0, std::fabs(expected[i])))
        << i;
  }
}

TensorData Random(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  TensorData x = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] = static_cast<float>(random() >> 40) / (1 << 22) - 2;
  }
  return x;
}

TEST(ExpandedTest, LogarithmsOfSums) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<int64_t> last = {-1};
  ExpectNear(RunNode(Spec("ReduceLogSum", 13, {{"axes", last}}), {x}), {2, 1},
             {std::log(6.0), std::log(15.0)});
  ExpectNear(RunNode(Spec("ReduceLogSumExp", 13,
                          {{"axes", last}, {"keepdims", int64_t{0}}}),
                     {x}),
             {2},
             {std::log(std::exp(1) + std::exp(2) + std::exp(3)),
              std::log(std::exp(4) + std::exp(5) + std::exp(6))});
  // Nothing overflows, and infinities are what they are.
  const TensorData large = Floats(
      {5, 2}, {1000, 1000, -1000, -1001, -kInf, -kInf, -kInf, 3, kInf, 1});
  const auto y =
      Values(RunNode(Spec("ReduceLogSumExp", 13, {{"axes", last}}), {large}));
  ASSERT_EQ(y.size(), 5u);
  EXPECT_NEAR(y[0], 1000 + std::log(2.0), 1e-3);
  EXPECT_NEAR(y[1], -1000 + std::log1p(std::exp(-1.0)), 1e-3);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_EQ(y[3], 3);
  EXPECT_EQ(y[4], kInf);
  const TensorData nan = Floats({2}, {std::nanf(""), 1});
  EXPECT_TRUE(
      std::isnan(Values(RunNode(Spec("ReduceLogSumExp", 13), {nan}))[0]));
  ExpectNear(RunNode(Spec("ReduceLogSum", 13), {Floats({}, {2})}), {},
             {std::log(2.0)});
}

TEST(ExpandedTest, HalvesAreRoundedOnce) {
  // The sum of 3 * 30000 is none of float16, its logarithm is.
  TensorData x = TensorData::Zeros(DataType::kFloat16, {3});
  for (int i = 0; i < 3; ++i) x.as<uint16_t>()[i] = model::F32ToF16(30000);
  const auto y = RunNode(Spec("ReduceLogSum", 13), {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->type, DataType::kFloat16);
  EXPECT_EQ(y->as<uint16_t>()[0],
            model::F32ToF16(static_cast<float>(std::log(90000.0))));
}

TEST(ExpandedTest, HardmaxTakesTheFirst) {
  const TensorData x = Floats({2, 2, 2}, {1, 3, 3, 2, 5, 5, 0, -1});
  EXPECT_EQ(Values(RunNode(Spec("Hardmax", 13), {x})),
            (std::vector<float>{0, 1, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(Values(RunNode(Spec("Hardmax", 13, {{"axis", int64_t{1}}}), {x})),
            (std::vector<float>{0, 1, 1, 0, 1, 1, 0, 0}));
  // Before opset 13 one for all that follow the axis.
  EXPECT_EQ(Values(RunNode(Spec("Hardmax", 12), {x})),
            (std::vector<float>{0, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(
      RejectionOf(
          RunNode(Spec("Hardmax", 13, {{"axis", int64_t{3}}}), {x}).status()),
      Rejection::kInvalidModel);
}

TEST(ExpandedTest, Normalizations) {
  const TensorData x = Floats({2, 2}, {3, 4, 0, 0});
  ExpectNear(RunNode(Spec("LpNormalization", 1), {x}), {2, 2},
             {0.6, 0.8, 0, 0});
  ExpectNear(RunNode(Spec("LpNormalization", 1, {{"p", int64_t{1}}}), {x}),
             {2, 2}, {3.0 / 7, 4.0 / 7, 0, 0});
  EXPECT_EQ(
      RejectionOf(RunNode(Spec("LpNormalization", 1, {{"p", int64_t{3}}}), {x})
                      .status()),
      Rejection::kInvalidModel);
  const TensorData z = Random({2, 3, 4, 5}, 1);
  std::vector<double> expected(120);
  for (int c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    const auto at = [&](int i) { return i / 20 * 60 + c * 20 + i % 20; };
    for (int i = 0; i < 40; ++i) sum += z.as<float>()[at(i)];
    for (int i = 0; i < 40; ++i) {
      squares += std::pow(z.as<float>()[at(i)] - sum / 40, 2);
    }
    for (int i = 0; i < 40; ++i) {
      expected[at(i)] =
          (z.as<float>()[at(i)] - sum / 40) / std::sqrt(squares / 40);
    }
  }
  ExpectNear(RunNode(Spec("MeanVarianceNormalization", 13), {z}), {2, 3, 4, 5},
             expected);
}

TEST(ExpandedTest, GroupAndRms) {
  const TensorData x = Random({2, 4, 6}, 2);
  for (int opset : {18, 21}) {
    const TensorData scale =
        opset == 18 ? Floats({2}, {2, 3}) : Floats({4}, {2, 2, 3, 3});
    const TensorData bias =
        opset == 18 ? Floats({2}, {1, -1}) : Floats({4}, {1, 1, -1, -1});
    std::vector<double> expected(48);
    for (int g = 0; g < 4; ++g) {
      double sum = 0, squares = 0;
      for (int i = 0; i < 12; ++i) sum += x.as<float>()[g * 12 + i];
      for (int i = 0; i < 12; ++i) {
        squares += std::pow(x.as<float>()[g * 12 + i] - sum / 12, 2);
      }
      for (int i = 0; i < 12; ++i) {
        expected[g * 12 + i] = (x.as<float>()[g * 12 + i] - sum / 12) /
                                   std::sqrt(squares / 12 + 1e-5) *
                                   (g % 2 ? 3 : 2) +
                               (g % 2 ? -1 : 1);
      }
    }
    ExpectNear(
        RunNode(Spec("GroupNormalization", opset, {{"num_groups", int64_t{2}}}),
                {x, scale, bias}),
        {2, 4, 6}, expected, 1e-5);
  }
  const TensorData scale = Floats({6}, {1, 2, 3, 4, 5, 6});
  std::vector<double> expected(48);
  for (int r = 0; r < 8; ++r) {
    double squares = 0;
    for (int i = 0; i < 6; ++i) {
      squares += std::pow(x.as<float>()[r * 6 + i], 2);
    }
    for (int i = 0; i < 6; ++i) {
      expected[r * 6 + i] =
          x.as<float>()[r * 6 + i] / std::sqrt(squares / 6 + 1e-5) * (i + 1);
    }
  }
  ExpectNear(RunNode(Spec("RMSNormalization", 23), {x, scale}), {2, 4, 6},
             expected);
}

TEST(ExpandedTest, PoolsOfPowers) {
  const TensorData x = Floats({1, 1, 2, 3}, {1, -2, 3, -4, 5, -6});
  ExpectNear(RunNode(Spec("GlobalLpPool", 2), {x}), {1, 1, 1, 1},
             {std::sqrt(91.0)});
  ExpectNear(RunNode(Spec("GlobalLpPool", 2, {{"p", int64_t{1}}}), {x}),
             {1, 1, 1, 1}, {21});
  ExpectNear(RunNode(Spec("GlobalLpPool", 2, {{"p", int64_t{3}}}), {x}),
             {1, 1, 1, 1}, {std::cbrt(441.0)}, 1e-5);
  const std::vector<int64_t> kernel = {2, 2}, pads = {0, 1, 0, 1};
  ExpectNear(RunNode(Spec("LpPool", 11, {{"kernel_shape", kernel}}), {x}),
             {1, 1, 1, 2}, {std::sqrt(46.0), std::sqrt(74.0)});
  ExpectNear(
      RunNode(
          Spec("LpPool", 11,
               {{"kernel_shape", kernel}, {"pads", pads}, {"p", int64_t{1}}}),
          {x}),
      {1, 1, 1, 4}, {5, 12, 16, 9});
  EXPECT_EQ(
      RejectionOf(
          RunNode(Spec("LpPool", 11, {{"kernel_shape", pads}}), {x}).status()),
      Rejection::kInvalidModel);
}

TEST(ExpandedTest, OneHotOfAnyIndex) {
  const TensorData values = Floats({2}, {-1, 7});
  const std::vector<float> expected = {7,  -1, -1, -1, -1, 7,
                                       -1, -1, -1, 7,  -1, -1};
  const TensorData depth = Int64s({1}, {3});
  ExpectNear(
      RunNode(Spec("OneHot", 11), {Int64s({4}, {0, -1, 3, -3}), depth, values}),
      {4, 3}, {expected.begin(), expected.end()});
  ExpectNear(
      RunNode(Spec("OneHot", 11), {Floats({4}, {0, -1, 3, -3}), depth, values}),
      {4, 3}, {expected.begin(), expected.end()});
  ExpectNear(RunNode(Spec("OneHot", 11, {{"axis", int64_t{0}}}),
                     {Int32s({2}, {1, 0}), Floats({}, {2}), values}),
             {2, 2}, {-1, 7, 7, -1});
  EXPECT_EQ(RejectionOf(RunNode(Spec("OneHot", 11),
                                {Int64s({1}, {0}), Int64s({}, {0}), values})
                            .status()),
            Rejection::kInvalidModel);
}

TEST(ExpandedTest, Triangles) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, kInf});
  EXPECT_EQ(Values(RunNode(Spec("Trilu", 14), {x})),
            (std::vector<float>{1, 2, 3, 0, 5, kInf}));
  EXPECT_EQ(Values(RunNode(Spec("Trilu", 14, {{"upper", int64_t{0}}}), {x})),
            (std::vector<float>{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(Values(RunNode(Spec("Trilu", 14), {x, Int64s({}, {2})})),
            (std::vector<float>{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(Values(RunNode(Spec("Trilu", 14), {x, Int64s({}, {INT64_MIN})})),
            (std::vector<float>{1, 2, 3, 4, 5, kInf}));
  const auto wide =
      RunNode(Spec("Trilu", 14), {Int64s({2, 2}, {INT64_MIN, 2, 3, 4})});
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->as<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(wide->as<int64_t>()[2], 0);
}

TEST(ExpandedTest, Eyes) {
  const TensorData x = Floats({2, 3}, {9, 9, 9, 9, 9, 9});
  EXPECT_EQ(Values(RunNode(Spec("EyeLike", 9), {x})),
            (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(Values(RunNode(Spec("EyeLike", 9, {{"k", int64_t{-1}}}), {x})),
            (std::vector<float>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(Values(RunNode(Spec("EyeLike", 9, {{"k", INT64_MAX}}), {x})),
            std::vector<float>(6, 0));
  const auto ints = RunNode(
      Spec("EyeLike", 9, {{"dtype", static_cast<int64_t>(DataType::kInt64)}}),
      {x});
  ASSERT_TRUE(ints.ok()) << ints.status();
  EXPECT_EQ(ints->as<int64_t>()[4], 1);
}

}  // namespace
}  // namespace heddle::compiler
