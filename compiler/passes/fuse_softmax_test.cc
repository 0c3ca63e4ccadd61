// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const Shape kShape = {2, 3, 7, 40};

int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == op;
  return count;
}

struct Case {
  int64_t max_axis = -1, sum_axis = -1;
  bool maximum = true;
  bool attribute = false;  // opset 12: the sum's axes are one
  bool codes = false;      // between codes
  std::string also_read;
};

ModelBuilder Model(const Case& c) {
  ModelBuilder b(c.attribute ? 12 : 13);
  std::string x = "x";
  if (c.codes) {
    b.Input("q", DataType::kUint8, kShape);
    b.Dequantize("q", "x", Floats({}, {0.05f}), Uint8s({}, {128}));
  } else {
    b.Input("x", DataType::kFloat, kShape);
  }
  if (c.maximum) {
    SetInts(b.Node("ReduceMax", {"x"}, {"m"}), "axes", {c.max_axis});
    b.Node("Sub", {"x", "m"}, {"d"});
    x = "d";
  }
  b.Node("Exp", {x}, {"e"});
  if (c.attribute) {
    SetInts(b.Node("ReduceSum", {"e"}, {"s"}), "axes", {c.sum_axis});
  } else {
    b.Constant("axes", Int64s({1}, {c.sum_axis}));
    b.Node("ReduceSum", {"e", "axes"}, {"s"});
  }
  b.Node("Div", {"e", "s"}, {"y"});
  if (c.codes) {
    b.Quantize("y", "yq", 1.0f / 256, Uint8s({}, {0}));
    b.Output("yq");
  } else {
    b.Output("y");
  }
  if (!c.also_read.empty()) b.Output(c.also_read);
  return b;
}

bool IsFused(const Case& c) {
  auto graph = AnalyseOnnx(Model(c).Bytes(), {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() && graph->nodes.size() == 1 &&
         Count(*graph, c.codes ? "QLinearSoftmax" : "Softmax") == 1;
}

TEST(FuseSoftmax, EveryForm) {
  for (int64_t axis : {-1, 1, 2}) {
    for (bool maximum : {true, false}) {
      Case c;
      c.max_axis = axis;
      c.sum_axis = axis < 0 ? axis : axis - 4;
      c.maximum = maximum;
      c.attribute = axis == 1;
      EXPECT_TRUE(IsFused(c)) << axis;
      const TensorData x = RandomData(DataType::kFloat, kShape, 3, -6, 6);
      CardCase sizes;
      sizes.sram_bytes = {0, 16 << 10};
      const auto y = ExpectCardEqualsReference(Model(c).Bytes(), {x}, sizes);
      ASSERT_EQ(y.size(), 1u);
      CompileOptions apart;
      apart.fuse_quantization = false;
      auto plain = AnalyseOnnx(Model(c).Bytes(), apart);
      ASSERT_TRUE(plain.ok()) << plain.status();
      EXPECT_EQ(Count(*plain, "Softmax"), 0);
      auto expected = EvaluateGraph(*plain, {x});
      ASSERT_TRUE(expected.ok()) << expected.status();
      const TensorData& z = (*expected)[plain->outputs[0]];
      for (int64_t i = 0; i < x.count(); ++i) {
        EXPECT_NEAR(y[0].as<float>()[i], z.as<float>()[i],
                    2e-6 * z.as<float>()[i]);
      }
    }
  }
}

TEST(FuseSoftmax, HasNoOverflow) {
  Case c;
  c.maximum = false;
  TensorData x = RandomData(DataType::kFloat, kShape, 3, 300, 310);
  const auto y = ExpectCardEqualsReference(Model(c).Bytes(), {x});
  ASSERT_EQ(y.size(), 1u);
  float sum = 0;
  for (int i = 0; i < 40; ++i) sum += y[0].as<float>()[i];
  EXPECT_NEAR(sum, 1, 1e-5);
}

// It then computes in integers.
TEST(FuseSoftmax, BetweenCodes) {
  Case c;
  c.codes = true;
  EXPECT_TRUE(IsFused(c));
  ExpectCardEqualsReference(Model(c).Bytes(),
                            {RandomData(DataType::kUint8, kShape, 3)});
}

TEST(FuseSoftmax, KeepsOtherFunctions) {
  for (const char* tensor : {"m", "d", "e", "s"}) {
    Case c;
    c.also_read = tensor;
    EXPECT_FALSE(IsFused(c)) << tensor;
  }
  // The maximum of another axis: the softmax is that of what Sub makes.
  Case other;
  other.max_axis = 1;
  auto graph = AnalyseOnnx(Model(other).Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "ReduceMax"), 1);
  EXPECT_EQ(Count(*graph, "Softmax"), 1);
}

}  // namespace
}  // namespace heddle::compiler
