// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/sink_moves.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/passes/cancel_moves.h"
#include "compiler/passes/infer.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/pass_case.h"

namespace heddle::compiler {
namespace {

// After the pass, and what follows it in the compiler.
std::string Left(const ModelBuilder& b) {
  return OpsAfter(b.Bytes(), [](Graph* graph) {
    absl::Status status = SinkMoves(graph);
    if (status.ok()) status = CancelMoves(graph);
    if (status.ok()) status = FoldConstants(graph);
    return status;
  });
}

void Transpose(ModelBuilder* b, const std::string& x, const std::string& y,
               const std::vector<int64_t>& perm) {
  SetInts(b->Node("Transpose", {x}, {y}), "perm", perm);
}

TEST(SinkMoves, ThroughAChainToTheNext) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Constant("half", Floats({}, {0.5f})).Constant("c", Floats({3}, {1, 2, 3}));
  Transpose(&b, "x", "a", {0, 2, 1});
  b.Node("Exp", {"a"}, {"b"});
  b.Node("Mul", {"b", "half"}, {"c0"});
  b.Node("Add", {"c0", "c"}, {"d"});
  Transpose(&b, "d", "e", {0, 2, 1});
  b.Node("MatMul", {"e", "a0"}, {"y"});
  b.Constant("a0", Floats({4, 1}, {1, 2, 3, 4}));
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Mul Add Reshape MatMul");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {2, 3, 4}, 3)});
}

TEST(SinkMoves, TwoOfOneKindMeet) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3}).Input("z", DataType::kFloat, {2, 3});
  Transpose(&b, "x", "a", {1, 0});
  Transpose(&b, "z", "b", {1, 0});
  b.Node("Sub", {"a", "b"}, {"c"});
  b.Node("MatMul", {"c", "x"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Sub Transpose MatMul");
}

TEST(SinkMoves, OfOneOperandTwice) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  Transpose(&b, "x", "a", {1, 0});
  b.Node("Mul", {"a", "a"}, {"b"});
  Transpose(&b, "b", "c", {1, 0});
  b.Node("Softmax", {"c"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Mul Reshape Softmax");
}

// A Reshape that is undone, and one that keeps two operators apart.
TEST(SinkMoves, Reshapes) {
  for (bool undone : {true, false}) {
    for (bool behind : {true, false}) {
      ModelBuilder b;
      b.Input("x", DataType::kFloat, {2, 6});
      b.Constant("s", Int64s({3}, {2, 3, 2}));
      b.Constant("t", Int64s({2}, undone ? std::vector<int64_t>{2, 6}
                                         : std::vector<int64_t>{3, 4}));
      b.Constant("half", Floats({1}, {0.5f}));
      b.Node(behind ? "Exp" : "Softmax", {"x"}, {"w"});
      b.Node("Reshape", {"w", "s"}, {"a"});
      b.Node("Mul", {"a", "half"}, {"b"});
      b.Node("Reshape", {"b", "t"}, {"c"});
      b.Node("Softmax", {"c"}, {"y"});
      b.Output("y");
      EXPECT_EQ(Left(b),
                std::string(behind ? "Exp" : "Softmax") +
                    (undone || behind ? " Mul Reshape Softmax"
                                      : " Reshape Mul Reshape Softmax"))
          << undone << behind;
    }
  }
}

TEST(SinkMoves, ThatDoNotPayStay) {
  {
    ModelBuilder b;  // nothing behind it
    b.Input("x", DataType::kFloat, {2, 3});
    Transpose(&b, "x", "a", {1, 0});
    b.Node("Exp", {"a"}, {"b"});
    b.Node("Softmax", {"b"}, {"y"});
    b.Output("y");
    EXPECT_EQ(Left(b), "Transpose Exp Softmax");
  }
  {
    ModelBuilder b;  // somebody else reads it
    b.Input("x", DataType::kFloat, {2, 3});
    Transpose(&b, "x", "a", {1, 0});
    b.Node("Exp", {"a"}, {"b"});
    Transpose(&b, "b", "c", {1, 0});
    b.Node("Softmax", {"c"}, {"y"});
    b.Node("Softmax", {"a"}, {"z"});
    b.Output("y");
    b.Output("z");
    EXPECT_EQ(Left(b), "Transpose Exp Transpose Softmax Softmax");
  }
  {
    ModelBuilder b;  // an operand that is not moved
    b.Input("x", DataType::kFloat, {2, 3}).Input("z", DataType::kFloat, {3, 2});
    Transpose(&b, "x", "a", {1, 0});
    b.Node("Add", {"a", "z"}, {"b"});
    Transpose(&b, "b", "c", {1, 0});
    b.Node("Softmax", {"c"}, {"y"});
    b.Output("y");
    EXPECT_EQ(Left(b), "Transpose Add Transpose Softmax");
  }
  {
    ModelBuilder b;  // other permutations
    b.Input("x", DataType::kFloat, {2, 2, 2});
    Transpose(&b, "x", "a", {1, 0, 2});
    Transpose(&b, "x", "b", {2, 1, 0});
    b.Node("Add", {"a", "b"}, {"c"});
    b.Node("Softmax", {"c"}, {"y"});
    b.Output("y");
    EXPECT_EQ(Left(b), "Transpose Transpose Add Softmax");
  }
}

// A broadcast of what is moved would be moved larger; a Reshape does not go
// through one at all.
TEST(SinkMoves, NotThroughBroadcasts) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3, 2});
  b.Constant("c", Floats({4, 1, 1}, {1, 2, 3, 4}));
  Transpose(&b, "x", "a", {1, 0});
  b.Node("Add", {"a", "c"}, {"b"});
  Transpose(&b, "b", "d", {0, 2, 1});
  b.Node("Softmax", {"d"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Transpose Add Transpose Softmax");
  ModelBuilder r;
  r.Input("x", DataType::kFloat, {6});
  r.Constant("s", Int64s({2}, {2, 3})).Constant("t", Int64s({2}, {3, 2}));
  r.Constant("c", Floats({3}, {1, 2, 3}));
  r.Node("Reshape", {"x", "s"}, {"a"});
  r.Node("Add", {"a", "c"}, {"b"});
  r.Node("Reshape", {"b", "t"}, {"d"});
  r.Node("Softmax", {"d"}, {"y"});
  r.Output("y");
  EXPECT_EQ(Left(r), "Reshape Add Reshape Softmax");
}

// One element of more dimensions than there were before the Reshape would add
// them to the result.
TEST(SinkMoves, OneElementOfManyDimensions) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {6});
  b.Constant("s", Int64s({3}, {1, 2, 3})).Constant("t", Int64s({2}, {3, 2}));
  b.Constant("c", Floats({1, 1, 1}, {2}));
  b.Node("Reshape", {"x", "s"}, {"a"});
  b.Node("Mul", {"a", "c"}, {"b"});
  b.Node("Reshape", {"b", "t"}, {"d"});
  b.Node("Softmax", {"d"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Reshape Mul Reshape Softmax");
}

TEST(SinkMoves, NotOfNothing) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {0, 6});
  b.Constant("axes", Int64s({1}, {2}));
  b.Node("Exp", {"x"}, {"w"});
  b.Node("Unsqueeze", {"w", "axes"}, {"a"});
  b.Node("Neg", {"a"}, {"n"});
  b.Node("Squeeze", {"n", "axes"}, {"c"});
  b.Node("Abs", {"c"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Unsqueeze Neg Squeeze Abs");
}

// The axis of a scale is one of the tensor that is quantized.
TEST(SinkMoves, NotThroughScalesOfAnAxis) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("scale", Floats({2}, {0.5f, 0.25f}));
  b.Constant("zero", Int8s({2}, {0, 0}));
  Transpose(&b, "x", "a", {1, 0});
  b.Node("QuantizeLinear", {"a", "scale", "zero"}, {"q"});  // axis 1
  Transpose(&b, "q", "y", {1, 0});
  b.Output("y");
  EXPECT_EQ(Left(b), "Transpose QuantizeLinear Transpose");
}

// Channels are those of the second axis: PatchTST normalizes rows so.
TEST(SinkMoves, NotThroughChannels) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 4, 3});
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    b.Constant(name, Floats({3}, {1, 2, 3}));
  }
  Transpose(&b, "x", "a", {0, 2, 1});
  b.Node("BatchNormalization", {"a", "scale", "bias", "mean", "variance"},
         {"n"});
  Transpose(&b, "n", "y", {0, 2, 1});
  b.Output("y");
  EXPECT_EQ(Left(b), "Transpose BatchNormalization Transpose");
}

// ... also if there is only one.
TEST(SinkMoves, NotThroughOneChannel) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("s", Int64s({3}, {2, 1, 3})).Constant("t", Int64s({2}, {3, 2}));
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    b.Constant(name, Floats({1}, {1.5f}));
  }
  b.Node("Exp", {"x"}, {"w"});
  b.Node("Reshape", {"w", "s"}, {"a"});
  b.Node("BatchNormalization", {"a", "scale", "bias", "mean", "variance"},
         {"n"});
  b.Node("Reshape", {"n", "t"}, {"c"});
  b.Node("Abs", {"c"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Reshape BatchNormalization Reshape Abs");
}

}  // namespace
}  // namespace heddle::compiler
