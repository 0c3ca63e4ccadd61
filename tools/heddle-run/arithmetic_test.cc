// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Graph;
using compiler::Int8s;
using compiler::TensorData;
using compiler::Uint8s;

constexpr float kStep = 0.37f;

// A quantized product, whose integer form rounds the bias to a thirteenth of
// the result's step.
std::string Model() {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {64, 16});
  b.Quantize("x", "xq", 0.213f, Uint8s({}, {117}));
  b.Dequantize("xq", "xd", Floats({}, {0.213f}), Uint8s({}, {117}));
  std::vector<int8_t> weights;
  for (int i = 0; i < 16 * 32; ++i) {
    weights.push_back(static_cast<int8_t>(i * 89 % 25 - 12));
  }
  b.Constant("w", Int8s({16, 32}, weights));
  b.Dequantize("w", "wd", Floats({}, {0.131f}), Int8s({}, {0}));
  std::vector<float> bias;
  for (int i = 0; i < 32; ++i) bias.push_back(0.11f * i - 1.7f);
  b.Constant("b", Floats({32}, bias));
  b.Node("Gemm", {"xd", "wd", "b"}, {"g"});
  b.Quantize("g", "yq", kStep, Uint8s({}, {128}));
  b.Dequantize("yq", "yd", Floats({}, {kStep}), Uint8s({}, {128}));
  b.Node("Flatten", {"yd"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

Graph Analysed(bool fuse) {
  compiler::CompileOptions options;
  options.fuse_quantization = fuse;
  auto graph = compiler::AnalyseOnnx(Model(), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TensorData Input() {
  TensorData x = TensorData::Zeros(DataType::kFloat, {64, 16});
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] = std::sin(static_cast<float>(i) * 1.7f) * 2;
  }
  return x;
}

std::vector<TensorData> ValuesOf(const Graph& graph) {
  auto values = compiler::EvaluateGraph(graph, {Input()});
  EXPECT_TRUE(values.ok()) << values.status();
  return *std::move(values);
}

TensorData OutputOf(const Graph& graph) {
  return ValuesOf(graph)[graph.outputs[0]];
}

TEST(Arithmetic, StepsOfOutputs) {
  const auto steps = OutputSteps(Analysed(false));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_FLOAT_EQ(static_cast<float>(steps.at("y")), kStep);
  EXPECT_TRUE(IsQuantized(Analysed(false)));
  EXPECT_EQ(OutputSteps(Analysed(true)).count("y"), 1u);
}

TEST(Arithmetic, TellsWhichOneTheFileHolds) {
  const Graph graph = Analysed(false);
  const TensorData integer = OutputOf(Analysed(true)),
                   floating = OutputOf(graph);
  const Comparison both = Compare(integer, floating, {});
  ASSERT_GT(both.differing, 3) << "the two must differ for this test";
  const auto find = [&](const TensorData& expected) {
    return FindArithmetic(graph, ValuesOf(graph), {integer}, {expected}, {});
  };
  const Arithmetic in_float = find(floating);
  EXPECT_EQ(in_float.kind, Arithmetic::Kind::kFloat);
  EXPECT_EQ(in_float.floating, 0);
  EXPECT_EQ(in_float.integer, both.differing);
  EXPECT_NEAR(in_float.integer_steps, 1, 1e-3);
  EXPECT_TRUE(absl::StrContains(Describe(in_float), "--atol-steps 1 "))
      << Describe(in_float);
  EXPECT_EQ(find(integer).kind, Arithmetic::Kind::kInteger);
  // A few codes beside it, as another order of sums makes them.
  TensorData near = floating;
  near.as<float>()[5] += kStep;
  EXPECT_EQ(find(near).kind, Arithmetic::Kind::kFloat);
  // So many that it is as far from the one as from the other.
  TensorData rounded = floating;
  for (int64_t i = 0; i < rounded.count(); i += 2) {
    rounded.as<float>()[i] += i % 4 == 0 ? kStep : -kStep;
  }
  const Arithmetic rounding = find(rounded);
  EXPECT_EQ(rounding.kind, Arithmetic::Kind::kRounding);
  EXPECT_TRUE(absl::StrContains(Describe(rounding), "--atol-steps"));
  // Other data altogether.
  TensorData other = floating;
  for (int64_t i = 0; i < other.count(); ++i)
    other.as<float>()[i] += 40 * kStep;
  const Arithmetic unknown = find(other);
  EXPECT_EQ(unknown.kind, Arithmetic::Kind::kUnknown);
  EXPECT_FALSE(absl::StrContains(Describe(unknown), "--atol-steps"));
  // The comparison that fits accepts the one and not the other.
  Tolerance steps;
  steps.steps = 1;
  EXPECT_TRUE(Compare(integer, floating, steps, kStep).equal);
  EXPECT_FALSE(Compare(integer, other, steps, kStep).equal);
}

}  // namespace
}  // namespace heddle::run
