// SPDX-License-Identifier: Apache-2.0
// Tensors made of parameters, and the chains of shape arithmetic that exporters
// write, which must vanish when compiling.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

NodeSpec Spec(const std::string& op) {
  NodeSpec spec;
  spec.op = op;
  return spec;
}

TEST(ConstantOfShapeTest, FillsWithTheValue) {
  NodeSpec spec = Spec("ConstantOfShape");
  auto zeros = RunNode(spec, {Int64s({2}, {2, 3})});
  ASSERT_TRUE(zeros.ok()) << zeros.status();
  EXPECT_EQ(zeros->type, DataType::kFloat);
  EXPECT_EQ(zeros->shape, (Shape{2, 3}));
  EXPECT_EQ(zeros->as<float>()[5], 0);
  spec.attributes["value"] =
      std::make_shared<const TensorData>(Int32s({1}, {-7}));
  auto sevens = RunNode(spec, {Int64s({1}, {3})});
  ASSERT_TRUE(sevens.ok()) << sevens.status();
  EXPECT_EQ(sevens->type, DataType::kInt32);
  EXPECT_EQ(sevens->as<int32_t>()[2], -7);
  auto scalar = RunNode(spec, {Int64s({0}, {})});
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->shape, Shape{});
  EXPECT_EQ(RunNode(spec, {Int64s({2}, {2, 0})})->bytes.size(), 0u);
}

TEST(ConstantOfShapeTest, Rejections) {
  NodeSpec spec = Spec("ConstantOfShape");
  EXPECT_EQ(RejectionOf(RunNode(spec, {Int64s({1}, {-1})}).status()),
            Rejection::kInvalidModel);
  EXPECT_EQ(RejectionOf(RunNode(spec, {Int64s({1, 1}, {1})}).status()),
            Rejection::kInvalidModel);
  EXPECT_EQ(RejectionOf(RunNode(spec, {Int32s({1}, {1})}).status()),
            Rejection::kUnsupportedDatatype);
  spec.attributes["value"] =
      std::make_shared<const TensorData>(Int32s({2}, {1, 2}));
  EXPECT_EQ(RejectionOf(RunNode(spec, {Int64s({1}, {1})}).status()),
            Rejection::kInvalidModel);
}

template <typename T>
std::vector<T> Values(const absl::StatusOr<TensorData>& data) {
  EXPECT_TRUE(data.ok()) << data.status();
  if (!data.ok()) return {};
  return {data->as<T>(), data->as<T>() + data->count()};
}

TEST(RangeTest, UpDownAndEmpty) {
  const NodeSpec spec = Spec("Range");
  const auto range = [&](int64_t start, int64_t limit, int64_t delta) {
    return Values<int64_t>(RunNode(
        spec, {Int64s({}, {start}), Int64s({}, {limit}), Int64s({}, {delta})}));
  };
  EXPECT_EQ(range(3, 9, 3), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(range(3, 10, 3), (std::vector<int64_t>{3, 6, 9}));
  EXPECT_EQ(range(10, 4, -2), (std::vector<int64_t>{10, 8, 6}));
  EXPECT_EQ(range(0, 0, 1), std::vector<int64_t>{});
  EXPECT_EQ(range(0, 5, -1), std::vector<int64_t>{});
  EXPECT_EQ(Values<float>(RunNode(
                spec, {Floats({}, {1}), Floats({}, {2}), Floats({}, {0.25f})})),
            (std::vector<float>{1, 1.25f, 1.5f, 1.75f}));
}

TEST(RangeTest, Rejections) {
  const NodeSpec spec = Spec("Range");
  const auto kind = [&](const TensorData& a, const TensorData& b,
                        const TensorData& c) {
    return RejectionOf(RunNode(spec, {a, b, c}).status());
  };
  EXPECT_EQ(kind(Int64s({}, {0}), Int64s({}, {1}), Int64s({}, {0})),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind(Int64s({2}, {0, 0}), Int64s({}, {1}), Int64s({}, {1})),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind(Int64s({}, {0}), Int32s({}, {1}), Int64s({}, {1})),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind(Floats({}, {0}),
                 Floats({}, {std::numeric_limits<float>::infinity()}),
                 Floats({}, {1})),
            Rejection::kInvalidModel);
}

TEST(SizeTest, CountsElements) {
  EXPECT_EQ(Values<int64_t>(RunNode(Spec("Size"), {Floats({2, 3}, {})})),
            std::vector<int64_t>{6});
  EXPECT_EQ(Values<int64_t>(RunNode(Spec("Size"), {Floats({}, {1})})),
            std::vector<int64_t>{1});
}

}  // namespace
}  // namespace heddle::compiler
