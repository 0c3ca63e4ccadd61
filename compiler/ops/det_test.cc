// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

// The product of two triangular matrices of small integers, rows exchanged:
// all of it is exact, and so is its determinant.
struct Sample {
  std::vector<double> matrix;
  double determinant = 1;
};

Sample MakeSample(int64_t n, std::mt19937* random) {
  std::vector<double> lower(n * n), upper(n * n);
  Sample sample;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      const double v = static_cast<double>((*random)() % 3) - 1;
      if (k < i) lower[i * n + k] = v;
      if (k > i) upper[i * n + k] = v;
    }
    lower[i * n + i] = 1;
    upper[i * n + i] = (*random)() % 2 == 0 ? 1 : -2;
    sample.determinant *= upper[i * n + i];
  }
  sample.matrix.resize(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < n; ++j) {
        sample.matrix[i * n + k] += lower[i * n + j] * upper[j * n + k];
      }
    }
  }
  for (int64_t i = n - 1; i > 0; --i) {
    const auto other = static_cast<int64_t>((*random)() % (i + 1));
    if (other == i) continue;
    for (int64_t k = 0; k < n; ++k) {
      std::swap(sample.matrix[i * n + k], sample.matrix[other * n + k]);
    }
    sample.determinant = -sample.determinant;
  }
  return sample;
}

TEST(Det, OfManyRowsAndOfDoubles) {
  std::mt19937 random(5);
  for (int64_t n : {1, 2, 6, 7, 12, 20}) {
    const Sample sample = MakeSample(n, &random);
    TensorData doubles = TensorData::Zeros(DataType::kDouble, {1, n, n});
    TensorData floats = TensorData::Zeros(DataType::kFloat, {n, n});
    for (int64_t i = 0; i < n * n; ++i) {
      doubles.as<double>()[i] = sample.matrix[i];
      floats.as<float>()[i] = static_cast<float>(sample.matrix[i]);
    }
    auto y = RunNode({"Det", "", 13, {}}, {doubles});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, Shape{1});
    EXPECT_NEAR(y->as<double>()[0], sample.determinant,
                1e-9 * std::fabs(sample.determinant))
        << n;
    y = RunNode({"Det", "", 13, {}}, {floats});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, Shape{});
    EXPECT_EQ(y->as<float>()[0], static_cast<float>(sample.determinant)) << n;
  }
  // Nothing can be a pivot.
  const auto zero = RunNode({"Det", "", 13, {}},
                            {TensorData::Zeros(DataType::kFloat, {2, 8, 8})});
  ASSERT_TRUE(zero.ok()) << zero.status();
  EXPECT_EQ(zero->as<float>()[1], 0);
}

}  // namespace
}  // namespace heddle::compiler
