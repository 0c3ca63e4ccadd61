// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_gelu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const Shape kShape = {2, 9, 50};

CompileOptions Apart() {
  CompileOptions options;
  options.features.fuse_elementwise = false;
  return options;
}

int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == op;
  return count;
}

struct Case {
  enum Order { kHalfLast, kHalfOfX, kHalfOfGate } order = kHalfLast;
  bool divides = true;
  float root = 1.41421356f, one = 1, half = 0.5f;
  std::string also_read;
};

ModelBuilder Model(const Case& c) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Constant("root", Floats({}, {c.divides ? c.root : 1 / c.root}));
  b.Constant("one", Floats({1}, {c.one}));
  b.Constant("half", Floats({}, {c.half}));
  b.Node(c.divides ? "Div" : "Mul", {"x", "root"}, {"d"});
  b.Node("Erf", {"d"}, {"e"});
  b.Node("Add", {"one", "e"}, {"gate"});
  switch (c.order) {
    case Case::kHalfLast:
      b.Node("Mul", {"x", "gate"}, {"m"});
      b.Node("Mul", {"m", "half"}, {"y"});
      break;
    case Case::kHalfOfX:
      b.Node("Mul", {"half", "x"}, {"m"});
      b.Node("Mul", {"m", "gate"}, {"y"});
      break;
    case Case::kHalfOfGate:
      b.Node("Mul", {"gate", "half"}, {"m"});
      b.Node("Mul", {"m", "x"}, {"y"});
      break;
  }
  b.Output("y");
  if (!c.also_read.empty()) b.Output(c.also_read);
  return b;
}

bool IsFused(const Case& c) {
  auto graph = AnalyseOnnx(Model(c).Bytes(), Apart());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() && Count(*graph, "Gelu") == 1 && graph->nodes.size() == 1;
}

TEST(FuseGelu, EveryForm) {
  for (auto order : {Case::kHalfLast, Case::kHalfOfX, Case::kHalfOfGate}) {
    for (bool divides : {true, false}) {
      Case c;
      c.order = order;
      c.divides = divides;
      EXPECT_TRUE(IsFused(c)) << order;
      TensorData x = RandomData(DataType::kFloat, kShape, 3, -6, 6);
      const float special[] = {0.0f,
                               -0.0f,
                               1e-40f,
                               3e38f,
                               std::numeric_limits<float>::infinity(),
                               std::nanf("")};
      for (size_t i = 0; i < 6; ++i) x.as<float>()[i * 40] = special[i];
      CardCase sizes;
      sizes.sram_bytes = {0, 12 << 10};
      const auto y = ExpectCardEqualsReference(Model(c).Bytes(), {x}, sizes);
      ASSERT_EQ(y.size(), 1u);
      for (int64_t i = 0; i < x.count(); ++i) {
        const double v = x.as<float>()[i];
        const double exact = v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
        if (!(std::abs(exact) < 1e30)) continue;
        EXPECT_NEAR(y[0].as<float>()[i], exact, 4e-7 * (1 + std::abs(exact)))
            << v;
      }
    }
  }
}

TEST(FuseGelu, KeepsOtherFunctions) {
  Case other;
  other.root = 1.4142f;
  EXPECT_FALSE(IsFused(other));
  other = Case();
  other.one = 1.5f;
  EXPECT_FALSE(IsFused(other));
  other = Case();
  other.half = 1;
  EXPECT_FALSE(IsFused(other));
  for (const char* tensor : {"d", "e", "gate", "m"}) {
    other = Case();
    other.also_read = tensor;
    EXPECT_FALSE(IsFused(other)) << tensor;
  }
}

// As an interpreter computes it, where that is asked for.
TEST(FuseGelu, NotWithoutFusion) {
  CompileOptions options = Apart();
  options.fuse_quantization = false;
  auto graph = AnalyseOnnx(Model({}).Bytes(), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Gelu"), 0);
}

}  // namespace
}  // namespace heddle::compiler
