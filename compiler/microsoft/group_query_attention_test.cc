// SPDX-License-Identifier: Apache-2.0
// What GroupQueryAttention refuses, and a step of one that keeps its keys;
// tests/operators has random ones.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

// Two heads of four, one of keys, three past tokens and a new one.
std::vector<TensorData> Inputs() {
  return {TensorData::Zeros(kFloat, {2, 1, 8}),
          TensorData::Zeros(kFloat, {2, 1, 4}),
          TensorData::Zeros(kFloat, {2, 1, 4}),
          TensorData::Zeros(kFloat, {2, 1, 3, 4}),
          TensorData::Zeros(kFloat, {2, 1, 3, 4}),
          Int32s({2}, {3, 1}),
          Int32s({1}, {4})};
}

absl::StatusOr<TensorData> Attend(
    const std::map<std::string, Attribute>& attributes,
    const std::vector<TensorData>& inputs) {
  NodeSpec spec = {"GroupQueryAttention",
                   "com.microsoft",
                   1,
                   {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}}};
  for (const auto& [name, value] : attributes) spec.attributes[name] = value;
  return RunNode(spec, inputs);
}

Rejection WithInput(size_t i, TensorData data) {
  auto inputs = Inputs();
  if (inputs.size() <= i) inputs.resize(i + 1);
  inputs[i] = std::move(data);
  return RejectionOf(Attend({}, inputs).status());
}

// All scores are 0: the mean of the values that count.
TEST(GroupQueryAttentionTest, SeesAsManyAsThereAre) {
  auto inputs = Inputs();
  for (int64_t i = 0; i < 24; ++i) {
    inputs[4].as<float>()[i] = static_cast<float>(i / 4 % 3 + 1);
  }
  for (int64_t i = 0; i < 8; ++i) inputs[2].as<float>()[i] = 6;
  auto y = Attend({}, inputs);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_FLOAT_EQ(y->as<float>()[0], (1 + 2 + 3 + 6) / 4.0f);
  EXPECT_FLOAT_EQ(y->as<float>()[8], (1 + 6) / 2.0f);
  y = Attend({{"local_window_size", int64_t{2}}}, inputs);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_FLOAT_EQ(y->as<float>()[0], (3 + 6) / 2.0f);
  EXPECT_FLOAT_EQ(y->as<float>()[8], (1 + 6) / 2.0f);
}

TEST(GroupQueryAttentionTest, WhatDoesNotFitIsRefused) {
  ASSERT_TRUE(Attend({}, Inputs()).ok()) << Attend({}, Inputs()).status();
  const auto with = [](const char* name, int64_t value) {
    return RejectionOf(Attend({{name, value}}, Inputs()).status());
  };
  EXPECT_EQ(with("num_heads", 0), Rejection::kMismatchingShape);
  EXPECT_EQ(with("num_heads", 3), Rejection::kMismatchingShape);
  EXPECT_EQ(with("num_heads", INT64_MAX), Rejection::kMismatchingShape);
  EXPECT_EQ(with("kv_num_heads", 0), Rejection::kMismatchingShape);
  EXPECT_EQ(with("kv_num_heads", 2), Rejection::kMismatchingShape);
  EXPECT_EQ(with("smooth_softmax", 1), Rejection::kUnsupportedAttribute);
  EXPECT_EQ(with("qk_output", 1), Rejection::kUnsupportedAttribute);
  EXPECT_EQ(with("do_rotary", 1), Rejection::kInvalidModel);
  EXPECT_EQ(WithInput(0, TensorData::Zeros(kFloat, {1, 8})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(0, TensorData::Zeros(kFloat, {2, 0, 8})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(1, TensorData::Zeros(kFloat, {2, 1, 5})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(1, TensorData()), Rejection::kInvalidModel);
  EXPECT_EQ(WithInput(3, TensorData()), Rejection::kInvalidModel);
  EXPECT_EQ(WithInput(3, TensorData::Zeros(kFloat, {2, 1, 2, 4})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(4, TensorData::Zeros(kFloat, {2, 2, 3, 4})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(5, Int32s({1}, {3})), Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(6, Int32s({2}, {4, 4})), Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(6, Int32s({1}, {INT32_MAX})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(7, TensorData::Zeros(kFloat, {2})),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
