// SPDX-License-Identifier: Apache-2.0
// Attention, rotary embeddings, normalisations of sums and Einsum: results by
// hand. (Random ones against ONNX Runtime: tests/operators.)
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Attributes = std::map<std::string, Attribute>;

void ExpectNear(const absl::StatusOr<TensorData>& y, const Shape& shape,
                const std::vector<double>& expected) {
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ(y->shape, shape);
  ASSERT_EQ(y->count(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(y->as<float>()[i], expected[i], 1e-6) << i;
  }
}

absl::StatusOr<TensorData> Attend(const std::vector<TensorData>& inputs,
                                  Attributes attributes = {}) {
  return RunNode({"Attention", "", 23, std::move(attributes)}, inputs);
}

TEST(AttentionTest, WeighsValues) {
  const TensorData q = Floats({1, 1, 2, 1}, {0, 1});
  const TensorData k = Floats({1, 1, 2, 1}, {0, std::log(3.0f)});
  const TensorData v = Floats({1, 1, 2, 1}, {8, 4});
  // The first query cares for no key, the second three times as much for one.
  ExpectNear(Attend({q, k, v}), {1, 1, 2, 1}, {6, 5});
  // Of the first query the second key comes later.
  ExpectNear(Attend({q, k, v}, {{"is_causal", int64_t{1}}}), {1, 1, 2, 1},
             {8, 5});
  const TensorData mask =
      MakeData<uint8_t>(DataType::kBool, {2, 2}, {0, 1, 1, 0});
  ExpectNear(Attend({q, k, v, mask}), {1, 1, 2, 1}, {4, 8});
  // What the mask is shorter by is left out.
  ExpectNear(
      Attend({q, k, Floats({1, 1, 2, 1}, {8, 4}), Floats({2, 1}, {0, 0})}),
      {1, 1, 2, 1}, {6, 5});
  // softcap comes before the mask, which it does not undo.
  ExpectNear(Attend({q, k, v, mask}, {{"softcap", 1.0f}}), {1, 1, 2, 1},
             {4, 8});
}

TEST(AttentionTest, HeadsShareKeys) {
  // Two heads of q, one of k and v, all in rows.
  const TensorData q = Floats({1, 1, 2}, {0, 1});
  const TensorData k = Floats({1, 2, 1}, {0, std::log(3.0f)});
  const TensorData v = Floats({1, 2, 1}, {8, 4});
  const Attributes heads = {{"q_num_heads", int64_t{2}},
                            {"kv_num_heads", int64_t{1}}};
  ExpectNear(Attend({q, k, v}, heads), {1, 1, 2}, {6, 5});
  // The same keys, one of them from before.
  const TensorData past_k = Floats({1, 1, 1, 1}, {0}),
                   past_v = Floats({1, 1, 1, 1}, {8});
  ExpectNear(Attend({q,
                     Floats({1, 1, 1}, {std::log(3.0f)}),
                     Floats({1, 1, 1}, {4}),
                     {},
                     past_k,
                     past_v},
                    heads),
             {1, 1, 2}, {6, 5});
}

TEST(AttentionTest, RotaryEmbeddings) {
  const TensorData x = Floats({1, 2, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  // Row 0 turns nothing, row 1 a quarter.
  const TensorData cosine = Floats({2, 1}, {1, 0}),
                   sine = Floats({2, 1}, {0, 1});
  const TensorData second = Int64s({1, 1}, {1});
  Attributes attributes = {{"rotary_embedding_dim", int64_t{2}},
                           {"num_heads", int64_t{2}}};
  ExpectNear(RunNode({"RotaryEmbedding", "", 23, attributes},
                     {x, cosine, sine, second}),
             {1, 2, 1, 4}, {-2, 1, 3, 4, -6, 5, 7, 8});
  // Pairs of both halves, or neighbours; tokens from the first on.
  const TensorData rows = Floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const TensorData c2 = Floats({2, 2}, {1, 1, 0, 0}),
                   s2 = Floats({2, 2}, {0, 0, 1, 1});
  const TensorData first = Int64s({1}, {0});
  ExpectNear(RunNode({"RotaryEmbedding", "com.microsoft", 1, {}},
                     {rows, first, c2, s2}),
             {1, 2, 4}, {1, 2, 3, 4, -7, -8, 5, 6});
  ExpectNear(RunNode({"RotaryEmbedding",
                      "com.microsoft",
                      1,
                      {{"interleaved", int64_t{1}}}},
                     {rows, first, c2, s2}),
             {1, 2, 4}, {1, 2, 3, 4, -6, 5, -8, 7});
}

TEST(AttentionTest, NormalisationsOfSums) {
  const TensorData x = Floats({1, 2}, {1, 0}), skip = Floats({1, 2}, {2, -1});
  const TensorData gamma = Floats({2}, {1, 2}), beta = Floats({2}, {0, 1});
  // The sum is 3, -1: 1 and -1 of mean 1 and deviation 2.
  const Attributes epsilon = {{"epsilon", 0.0f}};
  ExpectNear(RunNode({"SkipLayerNormalization", "com.microsoft", 1, epsilon},
                     {x, skip, gamma, beta}),
             {1, 2}, {1, -1});
  ExpectNear(
      RunNode({"SkipSimplifiedLayerNormalization", "com.microsoft", 1, epsilon},
              {x, skip, gamma}),
      {1, 2}, {3 / std::sqrt(5.0), -2 / std::sqrt(5.0)});
}

absl::StatusOr<TensorData> Sum(const std::string& equation,
                               const std::vector<TensorData>& inputs) {
  return RunNode({"Einsum", "", 12, {{"equation", equation}}}, inputs);
}

TEST(EinsumTest, ByHand) {
  const TensorData a = Floats({2, 2}, {1, 2, 3, 4});
  const TensorData b = Floats({2, 2}, {5, 6, 7, 8});
  ExpectNear(Sum("ij,jk", {a, b}), {2, 2}, {19, 22, 43, 50});
  ExpectNear(Sum("ij,jk->ki", {a, b}), {2, 2}, {19, 43, 22, 50});
  ExpectNear(Sum("ii->i", {a}), {2}, {1, 4});
  ExpectNear(Sum("ii", {a}), {}, {5});
  ExpectNear(Sum("ij->", {a}), {}, {10});
  ExpectNear(Sum("ij,ij->ij", {a, b}), {2, 2}, {5, 12, 21, 32});
  ExpectNear(Sum("i,j->ji", {Floats({2}, {1, 2}), Floats({2}, {3, 4})}), {2, 2},
             {3, 6, 4, 8});
  ExpectNear(Sum("...i,i->...", {a, Floats({2}, {1, 10})}), {2}, {21, 43});
  // A dimension of 1 is as large as the label.
  ExpectNear(Sum("ij,ij->i", {a, Floats({2, 1}, {1, 10})}), {2}, {3, 70});
  EXPECT_EQ(RejectionOf(Sum("ij,k->ik", {a, b}).status()),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
