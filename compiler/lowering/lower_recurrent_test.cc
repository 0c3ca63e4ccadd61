// SPDX-License-Identifier: Apache-2.0
// Recurrent operators, attention and Einsum on the card.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

struct Kind {
  const char* op;
  int gates;
};
class Recurrent : public testing::TestWithParam<Kind> {
 protected:
  // Of 3 steps, `batch` entries, 7 features, 20 hidden elements in both
  // directions; weights computed at run time, or constants.
  void Check(DataType type, int64_t batch, bool computed, bool lengths,
             int64_t layout) {
    const auto [op, gates] = GetParam();
    ModelBuilder b(14);
    std::vector<TensorData> given;
    std::vector<std::string> in;
    const auto input = [&](const Shape& shape, bool constant) {
      const std::string name = "x" + std::to_string(in.size());
      const TensorData data =
          RandomData(type, shape, in.size() + 1, -0.5f, 0.5f);
      in.push_back(name);
      if (constant) {
        b.Constant(name, data);
        return;
      }
      b.Input(name, type, shape);
      given.push_back(data);
    };
    const int64_t rows = gates * 20;
    const Shape state = layout == 1 ? Shape{batch, 2, 20} : Shape{2, batch, 20};
    input(layout == 1 ? Shape{batch, 3, 7} : Shape{3, batch, 7}, false);
    input({2, rows, 7}, !computed);
    input({2, rows, 20}, !computed);
    input({2, 2 * rows}, !computed);
    in.push_back(lengths ? "lengths" : "");
    if (lengths) {
      const TensorData data = RandomData(DataType::kInt32, {batch}, 9, 0, 3);
      b.Input("lengths", DataType::kInt32, {batch});
      given.push_back(data);
    }
    input(state, false);
    if (gates == 4) {
      input(state, false);
      input({2, 60}, !computed);
    }
    std::vector<std::string> out = {"y", "h"};
    if (gates == 4) out.push_back("c");
    auto* node = b.Node(op, in, out);
    SetString(node, "direction", "bidirectional");
    SetInt(node, "layout", layout);
    for (const std::string& name : out) b.Output(name);
    ExpectCardEqualsReference(b.Bytes(), given, kSmall);
  }
};

TEST_P(Recurrent, EqualsTheReference) {
  Check(DataType::kFloat, 1, false, false, 0);
  Check(DataType::kFloat, 3, false, true, 0);
  Check(DataType::kFloat16, 2, false, false, 1);
}

TEST_P(Recurrent, WithComputedWeights) {
  Check(DataType::kFloat, 2, true, true, 1);
}

INSTANTIATE_TEST_SUITE_P(Operators, Recurrent,
                         testing::Values(Kind{"LSTM", 4}, Kind{"GRU", 3},
                                         Kind{"RNN", 1}),
                         [](const auto& info) {
                           return std::string(info.param.op);
                         });

TEST(LowerAttention, EqualsTheReference) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(23);
    b.Input("q", type, {2, 5, 24});
    b.Input("k", type, {2, 7, 12});
    b.Input("v", type, {2, 7, 20});
    b.Input("mask", DataType::kBool, {5, 7});
    b.Input("past_k", type, {2, 2, 3, 6});
    b.Input("past_v", type, {2, 2, 3, 10});
    auto* node =
        b.Node("Attention", {"q", "k", "v", "mask", "past_k", "past_v"},
               {"y", "all_k", "all_v", "s"});
    SetInt(node, "q_num_heads", 4);
    SetInt(node, "kv_num_heads", 2);
    SetInt(node, "is_causal", 1);
    SetFloat(node, "softcap", 3);
    SetInt(node, "qk_matmul_output_mode", 1);
    for (const char* name : {"y", "all_k", "all_v", "s"}) b.Output(name);
    std::vector<TensorData> given = {RandomData(type, {2, 5, 24}, 1),
                                     RandomData(type, {2, 7, 12}, 2),
                                     RandomData(type, {2, 7, 20}, 3),
                                     RandomData(DataType::kBool, {5, 7}, 4),
                                     RandomData(type, {2, 2, 3, 6}, 5),
                                     RandomData(type, {2, 2, 3, 10}, 6)};
    for (int i = 0; i < 35; ++i) given[3].bytes[i] = i % 3 != 1;
    ExpectCardEqualsReference(b.Bytes(), given, kSmall);
  }
}

TEST(LowerAttention, RotaryEmbeddings) {
  for (int64_t interleaved : {0, 1}) {
    ModelBuilder b(23);
    b.Input("x", DataType::kFloat, {2, 5, 24});
    b.Input("ids", DataType::kInt64, {2, 5});
    b.Constant("cos", RandomData(DataType::kFloat, {20, 3}, 2));
    b.Constant("sin", RandomData(DataType::kFloat, {20, 3}, 3));
    auto* node = b.Node("RotaryEmbedding", {"x", "cos", "sin", "ids"}, {"y"});
    SetInt(node, "num_heads", 3);
    SetInt(node, "rotary_embedding_dim", 6);
    SetInt(node, "interleaved", interleaved);
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kFloat, {2, 5, 24}, 1),
         Int64s({2, 5}, {3, 0, 19, 7, 7, 1, 2, 4, 18, 5})},
        kSmall);
  }
}

TEST(LowerAttention, NormalisationsOfSums) {
  for (const char* op :
       {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
    ModelBuilder b(17);
    b.Input("x", DataType::kFloat16, {2, 5, 24});
    b.Input("skip", DataType::kFloat16, {5, 24});
    b.Constant("gamma", RandomData(DataType::kFloat16, {24}, 2));
    b.Constant("beta", RandomData(DataType::kFloat16, {24}, 3));
    b.Node(op, {"x", "skip", "gamma", "beta"}, {"y", "", "", "sum"},
           "com.microsoft");
    b.Output("y");
    b.Output("sum");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat16, {2, 5, 24}, 1),
                               RandomData(DataType::kFloat16, {5, 24}, 4)},
                              kSmall);
  }
}

TEST(LowerEinsum, EqualsTheReference) {
  struct Case {
    const char* equation;
    std::vector<Shape> shapes;
  };
  const Case cases[] = {
      {"ij,jk->ki", {{5, 7}, {7, 20}}},
      {"bhid,bhjd->bhij", {{2, 3, 5, 7}, {2, 3, 4, 7}}},
      {"iij->ji", {{5, 5, 3}}},
      {"...ij,jk,k->...i", {{2, 5, 7}, {7, 4}, {4}}},
      {"bqhd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 4, 5}}},
      {"ab,ab->", {{5, 40}, {5, 40}}},
      {"ab,cd->bd", {{5, 4}, {3, 6}}},
      {"i,j->ij", {{5}, {30}}},
  };
  for (const Case& c : cases) {
    ModelBuilder b(13);
    std::vector<std::string> in;
    std::vector<TensorData> given;
    for (const Shape& shape : c.shapes) {
      in.push_back("x" + std::to_string(in.size()));
      b.Input(in.back(), DataType::kFloat, shape);
      given.push_back(RandomData(DataType::kFloat, shape, in.size()));
    }
    SetString(b.Node("Einsum", in, {"y"}), "equation", c.equation);
    b.Output("y");
    SCOPED_TRACE(c.equation);
    ExpectCardEqualsReference(b.Bytes(), given, kSmall);
  }
}

}  // namespace
}  // namespace heddle::compiler
