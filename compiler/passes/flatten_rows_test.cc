// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/flatten_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TensorData Zero() { return Uint8s({}, {120}); }

void Quantized(ModelBuilder* b, const std::string& x) {
  b->Quantize(x, x + "q", 0.05f, Zero());
  b->Dequantize(x + "q", x + "d", Floats({}, {0.05f}), Zero());
}

// Two products with a table between them and a residual behind, on a stack of
// rows.
ModelBuilder Block(const Shape& shape) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  Quantized(&b, "x");
  b.Constant("w", RandomData(DataType::kInt8, {32, 32}, 5));
  b.Dequantize("w", "wd", Floats({}, {0.004f}), Int8s({}, {0}));
  b.Constant("c", RandomData(DataType::kFloat, {32}, 9));
  b.Node("MatMul", {"xd", "wd"}, {"p"});
  b.Node("Add", {"p", "c"}, {"a"});
  Quantized(&b, "a");
  b.Node("Tanh", {"ad"}, {"t"});
  Quantized(&b, "t");
  b.Node("MatMul", {"td", "wd"}, {"s"});
  Quantized(&b, "s");
  b.Node("Add", {"sd", "xd"}, {"y"});
  Quantized(&b, "y");
  b.Output("yd");
  return b;
}

TEST(FlattenRows, NoReshapeBetweenProducts) {
  for (const Shape& shape : {Shape{1, 9, 32}, Shape{2, 3, 5, 32}}) {
    const std::string model = Block(shape).Bytes();
    auto graph = AnalyseOnnx(model, {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::string ops;
    for (const Node& node : graph->nodes) ops += node.op + " ";
    EXPECT_EQ(ops,
              "Reshape QuantizeLinear QGemm Table QLinearMatMul QLinearAdd "
              "DequantizeLinear Reshape ");
    auto result = CompileOnnx(model, {});
    ASSERT_TRUE(result.ok()) << result.status();
    // Table and residual are done by the products, no layout changes.
    EXPECT_EQ(result->report.layers.size(), 4u);
    CardCase sizes;
    sizes.sram_bytes = {0, 16 << 10};
    ExpectCardEqualsReference(model, {RandomData(DataType::kFloat, shape, 3)},
                              sizes);
  }
}

// Without a product nothing is gained.
TEST(FlattenRows, LeavesOthers) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 9, 32});
  Quantized(&b, "x");
  b.Node("Tanh", {"xd"}, {"t"});
  Quantized(&b, "t");
  b.Output("td");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const Node& node : graph->nodes) EXPECT_NE(node.op, "Reshape");
}

// From its end to its beginning, in time that grows with its length only.
TEST(FlattenRows, LongChain) {
  constexpr int kLength = 20000;
  ModelBuilder b;
  b.Input("x0", DataType::kUint8, {2, 3, 4});
  b.Constant("s", Floats({}, {0.02f}));
  b.Constant("z", Zero());
  for (int i = 0; i < kLength; ++i) {
    b.Node("QLinearLeakyRelu", {"x" + std::to_string(i), "s", "z", "s", "z"},
           {"x" + std::to_string(i + 1)}, "com.microsoft");
  }
  b.Constant("to", Int64s({2}, {6, 4}));
  b.Node("Reshape", {"x" + std::to_string(kLength), "to"}, {"y"});
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  int on_matrices = 0;
  for (const Node& node : graph->nodes) {
    on_matrices += graph->tensors[node.outputs[0]].shape == Shape{6, 4};
  }
  EXPECT_EQ(on_matrices, kLength + 1);
}

}  // namespace
}  // namespace heddle::compiler
