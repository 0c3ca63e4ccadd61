// SPDX-License-Identifier: Apache-2.0
// The first tensor that differs, not the first that is looked at.
#include "tools/heddle-run/layer_check.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
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

TEST(LayerCheck, AllEqual) {
  const auto check =
      CompareLayers(Chain(), kInput, {kY, kA, kB, {"other", Floats({1}, {1})}});
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->compared, 3u);
  EXPECT_EQ(check->differing, 0u);
  EXPECT_TRUE(absl::StrContains(Describe(*check), "all 3 tensors"));
}

TEST(LayerCheck, TheFirstInTheGraphsOrder) {
  const auto check = CompareLayers(Chain(), kInput,
                                   {{"y", Floats({1, 3}, {1, 16, 37})},
                                    {"b", Floats({1, 3}, {-1, 4.5, 6})},
                                    kA});
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->compared, 3u);
  EXPECT_EQ(check->differing, 2u);
  EXPECT_EQ(check->tensor, "b");
  EXPECT_EQ(check->node, "second");
  EXPECT_EQ(check->first.first, 1);
  EXPECT_EQ(check->first.expected, 4);
  const std::string text = Describe(*check);
  EXPECT_TRUE(absl::StrContains(text, "tensor 'b' of Add 'second'")) << text;
}

TEST(LayerCheck, BytesNotTolerance) {
  const auto check =
      CompareLayers(Chain(), kInput, {{"a", Floats({1, 3}, {-0.f, 2, 3})}});
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->differing, 1u) << "minus zero is another value";
}

TEST(LayerCheck, WrongShapeAndNothing) {
  const auto check = CompareLayers(Chain(), kInput, {{"a", Floats({1}, {0})}});
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->differing, 1u);
  EXPECT_FALSE(check->first.problem.empty());
  const auto none = CompareLayers(Chain(), kInput, {});
  EXPECT_TRUE(absl::StrContains(Describe(*none), "none"));
  EXPECT_FALSE(CompareLayers(Chain(), {}, {}).ok());
}

}  // namespace
}  // namespace heddle::run
