// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: recurrent operators, attention and what goes with it.
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

constexpr int64_t kMostSteps = 5, kMostHidden = 20;

bool AddRecurrent(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || s.size() != 3) return false;
  std::map<std::string, Attribute> attributes;
  const std::string op = b->PickOp({"LSTM", "GRU", "RNN"});
  const bool turned = b->opset() >= 14 && b->OneIn(2);
  if (turned) attributes["layout"] = int64_t{1};
  const int64_t steps = s[turned ? 1 : 0], batch = s[turned ? 0 : 1];
  const int64_t hidden = b->Between(1, kMostHidden);
  if (steps > kMostSteps || batch > kMostHidden) return false;
  attributes["hidden_size"] = hidden;
  const std::string direction =
      b->Pick({"forward", "reverse", "bidirectional"});
  attributes["direction"] = direction;
  const int64_t n = direction == "bidirectional" ? 2 : 1;
  const int64_t rows = hidden * (op == "LSTM" ? 4 : op == "GRU" ? 3 : 1);
  // (Small, or gates saturate.)
  const auto constant = [&](const Shape& shape) {
    return b->Constant(b->Values(type, shape, 0.1f, false));
  };
  const auto maybe = [&](const Shape& shape) {
    return b->OneIn(2) ? constant(shape) : kNoTensor;
  };
  std::vector<TensorId> in = {x, constant({n, rows, s[2]}),
                              constant({n, rows, hidden}),
                              maybe({n, 2 * rows})};
  TensorId lengths = kNoTensor;
  if (b->OneIn(2)) {
    std::vector<int32_t> values(static_cast<size_t>(batch));
    for (int32_t& v : values) v = static_cast<int32_t>(b->Between(1, steps));
    lengths = b->Constant(Int32s({batch}, values));
  }
  in.push_back(lengths);
  const Shape state =
      turned ? Shape{batch, n, hidden} : Shape{n, batch, hidden};
  in.push_back(maybe(state));
  if (op == "LSTM") {
    in.push_back(maybe(state));
    in.push_back(maybe({n, 3 * hidden}));
    if (b->OneIn(4)) attributes["input_forget"] = int64_t{1};
  }
  if (op == "GRU" && b->OneIn(2)) {
    attributes["linear_before_reset"] = int64_t{1};
  }
  if (b->OneIn(4)) attributes["clip"] = 1.5f;
  if (op == "RNN" && b->OneIn(2)) {
    attributes["activations"] = std::vector<std::string>(
        static_cast<size_t>(n),
        b->Pick({"Relu", "HardSigmoid", "Softsign", "Elu", "LeakyRelu"}));
  }
  return b->Append("", op, in, attributes, op == "LSTM" ? 3 : 2);
}

bool AddAttention(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || (s.size() != 3 && s.size() != 4)) return false;
  std::map<std::string, Attribute> attributes;
  Shape kv = s;
  const int64_t keys = b->Between(1, 9);
  int64_t heads = 1, queries = s[1];
  if (s.size() == 3) {
    heads = s[2] % 2 == 0 ? 2 : 1;
    attributes["q_num_heads"] = heads;
    attributes["kv_num_heads"] = heads;
    kv[1] = keys;
  } else {
    heads = s[1];
    queries = s[2];
    kv[2] = keys;
    if (b->OneIn(2)) kv[1] = 1;
  }
  if (queries * keys * heads * s[0] > 4000) return false;
  const auto constant = [&](const Shape& shape) {
    return b->Constant(b->Values(type, shape, 1, false));
  };
  std::vector<TensorId> in = {x, constant(kv), constant(kv)};
  if (b->OneIn(3)) in.push_back(constant({queries, keys}));
  if (b->OneIn(3)) attributes["is_causal"] = int64_t{1};
  if (b->OneIn(3)) attributes["softcap"] = 2.0f;
  return b->Append("", "Attention", in, attributes);
}

bool AddRotary(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || s.size() != 4 || s[3] < 2) return false;
  std::map<std::string, Attribute> attributes;
  const int64_t half = b->Between(1, s[3] / 2);
  if (2 * half != s[3]) {
    attributes["rotary_embedding_dim"] = 2 * half;
    attributes["num_heads"] = s[1];
  }
  if (b->OneIn(2)) attributes["interleaved"] = int64_t{1};
  const auto constant = [&](const Shape& shape) {
    return b->Constant(b->Values(type, shape, 1, false));
  };
  if (b->opset() >= 23 && b->OneIn(2)) {
    const Shape cache = {s[0], s[2], half};
    return b->Append("", "RotaryEmbedding",
                     {x, constant(cache), constant(cache)}, attributes);
  }
  const int64_t rows = s[2] + b->Between(0, 3);
  const TensorId first = b->Constant(Int64s({1}, {b->Between(0, rows - s[2])}));
  return b->Append("com.microsoft", "RotaryEmbedding",
                   {x, first, constant({rows, half}), constant({rows, half})},
                   attributes);
}

bool AddSkip(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || (s.size() != 2 && s.size() != 3)) return false;
  const auto constant = [&](const Shape& shape) {
    return b->Constant(b->Values(type, shape, 1, false));
  };
  const std::string op =
      b->PickOp({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"});
  const TensorId skip = b->OneIn(2) ? x : constant(s);
  return b->Append("com.microsoft", op, {x, skip, constant({s.back()})},
                   {{"epsilon", 1e-3f}});
}

bool AddEinsum(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || s.empty() || s.size() > 4) return false;
  const int64_t k = b->Between(1, 9);
  const auto constant = [&](const Shape& shape) {
    return b->Constant(b->Values(type, shape, 0.5f, false));
  };
  const std::string letters = std::string("abcd").substr(0, s.size());
  const int64_t way = b->Below(4);
  std::vector<TensorId> in = {x};
  std::string equation;
  if (way == 0) {  // the dimensions in the other order
    equation = letters + "->" + std::string(letters.rbegin(), letters.rend());
  } else if (way == 1) {
    equation = "...z,zy->y...";
    in.push_back(constant({s.back(), k}));
  } else if (way == 2) {
    equation = letters + "," + letters + "->" + letters.substr(0, 1);
    in.push_back(constant(s));
  } else {
    equation = letters + "," + letters.back() + "y,y->y" +
               letters.substr(0, letters.size() - 1);
    in.push_back(constant({s.back(), k}));
    in.push_back(constant({k}));
  }
  return b->Append("", "Einsum", in, {{"equation", equation}});
}

const NodeGeneratorRegistration kRecurrent("recurrent", {"LSTM", "GRU", "RNN"},
                                           AddRecurrent);
const NodeGeneratorRegistration kAttention("recurrent_attention", {"Attention"},
                                           AddAttention);
const NodeGeneratorRegistration kRotary("recurrent_rotary", {"RotaryEmbedding"},
                                        AddRotary);
const NodeGeneratorRegistration kSkip("recurrent_skip",
                                      {"SkipLayerNormalization",
                                       "SkipSimplifiedLayerNormalization"},
                                      AddSkip);
const NodeGeneratorRegistration kEinsum("recurrent_einsum", {"Einsum"},
                                        AddEinsum);

}  // namespace
}  // namespace heddle::compiler
