// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/cancel_moves.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

struct Move {
  std::string op;  // "Transpose", "Reshape", "Relu"
  Ints argument;   // perm or shape
};

// A chain of moves between two Relus, with values 0, 1, 2 ... through it: the
// operators that are left, and whether the values come out where the chain
// puts them.
std::string Left(const Shape& shape, const std::vector<Move>& moves) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  b.Node("Relu", {"x"}, {"t0"});
  int at = 0;
  for (const Move& move : moves) {
    const std::string from = absl::StrCat("t", at),
                      to = absl::StrCat("t", ++at);
    if (move.op == "Transpose") {
      SetInts(b.Node("Transpose", {from}, {to}), "perm", move.argument);
    } else if (move.op == "Reshape") {
      const std::string name = absl::StrCat("shape", at);
      b.Constant(name, Int64s({static_cast<int64_t>(move.argument.size())},
                              move.argument));
      b.Node("Reshape", {from, name}, {to});
    } else {
      b.Node(move.op, {from}, {to});
    }
  }
  b.Node("Relu", {absl::StrCat("t", at)}, {"y"});
  b.Output("y");
  CompileOptions options;
  options.features.fuse_elementwise = false;
  auto graph = AnalyseOnnx(b.Bytes(), options);
  if (!graph.ok()) return graph.status().ToString();
  TensorData x = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] = static_cast<float>(i);
  }
  // The chain, one move after another.
  TensorData expected = x;
  for (const Move& move : moves) {
    if (move.op == "Reshape") expected.shape = move.argument;
    if (move.op != "Transpose") continue;
    TensorData moved = TensorData::Zeros(DataType::kFloat, {});
    for (int64_t p : move.argument) moved.shape.push_back(expected.shape[p]);
    moved.bytes.resize(expected.bytes.size());
    for (int64_t i = 0; i < expected.count(); ++i) {
      Ints index(moved.shape.size());
      int64_t rest = i;
      for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % moved.shape[d];
        rest /= moved.shape[d];
      }
      Ints source(index.size());
      for (size_t d = 0; d < index.size(); ++d) {
        source[move.argument[d]] = index[d];
      }
      int64_t from = 0;
      for (size_t d = 0; d < source.size(); ++d) {
        from = from * expected.shape[d] + source[d];
      }
      moved.as<float>()[i] = expected.as<float>()[from];
    }
    expected = moved;
  }
  auto values = EvaluateGraph(*graph, {x});
  if (!values.ok()) return values.status().ToString();
  const TensorData& y = (*values)[graph->outputs[0]];
  if (y.shape != expected.shape || y.bytes != expected.bytes) return "wrong";
  std::vector<std::string> ops;
  for (const Node& node : graph->nodes) ops.push_back(node.op);
  return absl::StrJoin(ops, " ");
}

TEST(CancelMovesTest, TransposesBecomeOne) {
  EXPECT_EQ(Left({2, 3, 4, 5},
                 {{"Transpose", {0, 2, 3, 1}}, {"Transpose", {0, 3, 1, 2}}}),
            "Relu Relu");
  EXPECT_EQ(
      Left({2, 3, 4}, {{"Transpose", {1, 2, 0}}, {"Transpose", {1, 2, 0}}}),
      "Relu Transpose Relu");
  EXPECT_EQ(Left({2, 3, 4}, {{"Transpose", {1, 2, 0}},
                             {"Transpose", {1, 2, 0}},
                             {"Transpose", {1, 2, 0}}}),
            "Relu Relu");
  EXPECT_EQ(
      Left({2, 3, 4},
           {{"Transpose", {1, 2, 0}}, {"Relu", {}}, {"Transpose", {2, 0, 1}}}),
      "Relu Relu Relu")
      << "they meet behind the Relu (sink_moves.h)";
}

TEST(CancelMovesTest, ReshapesBecomeOne) {
  EXPECT_EQ(Left({2, 3, 4}, {{"Reshape", {6, 4}}, {"Reshape", {2, 12}}}),
            "Relu Reshape Relu");
  EXPECT_EQ(Left({2, 3, 4}, {{"Reshape", {6, 4}}, {"Reshape", {2, 3, 4}}}),
            "Relu Relu");
}

TEST(CancelMovesTest, TransposeOfUnitDimensionsIsAReshape) {
  EXPECT_EQ(Left({2, 1, 1, 5}, {{"Transpose", {0, 3, 1, 2}}}),
            "Relu Reshape Relu");
  EXPECT_EQ(Left({2, 1, 4, 5},
                 {{"Transpose", {0, 2, 3, 1}}, {"Reshape", {2, 1, 4, 5}}}),
            "Relu Relu");
  EXPECT_EQ(Left({2, 3, 4, 5},
                 {{"Transpose", {0, 2, 1, 3}}, {"Reshape", {2, 12, 5}}}),
            "Relu Transpose Reshape Relu");
}

TEST(CancelMovesTest, ValuesThatOthersReadStay) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3, 4});
  SetInts(b.Node("Transpose", {"x"}, {"t"}), "perm", {1, 2, 0});
  SetInts(b.Node("Transpose", {"t"}, {"u"}), "perm", {2, 0, 1});
  b.Node("Relu", {"u"}, {"y"});
  b.Output("t");
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->tensors[graph->outputs[0]].shape, (Shape{3, 4, 2}));
}

}  // namespace
}  // namespace heddle::compiler
