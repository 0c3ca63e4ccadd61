// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "compiler/testing/model_builder.h"

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::TensorData;
using compiler::Uint8s;

TEST(Quality, Cosine) {
  const TensorData a = Floats({1, 2}, {3, 4}), b = Floats({1, 2}, {4, 3});
  EXPECT_EQ(*QualityOf(a, a).cosine, 1);
  EXPECT_EQ(*QualityOf(a, a).relative_error, 0);
  EXPECT_NEAR(*QualityOf(a, b).cosine, 24.0 / 25, 1e-12);
  EXPECT_NEAR(*QualityOf(a, b).relative_error, std::sqrt(2) / 5, 1e-12);
  EXPECT_NEAR(*QualityOf(Floats({2}, {-3, -4}), Floats({2}, {3, 4})).cosine, -1,
              1e-12);
  // Neither a direction nor a size to compare with.
  const TensorData zero = Floats({1, 2}, {0, 0});
  EXPECT_FALSE(QualityOf(a, zero).cosine.has_value());
  EXPECT_FALSE(QualityOf(a, zero).relative_error.has_value());
  EXPECT_FALSE(QualityOf(zero, a).cosine.has_value());
  EXPECT_EQ(*QualityOf(zero, a).relative_error, 1);
}

TEST(Quality, ExtremeNumbers) {
  const TensorData huge = TensorData::Zeros(DataType::kDouble, {2});
  TensorData a = huge, b = huge;
  a.as<double>()[0] = 1e300;
  b.as<double>()[0] = 2e300;
  EXPECT_NEAR(*QualityOf(a, b).cosine, 1, 1e-12);
  const Quality q =
      QualityOf(Floats({3}, {1, NAN, INFINITY}), Floats({3}, {1, 2, INFINITY}));
  EXPECT_EQ(*q.cosine, 1) << "of the elements that are numbers in both";
  ASSERT_EQ(q.largest.size(), 1u) << "equal infinities do not differ";
  EXPECT_EQ(q.largest[0].index, 1);
  EXPECT_TRUE(std::isinf(Distance(q.largest[0])));
}

// Codes around a zero point are no vector by themselves.
TEST(Quality, CodesAroundTheirZero) {
  const TensorData a = Uint8s({2}, {129, 128}), b = Uint8s({2}, {128, 129});
  EXPECT_GT(*QualityOf(a, b).cosine, 0.99);
  EXPECT_NEAR(*QualityOf(a, b, 128).cosine, 0, 1e-12);
}

TEST(Quality, Top1) {
  const TensorData expected = Floats({3, 2, 1}, {1, 2, 2, 1, 5, 4});
  const TensorData value = Floats({3, 2, 1}, {1, 3, 1, 2, 5, 5});
  const Quality q = QualityOf(value, expected);
  EXPECT_EQ(q.vectors, 3);
  EXPECT_EQ(q.top1, 2) << "of equal scores the first counts";
  EXPECT_TRUE(absl::StrContains(Describe(q, value.shape),
                                "top-1 agrees in 2 of 3 (66.67 %)"))
      << Describe(q, value.shape);
  const Quality one =
      QualityOf(Floats({1, 3}, {1, NAN, 0}), Floats({1, 3}, {0, 1, 2}));
  EXPECT_EQ(one.top1, 0);
  EXPECT_TRUE(absl::StrContains(Describe(one, {1, 3}),
                                "top-1 DIFFERS (class 0, expected 2)"));
  const Quality pooled = QualityOf(Floats({1, 3, 1, 1}, {1, 0, 2}),
                                   Floats({1, 3, 1, 1}, {0, 1, 2}));
  EXPECT_EQ(pooled.top1, 1);
  Quality forgotten = one;
  ForgetClasses(&forgotten);
  EXPECT_FALSE(absl::StrContains(Describe(forgotten, {1, 3}), "top-1"));
  // An image, the state of a recurrence, a vector without batch, a decision and
  // a list of classes are no scores.
  for (const compiler::Shape& shape : std::vector<compiler::Shape>{
           {1, 2, 2}, {1, 1, 4}, {2, 1, 4}, {4}, {4, 1}, {0, 0}}) {
    const TensorData t = TensorData::Zeros(DataType::kFloat, shape);
    EXPECT_EQ(QualityOf(t, t).vectors, 0);
  }
  const TensorData chosen = TensorData::Zeros(DataType::kInt64, {1, 4});
  EXPECT_EQ(QualityOf(chosen, chosen).vectors, 0);
}

TEST(Quality, LargestDifferences) {
  const TensorData expected = TensorData::Zeros(DataType::kFloat, {2, 4});
  const TensorData value = Floats({2, 4}, {1, -7, 0, 2, 2, 3, 9, 0.5f});
  const Quality q = QualityOf(value, expected);
  ASSERT_EQ(q.largest.size(), kLargest);
  const int64_t order[] = {6, 1, 5, 3, 4};
  for (size_t i = 0; i < kLargest; ++i) EXPECT_EQ(q.largest[i].index, order[i]);
  EXPECT_EQ(q.largest[1].value, -7);
  const std::string text = Describe(q, value.shape);
  EXPECT_TRUE(
      absl::StrContains(text, "  largest     [1,2]: 9, expected 0, off by 9\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "\n              [0,1]: -7, expected 0"))
      << text;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  AddQuality(q, value.shape, &json);
  EXPECT_EQ(json["largest"][0]["position"], "[1,2]");
  EXPECT_EQ(json["top1"]["of"], 2);
  EXPECT_TRUE(QualityOf(value, value).largest.empty());
}

}  // namespace
}  // namespace heddle::run
