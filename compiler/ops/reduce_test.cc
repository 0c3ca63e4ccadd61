// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

std::string Describe(const std::vector<ReduceStage>& stages) {
  std::string text;
  for (const ReduceStage& s : stages) {
    text += ShapeToString({s.outer, s.count, s.inner});
  }
  return text;
}

TEST(ReduceStagesTest, RunsFromTheLastOn) {
  EXPECT_EQ(Describe(ReduceStages({2, 3, 4, 5}, {false, true, false, true})),
            "[24,5,1][2,3,4]");
  EXPECT_EQ(Describe(ReduceStages({2, 3, 4, 5}, {false, true, true, false})),
            "[2,12,5]");
  EXPECT_EQ(Describe(ReduceStages({2, 3, 1, 5}, {true, true, false, true})),
            "[1,30,1]");
  EXPECT_EQ(Describe(ReduceStages({2, 1}, {false, true})), "[2,1,1]");
  EXPECT_EQ(Describe(ReduceStages({}, {true})), "[1,1,1]");
}

TEST(ReduceStagesTest, LongRunsAreCutEvenly) {
  EXPECT_EQ(Describe(ReduceStages({3, 4096}, {false, true})), "[3,4096,1]");
  EXPECT_EQ(Describe(ReduceStages({3, 4098}, {false, true})),
            "[6,2049,1][3,2,1]");
  // A prime stays whole.
  EXPECT_EQ(Describe(ReduceStages({4099}, {true})), "[1,4099,1]");
  EXPECT_EQ(Describe(ReduceStages({4099 * 3}, {true})), "[4099,3,1][1,4099,1]");
  EXPECT_EQ(Describe(ReduceStages({1 << 25, 2}, {true, false})),
            "[8192,4096,2][2,4096,2][1,2,2]");
}

// Of no elements the result is what changes nothing: 0 for sums, 1 for
// products, and for minima and maxima the end of the type, infinities where it
// has them.
TEST(ReduceTest, OfNothingIsTheNeutralElement) {
  const auto reduce = [](const char* op, TensorData x) {
    const auto y = RunNode({op, "", 20, {{"keepdims", int64_t{0}}}},
                           {x, Int64s({1}, {0})});
    EXPECT_TRUE(y.ok()) << op << ": " << y.status();
    return y.ok() ? *y : TensorData();
  };
  const TensorData none = Floats({0, 2}, {});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [op, value] :
       std::vector<std::pair<const char*, float>>{{"ReduceL1", 0},
                                                  {"ReduceL2", 0},
                                                  {"ReduceSumSquare", 0},
                                                  {"ReduceSum", 0},
                                                  {"ReduceProd", 1},
                                                  {"ReduceLogSum", -kInfinity},
                                                  {"ReduceMax", -kInfinity},
                                                  {"ReduceMin", kInfinity}}) {
    EXPECT_EQ(Difference(reduce(op, none), Floats({2}, {value, value}), 0, 0),
              "")
        << op;
  }
  EXPECT_EQ(Difference(reduce("ReduceMax", Int8s({0, 2}, {})),
                       Int8s({2}, {-128, -128}), 0, 0),
            "");
  EXPECT_EQ(Difference(
                reduce("ReduceMin", TensorData::Zeros(DataType::kBool, {0, 1})),
                MakeData<uint8_t>(DataType::kBool, {1}, {1}), 0, 0),
            "");
  EXPECT_EQ(Difference(reduce("ReduceMin", Uint8s({0, 1}, {})),
                       Uint8s({1}, {255}), 0, 0),
            "");
  EXPECT_EQ(
      Difference(reduce("ReduceMax", Int32s({0, 1}, {})),
                 Int32s({1}, {std::numeric_limits<int32_t>::min()}), 0, 0),
      "");
}

TEST(ReduceTest, OrderIsLanesOrOneChain) {
  // 2^24 absorbs every 1 that is added to it alone.
  std::vector<float> values(32, 1.0f);
  values[0] = 16777216.0f;
  const Reduction sum;
  const auto lanes = Reduce(values, ReduceStages({32}, {true}), sum);
  EXPECT_EQ(lanes[0], 16777216.0f + 30.0f);
  std::vector<float> columns;
  for (float v : values) columns.insert(columns.end(), {v, v});
  const auto chain = Reduce(columns, ReduceStages({32, 2}, {true, false}), sum);
  EXPECT_EQ(chain[0], 16777216.0f);
}

TEST(ReduceTest, NanWinsWhereverItStands) {
  const float nan = std::nanf("");
  for (int at = 0; at < 40; ++at) {
    std::vector<float> values(40, 3.0f);
    values[at] = nan;
    for (const Fold fold : {Fold::kMax, Fold::kMin}) {
      Reduction reduction;
      reduction.fold = fold;
      EXPECT_TRUE(
          std::isnan(Reduce(values, ReduceStages({40}, {true}), reduction)[0]));
      EXPECT_TRUE(std::isnan(
          Reduce(values, ReduceStages({40, 1}, {true, false}), reduction)[0]));
    }
  }
}

TEST(ReduceTest, IntegersWrap) {
  auto y = RunNode({"ReduceSum", "", 11, {{"axes", Ints{0}}}},
                   {Int32s({2}, {2000000000, 2000000000})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Int32s({1}, {-294967296}), 0, 0), "");
  y = RunNode({"ReduceProd", "", 11, {{"keepdims", int64_t{0}}}},
              {Int64s({3}, {2, 3, 7})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Int64s({}, {42}), 0, 0), "");
}

TEST(ReduceTest, RefusesAxesOutsideOrTwice) {
  for (const Ints& axes : {Ints{2}, Ints{-3}, Ints{0, -2}}) {
    EXPECT_EQ(RejectionOf(RunNode({"ReduceMax", "", 11, {{"axes", axes}}},
                                  {Floats({1, 2}, {1, 2})})
                              .status()),
              Rejection::kInvalidModel);
  }
}

}  // namespace
}  // namespace heddle::compiler
