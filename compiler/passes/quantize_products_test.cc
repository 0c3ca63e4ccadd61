// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantize_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kRows = 7, kIn = 40, kOut = 24;
constexpr float kInScale = 0.05f, kOutScale = 0.2f;

TensorData Zero() { return Uint8s({}, {120}); }

// Quantized input "d" of [1, kRows, kIn], dequantized weights "wd".
ModelBuilder Start() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, kRows, kIn});
  b.Quantize("x", "q", kInScale, Zero());
  b.Dequantize("q", "d", Floats({}, {kInScale}), Zero());
  TensorData w = RandomData(DataType::kInt8, {kIn, kOut}, 5);
  b.Constant("w", w);
  b.Dequantize("w", "wd", Floats({}, {0.004f}), Int8s({}, {0}));
  return b;
}
void End(ModelBuilder* b, const std::string& y) {
  b->Quantize(y, "qy", kOutScale, Zero());
  b->Dequantize("qy", "out", Floats({}, {kOutScale}), Zero());
  b->Output("out");
}

std::string Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) {
    if (node.op != "QuantizeLinear" && node.op != "DequantizeLinear" &&
        node.op != "Reshape") {
      ops.push_back(node.op);
    }
  }
  return absl::StrJoin(ops, " ");
}

// `ops` remain, the results are those of the float operators to a code, and
// the card computes them.
void Expect(const ModelBuilder& b, const std::string& ops) {
  const std::string model = b.Bytes();
  auto graph = AnalyseOnnx(model, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Ops(*graph), ops) << graph->ToString();
  for (const FloatGroup& group : graph->float_groups) {
    ADD_FAILURE() << group.node << ": " << group.reason;
  }
  const TensorData x = RandomData(DataType::kFloat, {1, kRows, kIn}, 3);
  CompileOptions floats;
  floats.fuse_quantization = false;
  auto plain = AnalyseOnnx(model, floats);
  ASSERT_TRUE(plain.ok()) << plain.status();
  auto expected = EvaluateGraph(*plain, {x});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto y = ExpectCardEqualsReference(model, {x});
  ASSERT_EQ(y.size(), 1u);
  const TensorData& want = (*expected)[plain->outputs[0]];
  ASSERT_EQ(y[0].shape, want.shape);
  for (int64_t i = 0; i < want.count(); ++i) {
    EXPECT_NEAR(y[0].as<float>()[i], want.as<float>()[i], 1.01f * kOutScale);
  }
}

TEST(Products, BiasBehindStack) {
  ModelBuilder b = Start();
  b.Constant("c", RandomData(DataType::kFloat, {kOut}, 9));
  b.Node("MatMul", {"d", "wd"}, {"p"});
  b.Node("Add", {"c", "p"}, {"y"});
  End(&b, "y");
  Expect(b, "QGemm");
}

TEST(Products, FactorsAroundBias) {
  ModelBuilder b = Start();
  b.Constant("c", RandomData(DataType::kFloat, {kOut}, 9));
  b.Constant("two", Floats({}, {2.0f}));
  b.Constant("three", Floats({1}, {3.0f}));
  b.Node("MatMul", {"d", "wd"}, {"p"});
  b.Node("Div", {"p", "three"}, {"s"});
  b.Node("Add", {"s", "c"}, {"a"});
  b.Node("Mul", {"two", "a"}, {"y"});
  End(&b, "y");
  Expect(b, "QGemm");
}

TEST(Products, StackWithoutBias) {
  ModelBuilder b = Start();
  b.Node("MatMul", {"d", "wd"}, {"y"});
  End(&b, "y");
  Expect(b, "QLinearMatMul");
}

TEST(Products, FactorOfTwoComputedOperands) {
  ModelBuilder b = Start();
  b.Constant("root", Floats({}, {3.0f}));
  b.Dequantize("q", "e", Floats({}, {kInScale}), Zero());
  auto* node = b.Node("Transpose", {"e"}, {"t"});
  SetInts(node, "perm", {0, 2, 1});
  b.Node("MatMul", {"d", "t"}, {"p"});
  b.Node("Div", {"p", "root"}, {"y"});
  End(&b, "y");
  Expect(b, "Transpose QLinearMatMul");
}

// What is not the same in all rows is no bias, and negative factors reverse
// the order of codes.
TEST(Products, KeepsOthers) {
  ModelBuilder b = Start();
  b.Constant("c", RandomData(DataType::kFloat, {kRows, kOut}, 9));
  b.Node("MatMul", {"d", "wd"}, {"p"});
  b.Node("Add", {"p", "c"}, {"y"});
  End(&b, "y");
  CompileOptions apart;
  apart.features.fuse_elementwise = false;
  auto graph = AnalyseOnnx(b.Bytes(), apart);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Ops(*graph), "MatMulIntegerToFloat Add");

  ModelBuilder negative = Start();
  negative.Constant("c", Floats({}, {-1.0f}));
  negative.Node("MatMul", {"d", "wd"}, {"p"});
  negative.Node("Mul", {"p", "c"}, {"y"});
  End(&negative, "y");
  graph = AnalyseOnnx(negative.Bytes(), apart);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Ops(*graph), "MatMulIntegerToFloat Mul");
}

// Refused for its empty tensors, later.
TEST(FoldIntoProducts, LeavesAnEmptyContraction) {
  ModelBuilder b;
  b.Input("q", DataType::kUint8, {2, 3, 0});
  b.Dequantize("q", "d", Floats({}, {kInScale}), Zero());
  b.Constant("w", TensorData::Zeros(DataType::kInt8, {0, kOut}));
  b.Dequantize("w", "wd", Floats({}, {0.004f}), Int8s({}, {0}));
  b.Constant("c", RandomData(DataType::kFloat, {kOut}, 9));
  b.Node("MatMul", {"d", "wd"}, {"p"});
  b.Node("Add", {"p", "c"}, {"y"});
  End(&b, "y");
  EXPECT_FALSE(CompileOnnx(b.Bytes(), {}).ok());
}

}  // namespace
}  // namespace heddle::compiler
