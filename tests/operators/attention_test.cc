// SPDX-License-Identifier: Apache-2.0
// Attention, rotary embeddings, normalisations of sums and Einsum against ONNX
// Runtime, of random shapes and attributes.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  TensorData Data(const Shape& shape, float range = 2) {
    return Floats(shape, range);
  }
};

TensorData Positions(Random* random, const Shape& shape, int64_t below) {
  TensorData ids = TensorData::Zeros(DataType::kInt64, shape);
  for (int64_t i = 0; i < ids.count(); ++i) {
    ids.as<int64_t>()[i] = random->Below(below);
  }
  return ids;
}

void Attention(Random* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 2), kv = random->Between(1, 3);
  const int64_t heads = kv * random->Between(1, 2);
  const int64_t queries = random->Between(1, 5);
  const int64_t size = random->Between(1, 6), v_size = random->Between(1, 6);
  const bool flat = random->OneIn(2), causal = random->OneIn(3);
  const int64_t past = random->OneIn(3) ? random->Between(1, 4) : 0;
  // (The runtime gives the only query of a step that has a past all keys.)
  const int64_t keys = causal && past > 0 ? queries : random->Between(1, 6);
  const int64_t all = past + keys;
  if (flat) {
    c->inputs = {random->Data({batch, queries, heads * size}),
                 random->Data({batch, keys, kv * size}),
                 random->Data({batch, keys, kv * v_size})};
  } else {
    c->inputs = {random->Data({batch, heads, queries, size}),
                 random->Data({batch, kv, keys, size}),
                 random->Data({batch, kv, keys, v_size})};
  }
  const int64_t masks = random->Below(4);
  if (masks == 1) {
    c->inputs.push_back(random->Data({queries, all}));
  } else if (masks == 2) {
    c->inputs.push_back(random->Data({batch, heads, queries, all}));
  } else if (masks == 3) {
    TensorData mask = TensorData::Zeros(DataType::kBool, {queries, all});
    for (int64_t i = 0; i < mask.count(); ++i) {
      // Each row has some; the first of all, if rows are cut.
      mask.bytes[i] = i % all == 0 || random->OneIn(2);
    }
    c->inputs.push_back(mask);
  } else {
    c->inputs.push_back(TensorData());
  }
  if (past > 0) {
    c->inputs.push_back(random->Data({batch, kv, past, size}));
    c->inputs.push_back(random->Data({batch, kv, past, v_size}));
  }
  c->outputs = past > 0 ? 3 : 1;
  // (What is masked is the least float there, here -inf.)
  const bool masked = causal || masks == 3;
  const int64_t mode = masked ? random->Below(2) : random->Below(4);
  if (past > 0 && random->OneIn(2)) c->outputs = 4;
  const float scale = random->OneIn(2) ? 0.5f : 0,
              cap = random->OneIn(3) ? 2 : 0;
  c->attributes = [=](onnx::NodeProto* node) {
    if (flat) {
      compiler::SetInt(node, "q_num_heads", heads);
      compiler::SetInt(node, "kv_num_heads", kv);
    }
    if (causal) compiler::SetInt(node, "is_causal", 1);
    if (scale != 0) compiler::SetFloat(node, "scale", scale);
    if (cap != 0) compiler::SetFloat(node, "softcap", cap);
    compiler::SetInt(node, "qk_matmul_output_mode", mode);
  };
}

void Rotary(Random* random, RuntimeCase* c) {
  const bool microsoft = !c->domain.empty();
  const int64_t batch = random->Between(1, 2), heads = random->Between(1, 3);
  const int64_t tokens = random->Between(1, 5), half = random->Between(1, 4);
  const int64_t rest = random->OneIn(2) ? 2 * random->Between(1, 2) : 0;
  const int64_t size = 2 * half + rest, rows = tokens + random->Below(4);
  const bool flat = random->OneIn(2), whole = rest == 0;
  const TensorData x = flat ? random->Data({batch, tokens, heads * size})
                            : random->Data({batch, heads, tokens, size});
  const bool ids = microsoft || random->OneIn(2);
  const Shape cache = ids ? Shape{rows, half} : Shape{batch, tokens, half};
  const TensorData cosine = random->Data(cache, 1),
                   sine = random->Data(cache, 1);
  TensorData places = Positions(random, {batch, tokens}, rows);
  if (microsoft && random->OneIn(2)) {
    places = Int64s({1}, {random->Below(rows - tokens + 1)});
    c->constant = {false, true, false, false};
  }
  if (microsoft) {
    c->inputs = {x, places, cosine, sine};
  } else {
    c->inputs = {x, cosine, sine};
    if (ids) c->inputs.push_back(places);
  }
  const int64_t interleaved = random->Below(2);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "interleaved", interleaved);
    if (flat || !whole) compiler::SetInt(node, "num_heads", heads);
    if (!whole) compiler::SetInt(node, "rotary_embedding_dim", 2 * half);
  };
}

void Skip(Random* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), tokens = random->Between(1, 4);
  const int64_t hidden = random->Between(3, 20);
  const Shape shape = {batch, tokens, hidden};
  const bool simplified = c->op != "SkipLayerNormalization";
  c->inputs = {random->Data(shape),
               random->Data(random->OneIn(3)   ? Shape{tokens, hidden}
                            : random->OneIn(2) ? Shape{1, tokens, hidden}
                                               : shape),
               random->Data({hidden})};
  const int optional = simplified ? 1 : 2;
  for (int i = 0; i < optional; ++i) {
    c->inputs.push_back(random->OneIn(2) ? random->Data({hidden})
                                         : TensorData());
  }
  c->absolute = 1e-4;
  c->attributes = [](onnx::NodeProto* node) {
    compiler::SetFloat(node, "epsilon", 1e-5f);
  };
}

void Einsum(Random* random, RuntimeCase* c) {
  static const char* const kEquations[] = {"ij,jk->ik",
                                           "ij,jk",
                                           "bij,bjk->bik",
                                           "bhid,bhjd->bhij",
                                           "i,j->ij",
                                           "ij->ji",
                                           "ij->",
                                           "ii->i",
                                           "ii",
                                           "iij->ij",
                                           "...ij,...jk->...ik",
                                           "...ij->...ji",
                                           "bi,bi->b",
                                           "ij,ij->ij",
                                           "abc,cd,de->abe",
                                           "bij,kj->bik",
                                           "i,i->",
                                           "ab,cd->dbca",
                                           "abc,bd->acd",
                                           "bqhd,bkhd->bhqk",
                                           "...a,ab->...b",
                                           "a...,a...->...",
                                           "ijk->kj",
                                           " i j , j k -> k",
                                           "abc,abd,ab->cd",
                                           "aab,bc->ac"};
  const std::string equation = kEquations[random->Below(26)];
  std::map<char, int64_t> sizes;
  Shape dots;
  for (int64_t i = random->Below(3); i > 0; --i) {
    dots.push_back(random->Between(1, 4));
  }
  Shape shape;
  const std::string terms = equation.substr(0, equation.find("->")) + ",";
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i] == ' ') continue;
    if (terms[i] == ',') {
      c->inputs.push_back(random->Data(shape));
      shape.clear();
    } else if (terms[i] == '.') {
      shape.insert(shape.end(), dots.begin(), dots.end());
      i += 2;
    } else {
      auto& size = sizes[terms[i]];
      if (size == 0) size = random->Between(1, 6);
      shape.push_back(size);
    }
  }
  c->absolute = 3e-5;
  if (random->OneIn(4)) MakeDouble(c);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetString(node, "equation", equation);
  };
}

TensorData Bytes(Random* random, const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kUint8, shape);
  for (uint8_t& byte : data.bytes) byte = static_cast<uint8_t>(random->Next());
  return data;
}

void MatMulNBits(Random* random, RuntimeCase* c) {
  const int64_t rows = random->Between(1, 9), columns = random->Between(1, 80);
  const int64_t bits = random->OneIn(3) ? 8 : 4;
  const int64_t block = random->OneIn(2) ? 16 : 32;
  const int64_t blocks = (columns + block - 1) / block;
  Shape a = random->AnyShape(1, 2, 3);
  a.push_back(columns);
  TensorData scales = random->Data({rows * blocks});
  for (int64_t i = 0; i < scales.count(); ++i) {
    scales.as<float>()[i] /= static_cast<float>(int64_t{1} << bits);
  }
  c->inputs = {random->Data(a), Bytes(random, {rows, blocks, block * bits / 8}),
               scales};
  c->constant = {false, true, true};
  if (random->OneIn(2)) {
    c->inputs.push_back(Bytes(random, {rows * ((blocks * bits + 7) / 8)}));
    c->constant.push_back(true);
  }
  c->absolute = 3e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "K", columns);
    compiler::SetInt(node, "N", rows);
    compiler::SetInt(node, "bits", bits);
    compiler::SetInt(node, "block_size", block);
  };
}

// (Weights of few bits: the library's sums of int8 saturate on old processors.)
void QAttention(Random* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), tokens = random->Between(1, 6);
  const int64_t heads = random->Between(1, 3);
  const int64_t size = heads * random->Between(1, 4);
  const Shape x = {batch, tokens, random->Between(1, 9)};
  const auto codes = [&](const Shape& shape, DataType type) {
    TensorData data = Bytes(random, shape);
    for (uint8_t& byte : data.bytes) byte &= 63;
    data.type = type;
    return data;
  };
  const auto scale = [&](const Shape& shape) {
    TensorData data = TensorData::Zeros(DataType::kFloat, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = static_cast<float>(random->Between(1, 9)) / 256;
    }
    return data;
  };
  const DataType type = random->OneIn(2) ? DataType::kUint8 : DataType::kInt8;
  const bool each = random->OneIn(2);
  c->inputs = {codes(x, DataType::kUint8), codes({x[2], 3 * size}, type),
               random->Data({3 * size}), scale({}),
               scale(each ? Shape{3 * size} : Shape{})};
  const int64_t past = random->OneIn(2) ? random->Between(1, 4) : 0;
  const int64_t keys = past + tokens;
  if (random->OneIn(2)) {
    TensorData mask = TensorData::Zeros(
        DataType::kInt32, random->OneIn(2) ? Shape{batch} : Shape{batch, keys});
    for (int64_t i = 0; i < mask.count(); ++i) {
      mask.as<int32_t>()[i] = static_cast<int32_t>(
          mask.shape.size() == 1 ? random->Between(1, keys) : random->Below(2));
    }
    c->inputs.push_back(mask);
  } else {
    c->inputs.push_back(TensorData());
  }
  if (random->OneIn(2)) {
    c->inputs.push_back(codes({}, DataType::kUint8));
    c->inputs.push_back(codes({}, type));
  }
  if (past > 0) {
    c->inputs.resize(8);
    c->inputs.push_back(random->Data({2, batch, heads, past, size / heads}));
  }
  c->outputs = past > 0 ? 2 : 1;
  const int64_t causal = random->Below(2);
  c->absolute = 1e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "num_heads", heads);
    compiler::SetInt(node, "unidirectional", causal);
  };
}

void GroupQuery(Random* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), kv = random->Between(1, 2);
  const int64_t heads = kv * random->Between(1, 3);
  const int64_t size = 16 * random->Between(1, 2);
  const int64_t past = random->OneIn(3) ? 0 : random->Between(1, 6);
  // (The library takes more than one token only where nothing is past.)
  const int64_t tokens = past == 0 ? random->Between(1, 6) : 1;
  const int64_t total = past + tokens;
  const bool packed = random->OneIn(3), rotary = random->OneIn(2);
  const int64_t interleaved = random->Below(2);
  c->inputs.clear();
  if (packed) {
    c->inputs = {random->Data({batch, tokens, (heads + 2 * kv) * size}),
                 TensorData(), TensorData()};
  } else {
    c->inputs = {random->Data({batch, tokens, heads * size}),
                 random->Data({batch, tokens, kv * size}),
                 random->Data({batch, tokens, kv * size})};
  }
  for (int i = 0; i < 2; ++i) {
    c->inputs.push_back(past == 0 ? TensorData()
                                  : random->Data({batch, kv, past, size}));
  }
  // Of which all have as many, or one has.
  TensorData lengths = TensorData::Zeros(DataType::kInt32, {batch});
  const bool same = past == 0 || random->OneIn(2);
  for (int64_t b = 0; b < batch; ++b) {
    lengths.as<int32_t>()[b] = static_cast<int32_t>(
        same || b == 0 ? total - 1 : random->Between(0, total - 1));
  }
  c->inputs.push_back(lengths);
  c->inputs.push_back(compiler::Int32s({1}, {static_cast<int32_t>(total)}));
  c->constant = {false, false, false, false, false, false, random->OneIn(2)};
  if (rotary) {
    for (int i = 0; i < 2; ++i) {
      c->inputs.push_back(random->Data({total + 2, size / 2}, 1));
    }
  }
  // What is behind the end of a shorter one is anything.
  c->outputs = 3;
  c->compared = same ? 3 : 1;
  c->absolute = 1e-4;
  const int64_t window =
      random->OneIn(3) ? random->Between(1, total) : int64_t{-1};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "num_heads", heads);
    compiler::SetInt(node, "kv_num_heads", kv);
    compiler::SetInt(node, "do_rotary", rotary);
    compiler::SetInt(node, "rotary_interleaved", interleaved);
    compiler::SetInt(node, "local_window_size", window);
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(Random*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  Random random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 1e-5,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

constexpr char kMicrosoft[] = "com.microsoft";

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(Kind{{"Attention", "", 23}, Attention},
                    Kind{{"RotaryEmbedding", "", 23}, Rotary},
                    Kind{{"RotaryEmbedding", kMicrosoft, 17}, Rotary},
                    Kind{{"SkipLayerNormalization", kMicrosoft, 17}, Skip},
                    Kind{{"SkipSimplifiedLayerNormalization", kMicrosoft, 17},
                         Skip},
                    Kind{{"MatMulNBits", kMicrosoft, 17}, MatMulNBits},
                    Kind{{"QAttention", kMicrosoft, 17}, QAttention},
                    Kind{{"GroupQueryAttention", kMicrosoft, 17}, GroupQuery},
                    Kind{{"Einsum", "", 12}, Einsum},
                    Kind{{"Einsum", "", 21}, Einsum}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
