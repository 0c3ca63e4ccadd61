// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kScale = 0.03f;

TensorData Zero() { return Uint8s({}, {120}); }

// Quantized input "d", and `y` quantized to the output.
ModelBuilder Start() {
  ModelBuilder b(14);
  b.Input("x", DataType::kFloat, {1, 20, 5, 6});
  b.Quantize("x", "q", kScale, Zero());
  b.Dequantize("q", "d", Floats({}, {kScale}), Zero());
  b.Constant("half", Floats({}, {0.5f}));
  b.Constant("one", Floats({1}, {1.0f}));
  return b;
}
ModelBuilder& End(ModelBuilder* b, const std::string& y) {
  b->Quantize(y, "qy", 0.02f, Zero());
  b->Dequantize("qy", "out", Floats({}, {0.02f}), Zero());
  b->Output("out");
  return *b;
}

int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == op;
  return count;
}

// It is one table, computes the bytes of the float operators, and the card does
// so, too.
void ExpectTable(const std::string& model) {
  auto graph = AnalyseOnnx(model, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Table"), 1);
  EXPECT_EQ(graph->nodes.size(), 3u) << graph->ToString();
  EXPECT_TRUE(graph->float_groups.empty());
  const TensorData x = RandomData(DataType::kFloat, {1, 20, 5, 6}, 3);
  CompileOptions floats;
  floats.fuse_quantization = false;
  auto plain = AnalyseOnnx(model, floats);
  ASSERT_TRUE(plain.ok()) << plain.status();
  auto expected = EvaluateGraph(*plain, {x});
  auto results = EvaluateGraph(*graph, {x});
  ASSERT_TRUE(expected.ok() && results.ok());
  EXPECT_EQ((*results)[graph->outputs[0]].bytes,
            (*expected)[plain->outputs[0]].bytes);
  ExpectCardEqualsReference(model, {x});
}

TEST(FoldTable, Gelu) {
  ModelBuilder b = Start();
  b.Constant("root", Floats({}, {1.41421356f}));
  b.Node("Div", {"d", "root"}, {"a"});
  b.Node("Erf", {"a"}, {"e"});
  b.Node("Add", {"e", "one"}, {"p"});
  b.Node("Mul", {"d", "p"}, {"m"});
  b.Node("Mul", {"m", "half"}, {"y"});
  ExpectTable(End(&b, "y").Bytes());
}

TEST(FoldTable, HardSwish) {
  ModelBuilder b = Start();
  b.Node("HardSwish", {"d"}, {"y"});
  ExpectTable(End(&b, "y").Bytes());
}

TEST(FoldTable, BranchesThatJoin) {
  ModelBuilder b = Start();
  b.Node("Sigmoid", {"d"}, {"s"});
  b.Node("Mul", {"d", "s"}, {"y"});
  ExpectTable(End(&b, "y").Bytes());
}

TEST(FoldTable, KeepsWhatOthersRead) {
  ModelBuilder b = Start();
  b.Node("Exp", {"d"}, {"e"});
  b.Node("Mul", {"e", "half"}, {"y"});
  End(&b, "y");
  b.Output("e");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Table"), 0);
}

TEST(FoldTable, KeepsFunctionsOfTwoTensors) {
  ModelBuilder b = Start();
  b.Input("w", DataType::kFloat, {1, 20, 5, 6});
  b.Node("Exp", {"d"}, {"e"});
  b.Node("Mul", {"e", "w"}, {"y"});
  auto graph = AnalyseOnnx(End(&b, "y").Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Table"), 0);
}

TEST(FoldTable, NoModelMayHaveOne) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {4});
  b.Constant("t", TensorData::Zeros(DataType::kUint8, {256}));
  b.Node("Table", {"x", "t"}, {"y"}, "heddle");
  b.Output("y");
  auto* import = b.proto().add_opset_import();
  import->set_domain("heddle");
  import->set_version(1);
  const absl::Status refused = AnalyseOnnx(b.Bytes(), {}).status();
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("Table")) << refused;
}

}  // namespace
}  // namespace heddle::compiler
