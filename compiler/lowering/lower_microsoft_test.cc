// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's optimizers and quantisers write, of com.microsoft, on the
// card.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;
constexpr char kMicrosoft[] = "com.microsoft";

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

TEST(LowerMicrosoft, Attention) {
  for (DataType type : {kFloat, DataType::kFloat16}) {
    ModelBuilder b;
    b.Input("x", type, {2, 5, 24});
    b.Input("mask", DataType::kInt32, {2, 8});
    b.Input("past", type, {2, 2, 3, 3, 8});
    b.Constant("w", RandomData(type, {24, 72}, 2));
    b.Constant("bias", RandomData(type, {72}, 3));
    auto* node = b.Node("Attention", {"x", "w", "bias", "mask", "past"},
                        {"y", "present"}, kMicrosoft);
    SetInt(node, "num_heads", 3);
    SetInt(node, "unidirectional", 1);
    b.Output("y");
    b.Output("present");
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(type, {2, 5, 24}, 4),
         Int32s({2, 8}, {1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}),
         RandomData(type, {2, 2, 3, 3, 8}, 5)},
        kSmall);
  }
}

TEST(LowerMicrosoft, MultiHeadAttention) {
  ModelBuilder b;
  b.Input("x", kFloat, {2, 5, 3, 3, 8});
  b.Input("mask", DataType::kInt32, {2});
  b.Constant("bias", RandomData(kFloat, {72}, 3));
  SetInt(b.Node("MultiHeadAttention", {"x", "", "", "bias", "mask"}, {"y"},
                kMicrosoft),
         "num_heads", 3);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(kFloat, {2, 5, 3, 3, 8}, 1), Int32s({2}, {5, 2})},
      kSmall);
}

TEST(LowerMicrosoft, Embeddings) {
  const TensorData ids = Int32s({2, 3}, {0, 6, 2, 1, 1, 3}),
                   mask = Int32s({2, 3}, {1, 1, 0, 1, 0, 0});
  ModelBuilder b;
  b.Input("ids", DataType::kInt32, {2, 3});
  b.Input("mask", DataType::kInt32, {2, 3});
  b.Constant("words", RandomData(kFloat, {7, 24}, 2));
  b.Constant("places", RandomData(kFloat, {4, 24}, 3));
  b.Constant("g", RandomData(kFloat, {24}, 4));
  b.Node("EmbedLayerNormalization",
         {"ids", "", "words", "places", "", "g", "g", "mask"},
         {"y", "count", "sum"}, kMicrosoft);
  for (const char* name : {"y", "count", "sum"}) b.Output(name);
  ExpectCardEqualsReference(b.Bytes(), {ids, mask}, kSmall);
}

TEST(LowerMicrosoft, Products) {
  ModelBuilder b;
  b.Input("x", kFloat, {5, 2, 24});
  b.Constant("w", RandomData(kFloat, {2, 7, 24}, 2));
  auto* node = b.Node("FusedMatMul", {"x", "w"}, {"y"}, kMicrosoft);
  SetInt(node, "transBatchA", 1);
  SetInt(node, "transB", 1);
  SetFloat(node, "alpha", 0.125f);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(kFloat, {5, 2, 24}, 1)},
                            kSmall);
  ModelBuilder c;
  c.Input("x", kFloat, {1, 4, 6, 6});
  c.Input("z", kFloat, {1, 8, 6, 6});
  c.Constant("w", RandomData(kFloat, {8, 4, 3, 3}, 2));
  node = c.Node("FusedConv", {"x", "w", "", "z"}, {"y"}, kMicrosoft);
  SetInts(node, "pads", {1, 1, 1, 1});
  SetString(node, "activation", "Relu");
  c.Output("y");
  ExpectCardEqualsReference(c.Bytes(),
                            {RandomData(kFloat, {1, 4, 6, 6}, 1),
                             RandomData(kFloat, {1, 8, 6, 6}, 3)},
                            kSmall);
}

TEST(LowerMicrosoft, Groups) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat16, {2, 3, 5, 8});
  b.Input("skip", DataType::kFloat16, {2, 8});
  b.Constant("g", RandomData(kFloat, {8}, 2));
  auto* node = b.Node("SkipGroupNorm", {"x", "g", "g", "skip"}, {"y", "sum"},
                      kMicrosoft);
  SetInt(node, "groups", 4);
  SetInt(node, "activation", 1);
  b.Output("y");
  b.Output("sum");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat16, {2, 3, 5, 8}, 1),
                             RandomData(DataType::kFloat16, {2, 8}, 3)},
                            kSmall);
}

TEST(LowerMicrosoft, Quantised) {
  ModelBuilder b;
  b.Input("x", kFloat, {5, 24});
  b.Constant("w", RandomData(DataType::kInt8, {24, 20}, 2));
  b.Constant("s", Floats({}, {0.02f}));
  b.Constant("bias", RandomData(kFloat, {20}, 3));
  b.Node("DynamicQuantizeMatMul", {"x", "w", "s", "", "bias"}, {"y"},
         kMicrosoft);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(kFloat, {5, 24}, 1)},
                            kSmall);
  ModelBuilder c;
  c.Input("ids", DataType::kInt32, {2, 3});
  c.Constant("w", RandomData(DataType::kUint8, {7, 20}, 2));
  c.Constant("s", RandomData(kFloat, {7, 3}, 3));
  auto* node =
      c.Node("GatherBlockQuantized", {"w", "ids", "s"}, {"y"}, kMicrosoft);
  SetInt(node, "block_size", 16);
  c.Output("y");
  ExpectCardEqualsReference(c.Bytes(), {Int32s({2, 3}, {0, 6, 2, 1, 1, -3})},
                            kSmall);
}

}  // namespace
}  // namespace heddle::compiler
