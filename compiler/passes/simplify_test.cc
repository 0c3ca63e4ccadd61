// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/simplify.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/pass_case.h"

namespace heddle::compiler {
namespace {

std::string Left(const ModelBuilder& b) {
  return OpsAfter(b.Bytes(), Simplify);
}
std::string LeftOfIdentities(const ModelBuilder& b) {
  return OpsAfter(b.Bytes(), SimplifyIdentities);
}

// Relu, then `op` of its result and a constant, if there is one, then Exp.
ModelBuilder Between(const std::string& op, const Shape& shape,
                     const std::vector<int64_t>& operand = {},
                     const std::vector<int64_t>& perm = {}) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  b.Node("Relu", {"x"}, {"a"});
  std::vector<std::string> operands = {"a"};
  if (!operand.empty()) {
    b.Constant("c", Int64s({static_cast<int64_t>(operand.size())}, operand));
    operands.push_back("c");
  }
  onnx::NodeProto* node = b.Node(op, operands, {"b"});
  if (op == "Cast") SetInt(node, "to", 1);
  if (op == "Concat") SetInt(node, "axis", 0);
  if (!perm.empty()) SetInts(node, "perm", perm);
  b.Node("Exp", {"b"}, {"y"});
  b.Output("y");
  return b;
}

TEST(Simplify, WhatCopiesGoes) {
  for (const char* op : {"Identity", "Dropout", "Cast"}) {
    EXPECT_EQ(Left(Between(op, {2, 3})), "Relu Exp") << op;
    EXPECT_EQ(LeftOfIdentities(Between(op, {2, 3})), "Relu Exp") << op;
  }
}

TEST(Simplify, MovesThatLeaveEverythingInPlaceGo) {
  const std::vector<ModelBuilder> models = {
      Between("Reshape", {2, 3}, {2, 3}), Between("Flatten", {2, 3}),
      Between("Concat", {2, 3}),
      Between("Transpose", {2, 1, 3}, {}, {0, 1, 2})};
  for (const ModelBuilder& b : models) {
    EXPECT_EQ(Left(b), "Relu Exp");
    // Between pairs of quantization they decide on the codes.
    EXPECT_NE(LeftOfIdentities(b), "Relu Exp");
  }
  // A dimension of 1 may go anywhere, if the shape is that of before.
  EXPECT_EQ(Left(Between("Transpose", {1, 1, 3}, {}, {1, 0, 2})), "Relu Exp");
}

TEST(Simplify, MovesThatMoveStay) {
  EXPECT_EQ(Left(Between("Reshape", {2, 3}, {3, 2})), "Relu Reshape Exp");
  EXPECT_EQ(Left(Between("Transpose", {2, 2}, {}, {1, 0})),
            "Relu Transpose Exp");
  EXPECT_EQ(Left(Between("Transpose", {2, 1, 2}, {}, {2, 1, 0})),
            "Relu Transpose Exp");
  EXPECT_EQ(Left(Between("Squeeze", {1, 3}, {0})), "Relu Squeeze Exp");
}

// An output keeps its name, so its producer writes it; one that is an input
// stays a copy.
TEST(Simplify, OutputsKeepTheirNames) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"a"});
  b.Node("Exp", {"a"}, {"z"});
  b.Node("Identity", {"a"}, {"y"});
  b.Node("Identity", {"x"}, {"same"});
  b.Output("y").Output("z").Output("same");
  EXPECT_EQ(Left(b), "Relu Exp Identity");
}

TEST(Simplify, TwoOutputsOfOneProducer) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"a"});
  b.Node("Identity", {"a"}, {"y"});
  b.Node("Identity", {"a"}, {"z"});
  b.Output("y").Output("z");
  EXPECT_EQ(Left(b), "Relu Identity");
}

TEST(Simplify, AMaskThatIsReadKeepsItsDropout) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Dropout", {"x"}, {"a", "mask"});
  b.Node("Not", {"mask"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Dropout Not");
}

TEST(Simplify, WhatNobodyReadsGoes) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Relu", {"x"}, {"a"});
  b.Node("Exp", {"a"}, {"unread"});
  b.Node("Neg", {"a"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Relu Neg");
}

}  // namespace
}  // namespace heddle::compiler
