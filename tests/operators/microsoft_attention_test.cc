// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's optimizers make of transformers, against ONNX Runtime:
// embeddings, attentions, and normalisations in ONNX's domain that ONNX lacks.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

constexpr char kMicrosoft[] = "com.microsoft";

TensorData Ids(RandomSource* random, const Shape& shape, int64_t low,
               int64_t high) {
  TensorData data = TensorData::Zeros(DataType::kInt32, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<int32_t>()[i] = static_cast<int32_t>(random->Between(low, high));
  }
  return data;
}

// As many as the node has inputs, or absent.
void Set(RuntimeCase* c, size_t i, TensorData data) {
  if (c->inputs.size() <= i) c->inputs.resize(i + 1);
  c->inputs[i] = std::move(data);
}

void Embed(RandomSource* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), tokens = random->Between(1, 6);
  const int64_t size = random->Between(3, 20);
  const int64_t words = random->Between(2, 9), places = random->Between(6, 9);
  const Shape shape = {batch, tokens};
  c->inputs = {Ids(random, shape, 0, words - 1),
               TensorData(),
               random->Floats({words, size}, 2),
               random->Floats({places, size}, 2),
               TensorData(),
               random->Floats({size}, 2),
               random->Floats({size}, 2)};
  if (random->OneIn(2)) {
    c->inputs[1] = Ids(random, shape, 0, 1);
    c->inputs[4] = random->Floats({2, size}, 2);
  }
  if (random->OneIn(2)) Set(c, 7, Ids(random, shape, -1, 2));
  if (random->OneIn(3)) {
    Set(c, 8,
        Ids(random, {random->OneIn(2) ? 1 : batch, tokens}, 0, places - 1));
  }
  // (Without mask_index_type = 0 the runtime wants result 1.)
  const bool counts = random->OneIn(2);
  c->outputs = static_cast<int>(random->Between(counts ? 1 : 2, 3));
  c->absolute = 1e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetFloat(node, "epsilon", 1e-5f);
    if (counts) compiler::SetInt(node, "mask_index_type", 0);
  };
}

// Of all forms, or absent. `first`: the first key counts. (Where none does, the
// last bits of scores near -10000 depend on the order of the sum, with a bias.)
TensorData Mask(RandomSource* random, int64_t batch, int64_t queries,
                int64_t keys, bool starts, bool first) {
  const int64_t form = random->Below(starts ? 5 : 4);
  if (form == 0) return TensorData();
  if (form == 1) return Ids(random, {batch}, first ? 1 : 0, keys);
  if (form == 4) {
    TensorData limits = Ids(random, {2 * batch}, first ? 1 : 0, keys);
    for (int64_t i = batch; first && i < 2 * batch; ++i) {
      limits.as<int32_t>()[i] = 0;
    }
    return limits;
  }
  TensorData mask =
      Ids(random, form == 2 ? Shape{batch, keys} : Shape{batch, queries, keys},
          -1, 1);
  for (int64_t i = 0; first && i < mask.count(); i += keys) {
    mask.as<int32_t>()[i] = 1;
  }
  return mask;
}

TensorData Bias(RandomSource* random, int64_t batch, int64_t heads,
                int64_t queries, int64_t keys) {
  return random->Floats({random->OneIn(2) ? 1 : batch,
                         random->OneIn(2) ? 1 : heads, queries, keys},
                        2);
}

void Attention(RandomSource* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), tokens = random->Between(1, 6);
  const int64_t heads = random->Between(1, 3), size = random->Between(1, 4);
  const int64_t in = random->Between(1, 9);
  const int64_t past = random->OneIn(3) ? random->Between(1, 4) : 0;
  const bool other = past == 0 && random->OneIn(3);
  const int64_t v_size = other ? random->Between(1, 4) : size;
  const int64_t columns = heads * (2 * size + v_size);
  const int64_t all = past + tokens;
  c->inputs = {random->Floats({batch, tokens, in}, 2),
               random->Floats({in, columns}, 1), random->Floats({columns}, 1)};
  c->constant = {false, random->OneIn(2)};
  // (The runtime does not take both.)
  const bool biased = past == 0 && random->OneIn(3);
  Set(c, 3, Mask(random, batch, tokens, all, true, biased));
  if (past > 0) Set(c, 4, random->Floats({2, batch, heads, past, size}, 2));
  if (biased) Set(c, 5, Bias(random, batch, heads, tokens, all));
  c->outputs = past > 0 || (!other && random->OneIn(3)) ? 2 : 1;
  c->absolute = 1e-4;
  const bool causal = random->OneIn(2), low = random->OneIn(4);
  const float scale = random->OneIn(2) ? 0.5f : 0;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "num_heads", heads);
    compiler::SetInt(node, "unidirectional", causal);
    if (scale != 0) compiler::SetFloat(node, "scale", scale);
    if (low) compiler::SetFloat(node, "mask_filter_value", -7);
    if (other) {
      compiler::SetInts(node, "qkv_hidden_sizes",
                        {heads * size, heads * size, heads * v_size});
    }
  };
}

void MultiHead(RandomSource* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), queries = random->Between(1, 6);
  const int64_t heads = random->Between(1, 3), size = random->Between(1, 4);
  const bool first = random->OneIn(4), causal = random->OneIn(3);
  const int64_t v_size =
      first || random->OneIn(2) ? size : random->Between(1, 4);
  const int64_t keys = causal ? queries : random->Between(1, 6);
  const int64_t past =
      !first && v_size == size && random->OneIn(3) ? random->Between(1, 4) : 0;
  const int64_t all = past + keys;
  c->inputs = {random->Floats({batch, queries, heads * size}, 2),
               random->Floats(first ? Shape{batch, heads, keys, size}
                                    : Shape{batch, keys, heads * size},
                              2),
               random->Floats(first ? Shape{batch, heads, keys, v_size}
                                    : Shape{batch, keys, heads * v_size},
                              2)};
  if (!first && random->OneIn(2)) {
    Set(c, 3, random->Floats({heads * (2 * size + v_size)}, 1));
  }
  const bool biased = random->OneIn(3);
  Set(c, 4, Mask(random, batch, queries, all, false, biased));
  if (biased) Set(c, 5, Bias(random, batch, heads, queries, all));
  if (past > 0) {
    Set(c, 6, random->Floats({batch, heads, past, size}, 2));
    Set(c, 7, random->Floats({batch, heads, past, v_size}, 2));
  }
  c->outputs = past > 0 ? static_cast<int>(random->Between(3, 4)) : 1;
  c->absolute = 1e-4;
  const float scale = random->OneIn(2) ? 0.5f : 0;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "num_heads", heads);
    compiler::SetInt(node, "unidirectional", causal);
    if (scale != 0) compiler::SetFloat(node, "scale", scale);
  };
}

void Normalization(RandomSource* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4, 7);
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Between(-rank, rank - 1);
  const Shape own(shape.end() - (axis < 0 ? -axis : rank - axis), shape.end());
  const bool simplified = c->op == "SimplifiedLayerNormalization";
  c->inputs = {random->Floats(shape, 2), random->Floats(own, 2)};
  if (!simplified && random->OneIn(2)) {
    c->inputs.push_back(random->Floats(own, 2));
  }
  c->outputs = static_cast<int>(random->Between(1, simplified ? 2 : 3));
  c->absolute = 1e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", axis);
    compiler::SetFloat(node, "epsilon", 1e-3f);
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(RandomSource*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  RandomSource random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 1e-5,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(
        Kind{{"EmbedLayerNormalization", kMicrosoft, 17}, Embed},
        Kind{{"Attention", kMicrosoft, 17}, Attention},
        Kind{{"MultiHeadAttention", kMicrosoft, 17}, MultiHead},
        Kind{{"LayerNormalization", "", 11}, Normalization},
        Kind{{"SimplifiedLayerNormalization", "", 11}, Normalization},
        Kind{{"SimplifiedLayerNormalization", "", 21}, Normalization}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
