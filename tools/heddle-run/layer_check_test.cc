// SPDX-License-Identifier: Apache-2.0
// The first tensor that differs, not the first that is looked at, and how far
// those that differ are away.
#include "tools/heddle-run/layer_check.h"

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
using compiler::TensorData;

compiler::Graph Chain() {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3});
  b.Node("Relu", {"x"}, {"a"})->set_name("first");
  b.Node("Add", {"a", "x"}, {"b"})->set_name("second");
  b.Node("Mul", {"b", "b"}, {"y"})->set_name("third");
  b.Output("y");
  compiler::CompileOptions options;
  options.features.fuse_elementwise = false;  // three nodes, not one
  auto graph = compiler::AnalyseOnnx(b.Bytes(), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

const std::vector<TensorData> kInput = {Floats({1, 3}, {-1, 2, 3})};
const NamedTensor kA = {"a", Floats({1, 3}, {0, 2, 3})};
const NamedTensor kB = {"b", Floats({1, 3}, {-1, 4, 6})};
const NamedTensor kY = {"y", Floats({1, 3}, {1, 16, 36})};

LayerCheck Check(const std::vector<NamedTensor>& card) {
  const compiler::Graph graph = Chain();
  const auto values = compiler::EvaluateGraph(graph, kInput);
  EXPECT_TRUE(values.ok()) << values.status();
  return CompareLayers(graph, *values, card);
}

TEST(LayerCheck, AllEqual) {
  const LayerCheck check = Check({kY, kA, kB, {"other", Floats({1}, {1})}});
  EXPECT_EQ(check.compared, 3u);
  EXPECT_TRUE(check.differences.empty());
  EXPECT_TRUE(absl::StrContains(Describe(check), "all 3 tensors"));
}

TEST(LayerCheck, TheFirstInTheGraphsOrder) {
  const LayerCheck check = Check({{"y", Floats({1, 3}, {1, 16, 37})},
                                  {"b", Floats({1, 3}, {-1, 4.5, 6})},
                                  kA});
  EXPECT_EQ(check.compared, 3u);
  ASSERT_EQ(check.differences.size(), 2u);
  const LayerDifference& first = check.differences[0];
  EXPECT_EQ(first.tensor, "b");
  EXPECT_EQ(first.node, "second");
  EXPECT_EQ(first.bytes.first, 1);
  EXPECT_EQ(first.bytes.expected, 4);
  const std::string text = Describe(check);
  EXPECT_TRUE(absl::StrContains(text, "tensor 'b' of Add 'second'")) << text;
  EXPECT_TRUE(absl::StrContains(text, "1 element, first at [0,1]: 4.5"))
      << text;
}

TEST(LayerCheck, TheWorstLayersFirst) {
  // 'b' is off by a tenth of its size, 'y' by a fortieth.
  const LayerCheck check = Check({{"y", Floats({1, 3}, {1, 16, 37})},
                                  {"b", Floats({1, 3}, {-1, 4.75f, 6})},
                                  {"a", Floats({1, 3}, {0, 2, NAN})}});
  const std::string text = Describe(check);
  const size_t table = text.find("rel. error");
  ASSERT_NE(table, std::string::npos) << text;
  const size_t a = text.find("[0,2] is nan, reference 3", table),
               b = text.find("[0,1] is 4.75, reference 4", table),
               y = text.find("[0,2] is 37, reference 36", table);
  EXPECT_LT(a, b) << text;
  EXPECT_LT(b, y) << text;
  EXPECT_NE(y, std::string::npos) << text;
  const auto json = LayerCheckJson(check);
  EXPECT_EQ(json["differing"], 3);
  EXPECT_EQ(json["first"]["tensor"], "a");
  EXPECT_EQ(json["layers"][1]["largest"][0]["position"], "[0,1]");
  EXPECT_NEAR(json["layers"][1]["cosine"].get<double>(), 0.9967, 1e-4);
}

TEST(LayerCheck, BytesNotTolerance) {
  EXPECT_EQ(Check({{"a", Floats({1, 3}, {-0.f, 2, 3})}}).differences.size(), 1u)
      << "minus zero is another value";
}

TEST(LayerCheck, WrongShapeAndNothing) {
  const LayerCheck check = Check({{"a", Floats({1}, {0})}});
  ASSERT_EQ(check.differences.size(), 1u);
  EXPECT_FALSE(check.differences[0].bytes.problem.empty());
  EXPECT_TRUE(absl::StrContains(Describe(check), "expected float[1,3]"))
      << Describe(check);
  EXPECT_TRUE(absl::StrContains(Describe(Check({})), "none"));
}

// What the integers of the card make of a network that was trained in floating
// point; the card's codes and the graph's are those of the same tensor.
TEST(LayerCheck, InFloatingPoint) {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 2});
  b.Quantize("x", "q", 0.5f, compiler::Uint8s({}, {128}));
  b.Dequantize("q", "d", Floats({}, {0.5f}), compiler::Uint8s({}, {128}));
  b.Output("d");
  compiler::CompileOptions options;
  options.fuse_quantization = false;
  const auto graph = compiler::AnalyseOnnx(b.Bytes(), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto values =
      compiler::EvaluateGraph(*graph, {Floats({1, 2}, {1.5f, 2})});
  ASSERT_TRUE(values.ok()) << values.status();
  const LayerCheck check =
      CompareLayersInFloat(*graph, *values,
                           {{"q", compiler::Uint8s({1, 2}, {131, 125})},
                            {"d", compiler::Uint8s({1, 2}, {0, 0})}});
  EXPECT_EQ(check.compared, 1u) << "a tensor of another type is another one";
  ASSERT_EQ(check.differences.size(), 1u);
  // (3, 4) and (3, -3), from their zero.
  EXPECT_NEAR(*check.differences[0].quality.cosine, -3 / 5.0 / std::sqrt(18),
              1e-9);
  const std::string text = DescribeInFloat(check);
  EXPECT_TRUE(absl::StrContains(text, "1 of 1 tensors differ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "[0,1] is 125, in floating point 132"))
      << text;
}

}  // namespace
}  // namespace heddle::run
