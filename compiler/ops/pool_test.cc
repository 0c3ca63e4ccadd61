// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/pool.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

TEST(MaxPoolTest, PaddingNeverWins) {
  auto y = RunNode({"MaxPool",
                    "",
                    12,
                    {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}}},
                   {Int8s({1, 1, 2, 2}, {-5, -6, -7, -128})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Int8s({1, 1, 2, 2}, {-5, -5, -5, -5}), 0, 0), "");
  const float low = std::numeric_limits<float>::lowest();
  y = RunNode(
      {"MaxPool", "", 12, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}}},
      {Floats({1, 1, 2}, {low, low})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->as<float>()[0], low);
}

TEST(MaxPoolTest, CeilModeDropsWindowsThatStartInThePadding) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {1, 1, 6});
  auto y = RunNode({"MaxPool",
                    "",
                    12,
                    {{"kernel_shape", Ints{2}},
                     {"strides", Ints{4}},
                     {"pads", Ints{0, 1}},
                     {"ceil_mode", int64_t{1}}}},
                   {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape, (Shape{1, 1, 2}));
  y = RunNode({"MaxPool",
               "",
               12,
               {{"kernel_shape", Ints{1}},
                {"strides", Ints{4}},
                {"pads", Ints{0, 3}},
                {"ceil_mode", int64_t{1}}}},
              {x});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->shape, (Shape{1, 1, 2}));
}

TEST(MaxPoolTest, KernelShapeIsRequired) {
  EXPECT_EQ(
      RejectionOf(RunNode({"MaxPool", "", 12, {}},
                          {TensorData::Zeros(DataType::kFloat, {1, 1, 6})})
                      .status()),
      Rejection::kInvalidModel);
}

TEST(AveragePoolTest, CountsPaddingOnlyWhenAsked) {
  const TensorData x = Floats({1, 1, 2}, {2, 4});
  for (const int64_t include : {0, 1}) {
    auto y = RunNode({"AveragePool",
                      "",
                      11,
                      {{"kernel_shape", Ints{2}},
                       {"pads", Ints{1, 1}},
                       {"count_include_pad", include}}},
                     {x});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(Difference(*y,
                         include ? Floats({1, 1, 3}, {1, 3, 2})
                                 : Floats({1, 1, 3}, {2, 3, 4}),
                         0, 0),
              "");
  }
}

TEST(GlobalAveragePoolTest, SumsInSixteenLanes) {
  // 2^24 + 1 + ... : a single chain would lose every 1, the lanes keep them.
  std::vector<float> values(32, 1.0f);
  values[0] = 16777216.0f;
  auto y = RunNode({"GlobalAveragePool", "", 13, {}},
                   {Floats({1, 1, 4, 8}, values)});
  ASSERT_TRUE(y.ok()) << y.status();
  // Lane 0: 2^24 + 1 rounds to 2^24; the other 15 lanes hold 2 each.
  EXPECT_EQ(y->as<float>()[0], (16777216.0f + 30.0f) / 32.0f);
}

}  // namespace
}  // namespace heddle::compiler
