// SPDX-License-Identifier: Apache-2.0
// Packed operands of MultiHeadAttention, which ONNX Runtime does not compute on
// the CPU, against separate ones; what the attentions and embeddings of
// com.microsoft refuse. tests/operators has what they compute.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

TensorData Real(const Shape& shape, uint32_t seed) {
  TensorData data = TensorData::Zeros(kFloat, shape);
  std::minstd_rand random(seed);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random() % 4001) / 1000 - 2;
  }
  return data;
}

absl::StatusOr<TensorData> MultiHead(
    const std::vector<TensorData>& inputs,
    const std::map<std::string, Attribute>& attributes = {}) {
  NodeSpec spec = {
      "MultiHeadAttention", "com.microsoft", 1, {{"num_heads", int64_t{2}}}};
  for (const auto& [name, value] : attributes) spec.attributes[name] = value;
  return RunNode(spec, inputs);
}

// Of [batch, tokens, heads, n, size], where n is that of `parts` of [batch,
// tokens, heads * size].
TensorData Pack(const std::vector<TensorData>& parts, int64_t size) {
  const Shape& s = parts[0].shape;
  const auto n = static_cast<int64_t>(parts.size());
  TensorData all =
      TensorData::Zeros(kFloat, {s[0], s[1], s[2] / size, n, size});
  for (int64_t i = 0; i < parts[0].count(); ++i) {
    for (int64_t p = 0; p < n; ++p) {
      all.as<float>()[(i / size * n + p) * size + i % size] =
          parts[p].as<float>()[i];
    }
  }
  return all;
}

void ExpectSame(const absl::StatusOr<TensorData>& y,
                const absl::StatusOr<TensorData>& expected) {
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(y->shape, expected->shape);
  for (int64_t i = 0; i < y->count(); ++i) {
    EXPECT_EQ(y->as<float>()[i], expected->as<float>()[i]) << i;
  }
}

TEST(MultiHeadAttentionTest, PackedOperandsAreTheSeparateOnes) {
  const TensorData none, q = Real({2, 3, 8}, 1), k = Real({2, 3, 8}, 2),
                         v = Real({2, 3, 8}, 3), bias = Real({24}, 4),
                         longer = Real({2, 5, 8}, 5), more = Real({2, 5, 8}, 6);
  ExpectSame(MultiHead({Pack({q, k, v}, 4)}), MultiHead({q, k, v}));
  ExpectSame(MultiHead({Pack({q, k, v}, 4), none, none, bias}),
             MultiHead({q, k, v, bias}));
  ExpectSame(MultiHead({q, Pack({longer, more}, 4)}),
             MultiHead({q, longer, more}));
}

TEST(MultiHeadAttentionTest, WhatDoesNotFitIsRefused) {
  const TensorData none, q = Real({2, 3, 8}, 1), k = Real({2, 4, 8}, 2);
  const auto kind =
      [](const std::vector<TensorData>& inputs,
         const std::map<std::string, Attribute>& attributes = {}) {
        return RejectionOf(MultiHead(inputs, attributes).status());
      };
  ASSERT_EQ(kind({q, k, k}), Rejection::kNone);
  for (int64_t heads : {0, 3, -1}) {
    EXPECT_EQ(kind({q, k, k}, {{"num_heads", heads}}),
              Rejection::kMismatchingShape);
  }
  EXPECT_EQ(kind({q}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, k}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, k, q}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, Real({8}, 1), k}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, Real({2, 4, 2, 2, 4}, 1), k}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({Real({2, 3, 2, 3, 4}, 1), k, k}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, k, k, Real({23}, 1)}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, Real({2, 4, 2, 2, 4}, 1), none, Real({24}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, k, k, none, Int32s({4}, {1, 1, 1, 1})}),
            Rejection::kUnsupportedShape);
  EXPECT_EQ(kind({q, k, k, none, Int32s({8}, {1, 1, 1, 1, 1, 1, 1, 1})}),
            Rejection::kUnsupportedShape);
  EXPECT_EQ(kind({q, k, k, none, none, Real({2, 3, 3, 4}, 1)}),
            Rejection::kMismatchingShape);
  const TensorData past = Real({2, 2, 1, 4}, 1);
  EXPECT_EQ(kind({q, k, k, none, none, none, past}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({q, k, k, none, none, none, past, Real({2, 2, 1, 3}, 1)}),
            Rejection::kMismatchingShape);
  const TensorData turned = Real({2, 2, 4, 4}, 1);
  ASSERT_EQ(kind({q, turned, turned}), Rejection::kNone);
  EXPECT_EQ(kind({q, turned, turned, none, none, none, past, past}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({q, k, k, none, none, none, none, none, Int32s({1}, {1})}),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(kind({q, k, k}, {{"unidirectional", int64_t{1}}}),
            Rejection::kUnsupportedAttribute);
}

TEST(MicrosoftAttentionTest, WhatDoesNotFitIsRefused) {
  const TensorData none, x = Real({2, 3, 5}, 1), w = Real({5, 12}, 2),
                         bias = Real({12}, 3);
  const auto kind =
      [](const std::vector<TensorData>& inputs,
         const std::map<std::string, Attribute>& attributes = {}) {
        NodeSpec spec = {
            "Attention", "com.microsoft", 1, {{"num_heads", int64_t{2}}}};
        for (const auto& [name, value] : attributes)
          spec.attributes[name] = value;
        return RejectionOf(RunNode(spec, inputs).status());
      };
  ASSERT_EQ(kind({x, w, bias}), Rejection::kNone);
  ASSERT_EQ(kind({x, w}), Rejection::kNone);
  for (int64_t heads : {0, 3, -1}) {
    EXPECT_EQ(kind({x, w, bias}, {{"num_heads", heads}}),
              Rejection::kMismatchingShape);
  }
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{4, 4},
                                         {4, 4, 5},
                                         {2, 4, 6},
                                         {INT64_MAX, INT64_MAX, 2},
                                         {6, 6, 0}}) {
    EXPECT_EQ(kind({x, w, bias}, {{"qkv_hidden_sizes", sizes}}),
              Rejection::kMismatchingShape);
  }
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    EXPECT_EQ(kind({x, w, bias}, {{name, int64_t{1}}}),
              Rejection::kUnsupportedAttribute);
  }
  EXPECT_EQ(kind({Real({3, 5}, 1), w, bias}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, Real({4, 12}, 1), bias}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, w, Real({11}, 1)}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, w, bias, Int32s({3}, {1, 1, 1})}),
            Rejection::kUnsupportedShape);
  EXPECT_EQ(
      kind({x, w, bias, TensorData::Zeros(DataType::kInt32, {2, 1, 4, 4})}),
      Rejection::kUnsupportedShape);
  EXPECT_EQ(kind({x, w, bias, none, Real({2, 2, 2, 1, 3}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, w, bias, none, Real({2, 2, 2, 1, 1}, 1)},
                 {{"qkv_hidden_sizes", std::vector<int64_t>{2, 2, 8}}}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, w, bias, none, none, Real({2, 2, 3, 4}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({x, w, bias, none, none, none, Int32s({1}, {1})}),
            Rejection::kUnsupportedAttribute);
}

TEST(EmbedLayerNormalizationTest, WhatDoesNotFitIsRefused) {
  const TensorData none, ids = Int32s({1, 3}, {0, 1, 1}),
                         words = Real({2, 5}, 1), places = Real({3, 5}, 2),
                         g = Real({5}, 3);
  const auto kind = [](const std::vector<TensorData>& inputs) {
    return RejectionOf(
        RunNode({"EmbedLayerNormalization", "com.microsoft", 1, {}}, inputs)
            .status());
  };
  ASSERT_EQ(kind({ids, none, words, places, none, g, g}), Rejection::kNone);
  EXPECT_EQ(kind({ids, ids, words, places, none, g, g}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({ids, none, words, places, words, g, g}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({ids, none, words, words, none, g, g}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({Int32s({3}, {0, 1, 1}), none, words, places, none, g, g}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({ids, none, words, Real({3, 4}, 1), none, g, g}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({ids, none, words, places, none, g, Real({4}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(
      kind({ids, none, words, places, none, g, g, Int32s({1, 2}, {1, 1})}),
      Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
