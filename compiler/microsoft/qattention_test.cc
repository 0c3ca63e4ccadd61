// SPDX-License-Identifier: Apache-2.0
// What QAttention refuses; tests/operators has what it computes.
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

std::vector<TensorData> Inputs() {
  return {TensorData::Zeros(DataType::kUint8, {2, 3, 5}),
          TensorData::Zeros(DataType::kInt8, {5, 12}),
          TensorData::Zeros(DataType::kFloat, {12}), Floats({}, {0.5f}),
          Floats({}, {0.25f})};
}

Rejection KindOf(const std::map<std::string, Attribute>& attributes,
                 const std::vector<TensorData>& inputs) {
  NodeSpec spec = {
      "QAttention", "com.microsoft", 1, {{"num_heads", int64_t{2}}}};
  for (const auto& [name, value] : attributes) spec.attributes[name] = value;
  return RejectionOf(RunNode(spec, inputs).status());
}

Rejection WithInput(size_t i, TensorData data) {
  auto inputs = Inputs();
  if (inputs.size() <= i) inputs.resize(i + 1);
  inputs[i] = std::move(data);
  return KindOf({}, inputs);
}

TEST(QAttentionTest, WhatDoesNotFitIsRefused) {
  ASSERT_EQ(KindOf({}, Inputs()), Rejection::kNone);
  for (int64_t heads : {0, 3, -1}) {
    EXPECT_EQ(KindOf({{"num_heads", heads}}, Inputs()),
              Rejection::kMismatchingShape);
  }
  EXPECT_EQ(KindOf({{"do_rotary", int64_t{1}}}, Inputs()),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(WithInput(0, TensorData::Zeros(DataType::kUint8, {3, 5})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(1, TensorData::Zeros(DataType::kInt8, {4, 12})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(1, TensorData::Zeros(DataType::kInt8, {5, 13})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(2, Floats({1}, {1})), Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(3, Floats({2}, {1, 1})), Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(4, Floats({2}, {1, 1})), Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(5, Int32s({4}, {1, 1, 0, 0})),
            Rejection::kUnsupportedShape);
  EXPECT_EQ(WithInput(6, TensorData::Zeros(DataType::kUint8, {2})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(7, TensorData::Zeros(DataType::kInt8, {2})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(WithInput(8, TensorData::Zeros(DataType::kFloat, {2, 2, 2, 1, 2})),
            Rejection::kNone);
  for (const Shape& past : {Shape{2, 2, 2, 1, 3}, Shape{1, 2, 2, 1, 2},
                            Shape{2, 3, 2, 1, 2}, Shape{2, 2, 2, 2}}) {
    EXPECT_EQ(WithInput(8, TensorData::Zeros(DataType::kFloat, past)),
              Rejection::kMismatchingShape);
  }
  EXPECT_EQ(KindOf({{"past_present_share_buffer", int64_t{1}}}, Inputs()),
            Rejection::kUnsupportedAttribute);
}

}  // namespace
}  // namespace heddle::compiler
