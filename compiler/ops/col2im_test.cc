// SPDX-License-Identifier: Apache-2.0
// Col2Im against its definition, element by element.
#include <gtest/gtest.h>

#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

NodeSpec Spec(const Ints& strides, const Ints& dilations, const Ints& pads) {
  return {"Col2Im",
          "",
          18,
          {{"strides", strides}, {"dilations", dilations}, {"pads", pads}}};
}

TEST(Col2ImTest, AddsWhatOverlaps) {
  // Blocks of 2 x 2 of an image of 2 x 3.
  const TensorData x = Floats({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto y = RunNode(Spec({1, 1}, {1, 1}, {0, 0, 0, 0}),
                         {x, Int64s({2}, {2, 3}), Int64s({2}, {2, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(
      Difference(*y, Floats({1, 1, 2, 3}, {1, 2 + 3, 4, 5, 6 + 7, 8}), 0, 0),
      "");
}

TEST(Col2ImTest, DilatedRowsOfManyChannels) {
  const int64_t channels = 2, block = 3, columns = 2, image = 4;
  const TensorData x = Floats({1, channels * block, columns},
                              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  TensorData want = TensorData::Zeros(DataType::kFloat, {1, channels, image});
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < block; ++k) {
      for (int64_t l = 0; l < columns; ++l) {
        const int64_t place = l + 2 * k - 1;
        if (place < 0 || place >= image) continue;
        want.as<float>()[c * image + place] +=
            x.as<float>()[(c * block + k) * columns + l];
      }
    }
  }
  const auto y = RunNode(Spec({1}, {2}, {1, 1}),
                         {x, Int64s({1}, {image}), Int64s({1}, {block})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, want, 0, 0), "");
}

TEST(Col2ImTest, WhatDoesNotFitIsRefused) {
  const TensorData x = Floats({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const TensorData image = Int64s({2}, {2, 3}), block = Int64s({2}, {2, 2});
  const auto rejection = [&](const NodeSpec& spec, const TensorData& sizes,
                             const TensorData& blocks) {
    return RejectionOf(RunNode(spec, {x, sizes, blocks}).status());
  };
  const Ints ones = {1, 1}, none = {0, 0, 0, 0};
  for (const NodeSpec& spec :
       {Spec({1}, ones, none), Spec({0, 1}, ones, none),
        Spec(ones, {1, -1}, none), Spec(ones, {1, INT64_MAX}, none),
        Spec(ones, ones, {0, 0}), Spec(ones, ones, {0, 0, -1, 0}),
        Spec(ones, {3, 3}, none)}) {
    EXPECT_EQ(rejection(spec, image, block), Rejection::kInvalidModel);
  }
  const NodeSpec good = Spec(ones, ones, none);
  EXPECT_EQ(rejection(good, Int64s({1}, {6}), block), Rejection::kInvalidModel);
  EXPECT_EQ(rejection(good, Int64s({2}, {0, 3}), block),
            Rejection::kInvalidModel);
  EXPECT_EQ(rejection(good, Int64s({2}, {3, 3}), block),
            Rejection::kMismatchingShape);
  EXPECT_EQ(rejection(good, image, Int64s({2}, {1, 3})),
            Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
