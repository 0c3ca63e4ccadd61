// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Concat, Gather, Cast, Shape:
// what the ONNX node cases do not reach.
#include "compiler/ops/layout.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

std::string Outcome(const NodeSpec& spec,
                    const std::vector<TensorData>& inputs) {
  auto y = RunNode(spec, inputs);
  return y.ok() ? ShapeToString(y->shape)
                : RejectionName(RejectionOf(y.status()));
}

TEST(ReshapeTest, Shapes) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {2, 3, 4});
  const auto reshape = [&x](const Ints& to, int64_t allow_zero = 0) {
    return Outcome({"Reshape", "", 14, {{"allowzero", allow_zero}}},
                   {x, Int64s({static_cast<int64_t>(to.size())}, to)});
  };
  EXPECT_EQ(reshape({6, -1}), "[6,4]");
  EXPECT_EQ(reshape({0, -1}), "[2,12]");
  EXPECT_EQ(reshape({24}), "[24]");
  EXPECT_EQ(reshape({-1, -1}), "invalid model");
  EXPECT_EQ(reshape({-2, 12}), "invalid model");
  EXPECT_EQ(reshape({1, 1, 1, 0}), "invalid model");
  EXPECT_EQ(reshape({5, -1}), "mismatching shape");
  EXPECT_EQ(reshape({25}), "mismatching shape");
  EXPECT_EQ(reshape({0, 24}, 1), "mismatching shape");
  EXPECT_EQ(reshape({int64_t{1} << 62, 8}), "mismatching shape");
}

TEST(FlattenTest, Axes) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {2, 3, 4});
  const auto flatten = [&x](int64_t axis) {
    return Outcome({"Flatten", "", 13, {{"axis", axis}}}, {x});
  };
  EXPECT_EQ(flatten(0), "[1,24]");
  EXPECT_EQ(flatten(3), "[24,1]");
  EXPECT_EQ(flatten(-1), "[6,4]");
  EXPECT_EQ(flatten(4), "invalid model");
  EXPECT_EQ(flatten(-4), "invalid model");
}

TEST(SqueezeTest, AxesAsAttributeAndAsInput) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {1, 3, 1});
  EXPECT_EQ(Outcome({"Squeeze", "", 11, {{"axes", Ints{-1}}}}, {x}), "[1,3]");
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {}}, {x, Int64s({1}, {0})}), "[3,1]");
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {}}, {x}), "[3]");
  // An empty list is an absent one.
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {}}, {x, Int64s({0}, {})}), "[3]");
  EXPECT_EQ(Outcome({"Squeeze", "", 11, {{"axes", Ints{}}}}, {x}), "[3]");
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {}}, {x, Int64s({1}, {1})}),
            "mismatching shape");
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {}}, {x, Int64s({2}, {0, -3})}),
            "invalid model");
  EXPECT_EQ(Outcome({"Squeeze", "", 13, {{"axes", Ints{0}}}}, {x}),
            "invalid model");
  EXPECT_EQ(Outcome({"Unsqueeze", "", 13, {}}, {x, Int64s({2}, {0, 4})}),
            "[1,1,3,1,1]");
  EXPECT_EQ(Outcome({"Unsqueeze", "", 11, {{"axes", Ints{9}}}}, {x}),
            "invalid model");
}

TEST(TransposeTest, Permutations) {
  const TensorData x = Int32s({2, 3}, {1, 2, 3, 4, 5, 6});
  auto y = RunNode({"Transpose", "", 13, {}}, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Int32s({3, 2}, {1, 4, 2, 5, 3, 6}), 0, 0), "");
  for (const Ints& perm : {Ints{0}, Ints{0, 0}, Ints{0, 2}, Ints{-1, 0}}) {
    EXPECT_EQ(Outcome({"Transpose", "", 13, {{"perm", perm}}}, {x}),
              "invalid model");
  }
}

TEST(ConcatTest, RefusesWhatDoesNotFit) {
  const TensorData a = Floats({1, 2}, {1, 2}), b = Floats({2, 2}, {3, 4, 5, 6});
  const auto concat = [](int64_t axis, const std::vector<TensorData>& inputs) {
    return Outcome({"Concat", "", 13, {{"axis", axis}}}, inputs);
  };
  EXPECT_EQ(concat(0, {a, b}), "[3,2]");
  EXPECT_EQ(concat(-2, {a, b}), "[3,2]");
  EXPECT_EQ(concat(1, {a, b}), "mismatching shape");
  EXPECT_EQ(concat(2, {a, b}), "invalid model");
  EXPECT_EQ(concat(0, {a, Int32s({1, 2}, {1, 2})}), "invalid model");
  EXPECT_EQ(concat(0, {a, TensorData(), b}), "invalid model");
}

TEST(GatherTest, NegativeAndBadIndices) {
  const TensorData x = Floats({3}, {1, 2, 3});
  auto y = RunNode({"Gather", "", 13, {}}, {x, Int64s({2}, {-1, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2}, {3, 1}), 0, 0), "");
  for (int64_t bad : {3, -4}) {
    EXPECT_EQ(
        RejectionOf(
            RunNode({"Gather", "", 13, {}}, {x, Int64s({}, {bad})}).status()),
        Rejection::kInvalidModel);
  }
}

TEST(CastTest, EdgesOfFloatToInteger) {
  const float inf = std::numeric_limits<float>::infinity();
  auto y = RunNode({"Cast", "", 13, {{"to", int64_t{6}}}},
                   {Floats({5}, {-1.9f, 1.9f, inf, 3e9f, -2147483648.0f})});
  ASSERT_TRUE(y.ok()) << y.status();
  const int32_t low = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Difference(*y, Int32s({5}, {-1, 1, low, low, low}), 0, 0), "");
  y = RunNode({"Cast", "", 13, {{"to", int64_t{1}}}},
              {Int64s({1}, {(int64_t{1} << 62) + (int64_t{1} << 38) + 1})});
  ASSERT_TRUE(y.ok());
  // One rounding: just above the tie between two floats.
  EXPECT_EQ(y->as<float>()[0], 4611686568183201792.0f);
  EXPECT_EQ(Outcome({"Cast", "", 13, {{"to", int64_t{8}}}}, {Floats({}, {1})}),
            "unsupported datatype");
}

TEST(ShapeTest, StartAndEnd) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {2, 3, 4});
  auto y = RunNode({"Shape", "", 15, {{"start", int64_t{-2}}}}, {x});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(Difference(*y, Int64s({2}, {3, 4}), 0, 0), "");
  y = RunNode({"Shape", "", 15, {{"start", int64_t{2}}, {"end", int64_t{1}}}},
              {x});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->shape, (Shape{0}));
}

}  // namespace
}  // namespace heddle::compiler
