// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/pass_case.h"

namespace heddle::compiler {
namespace {

std::string Left(const ModelBuilder& b, const Supposed* supposed = nullptr) {
  return OpsAfter(b.Bytes(), [supposed](Graph* graph) {
    return ApplyAlgebra(graph, supposed);
  });
}

// `op` of x and a constant (or the other way round), between an Exp that gives
// it its operand and a Sigmoid that reads it.
std::string WithFloat(const std::string& op, const TensorData& constant,
                      bool constant_first = false) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3}).Constant("c", constant);
  b.Node("Exp", {"x"}, {"a"});
  if (constant_first) {
    b.Node(op, {"c", "a"}, {"t"});
  } else {
    b.Node(op, {"a", "c"}, {"t"});
  }
  b.Node("Sigmoid", {"t"}, {"y"});
  b.Output("y");
  return Left(b);
}

std::string WithInteger(const std::string& op, DataType type,
                        const TensorData& constant) {
  ModelBuilder b(18);
  b.Input("x", type, {2, 2}).Constant("c", constant);
  b.Node("Identity", {"x"}, {"a"});
  auto* node = b.Node(op, {"a", "c"}, {"t"});
  if (op == "BitShift") SetString(node, "direction", "LEFT");
  b.Node("Identity", {"t"}, {"y"});
  b.Output("y");
  return Left(b);
}

TEST(Algebra, NeutralOperandsOfFloats) {
  EXPECT_EQ(WithFloat("Mul", Floats({}, {1})), "Exp Sigmoid");
  EXPECT_EQ(WithFloat("Mul", Floats({3}, {1, 1, 1}), true), "Exp Sigmoid");
  EXPECT_EQ(WithFloat("Div", Floats({1, 1}, {1})), "Exp Sigmoid");
  EXPECT_EQ(WithFloat("Sub", Floats({}, {0})), "Exp Sigmoid");
  EXPECT_EQ(WithFloat("Add", Floats({}, {-0.0f})), "Exp Sigmoid");
  // Not quite.
  EXPECT_EQ(WithFloat("Mul", Floats({3}, {1, 1, 1.0000001f})),
            "Exp Mul Sigmoid");
  EXPECT_EQ(WithFloat("Add", Floats({}, {0})), "Exp Add Sigmoid") << "-0 + 0";
  EXPECT_EQ(WithFloat("Sub", Floats({}, {-0.0f})), "Exp Sub Sigmoid");
  EXPECT_EQ(WithFloat("Div", Floats({}, {1}), true), "Exp Div Sigmoid");
  EXPECT_EQ(WithFloat("Sub", Floats({}, {0}), true), "Exp Sub Sigmoid");
  EXPECT_EQ(WithFloat("Mul", Floats({4, 1, 1}, {1, 1, 1, 1})),
            "Exp Mul Sigmoid")
      << "it makes the result larger";
}

// Zeros of both signs, infinities and the smallest numbers go through.
TEST(Algebra, SpecialFloats) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto& [op, c] : std::vector<std::pair<std::string, float>>{
           {"Mul", 1}, {"Div", 1}, {"Sub", 0}, {"Add", -0.0f}}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {6}).Constant("c", Floats({}, {c}));
    b.Node("Neg", {"x"}, {"a"});
    b.Node(op, {"a", "c"}, {"t"});
    b.Node("Abs", {"t"}, {"y"});
    b.Output("t");
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(), {Floats({6}, {0.0f, -0.0f, inf, -inf, 1e-45f, -1e-39f})});
  }
}

TEST(Algebra, NeutralOperandsOfIntegers) {
  const TensorData zero = Int32s({}, {0}), one = Int32s({}, {1}),
                   ones = Int32s({}, {-1});
  EXPECT_EQ(WithInteger("Add", DataType::kInt32, zero), "Identity Identity");
  EXPECT_EQ(WithInteger("Sub", DataType::kInt32, zero), "Identity Identity");
  EXPECT_EQ(WithInteger("Mul", DataType::kInt32, one), "Identity Identity");
  EXPECT_EQ(WithInteger("Div", DataType::kInt32, one), "Identity Identity");
  EXPECT_EQ(WithInteger("BitwiseAnd", DataType::kInt32, ones),
            "Identity Identity");
  EXPECT_EQ(WithInteger("BitwiseOr", DataType::kInt32, zero),
            "Identity Identity");
  EXPECT_EQ(WithInteger("BitwiseXor", DataType::kInt32, zero),
            "Identity Identity");
  EXPECT_EQ(WithInteger("BitShift", DataType::kUint8, Uint8s({}, {0})),
            "Identity Identity");
  EXPECT_EQ(WithInteger("Add", DataType::kInt32, one), "Identity Add Identity");
  EXPECT_EQ(WithInteger("BitwiseAnd", DataType::kInt32, one),
            "Identity BitwiseAnd Identity");
  const TensorData yes = MakeData<uint8_t>(DataType::kBool, {}, {1}),
                   no = MakeData<uint8_t>(DataType::kBool, {}, {0});
  EXPECT_EQ(WithInteger("And", DataType::kBool, yes), "Identity Identity");
  EXPECT_EQ(WithInteger("Or", DataType::kBool, no), "Identity Identity");
  EXPECT_EQ(WithInteger("Xor", DataType::kBool, no), "Identity Identity");
  EXPECT_EQ(WithInteger("Or", DataType::kBool, yes), "Identity Or Identity");
}

std::string Chain(DataType type, const std::vector<std::string>& ops) {
  ModelBuilder b(18);
  b.Input("x", type, {2, 3});
  std::string at = "x";
  for (const std::string& op : ops) {
    const std::string to = at + "'";
    b.Node(op, {at}, {to});
    at = to;
  }
  b.Node("Identity", {at}, {"y"});
  b.Output("y");
  return Left(b);
}

TEST(Algebra, OperatorsOfThemselves) {
  const DataType real = DataType::kFloat;
  EXPECT_EQ(Chain(real, {"Neg", "Neg"}), "Identity");
  EXPECT_EQ(Chain(real, {"Neg", "Neg", "Neg"}), "Neg Identity");
  EXPECT_EQ(Chain(DataType::kBool, {"Not", "Not"}), "Identity");
  EXPECT_EQ(Chain(DataType::kInt32, {"BitwiseNot", "BitwiseNot"}), "Identity");
  for (const char* op : {"Abs", "Relu", "Floor", "Ceil", "Round", "Sign"}) {
    EXPECT_EQ(Chain(real, {op, op, op}), std::string(op) + " Identity");
  }
  EXPECT_EQ(Chain(real, {"Neg", "Abs"}), "Abs Identity");
  EXPECT_EQ(Chain(real, {"Abs", "Neg"}), "Abs Neg Identity");
  EXPECT_EQ(Chain(real, {"Exp", "Exp"}), "Exp Exp Identity");
}

TEST(Algebra, OneTensorTwice) {
  ModelBuilder b(18);
  b.Input("x", DataType::kBool, {4}).Input("c", DataType::kBool, {4});
  b.Node("And", {"x", "x"}, {"a"});
  b.Node("Or", {"a", "a"}, {"o"});
  b.Node("Where", {"c", "o", "o"}, {"w"});
  b.Node("Xor", {"w", "x"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Xor");
}

std::string Casts(const std::vector<DataType>& types) {
  ModelBuilder b(18);
  b.Input("x", types[0], {2, 3});
  std::string at = "x";
  for (size_t i = 1; i < types.size(); ++i) {
    const std::string to = at + "'";
    SetInt(b.Node("Cast", {at}, {to}), "to", static_cast<int64_t>(types[i]));
    at = to;
  }
  b.Node("Identity", {at}, {"y"});
  b.Output("y");
  return Left(b);
}

TEST(Algebra, CastsThatLoseNothing) {
  using T = DataType;
  EXPECT_EQ(Casts({T::kInt8, T::kFloat, T::kInt8}), "Identity");
  EXPECT_EQ(Casts({T::kInt8, T::kInt32, T::kFloat}), "Cast Identity");
  EXPECT_EQ(Casts({T::kFloat16, T::kFloat, T::kFloat16}), "Identity");
  EXPECT_EQ(Casts({T::kUint8, T::kInt32, T::kInt64, T::kFloat}),
            "Cast Identity");
  EXPECT_EQ(Casts({T::kFloat, T::kFloat16, T::kFloat}), "Cast Cast Identity");
  EXPECT_EQ(Casts({T::kInt32, T::kFloat, T::kInt32}), "Cast Cast Identity");
  EXPECT_EQ(Casts({T::kInt8, T::kUint8, T::kInt32}), "Cast Cast Identity");
}

TEST(Algebra, MovesOfNothing) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("shape", Int64s({2}, {2, 3})).Constant("one", Int64s({2}, {1, 1}));
  b.Constant("zero", Int64s({2}, {0, 0})).Constant("end", Int64s({2}, {9, 9}));
  b.Constant("axes", Int64s({2}, {0, 1}));
  b.Constant("none", Int64s({4}, {0, 0, 0, 0}));
  b.Node("Exp", {"x"}, {"a"});
  b.Node("Expand", {"a", "shape"}, {"b"});
  b.Node("Tile", {"b", "one"}, {"c"});
  b.Node("Slice", {"c", "zero", "end"}, {"d"});
  b.Node("Slice", {"d", "zero", "end", "axes", "one"}, {"e"});
  b.Node("Pad", {"e", "none"}, {"f"});
  b.Node("Sum", {"f"}, {"g"});
  b.Node("Max", {"g"}, {"h"});
  b.Node("Sigmoid", {"h"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Exp Sigmoid");
}

TEST(Algebra, ThatReverseOrCutStay) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3});
  b.Constant("last", Int64s({1}, {-1})).Constant("begin", Int64s({1}, {-9}));
  b.Constant("axis", Int64s({1}, {0})).Constant("pads", Int64s({2}, {1, -1}));
  b.Node("Slice", {"x", "last", "begin", "axis", "last"}, {"a"});
  b.Node("Pad", {"a", "pads"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Slice Pad");
}

// A cache of keys before the first token.
TEST(Algebra, ConcatLeavesOutWhatIsEmpty) {
  ModelBuilder b;
  b.Input("past", DataType::kFloat, {2, 0})
      .Input("x", DataType::kFloat, {2, 3});
  b.Node("Exp", {"x"}, {"a"});
  SetInt(b.Node("Concat", {"past", "a", "past", "x"}, {"y"}), "axis", -1);
  SetInt(b.Node("Concat", {"past", "past"}, {"z"}), "axis", 1);
  b.Output("y").Output("z");
  std::vector<size_t> operands;
  OpsAfter(b.Bytes(), [&](Graph* graph) {
    const absl::Status status = ApplyAlgebra(graph, nullptr);
    for (const Node& node : graph->nodes) {
      if (node.op == "Concat") operands.push_back(node.inputs.size());
    }
    return status;
  });
  // What has no elements at all stays what it is.
  std::sort(operands.begin(), operands.end());
  EXPECT_EQ(operands, (std::vector<size_t>{2, 2}));
  ModelBuilder card;
  card.Input("x", DataType::kFloat, {2, 3});
  card.Constant("past", Floats({2, 0}, {}));
  SetInt(card.Node("Concat", {"past", "x", "x"}, {"y"}), "axis", 1);
  card.Output("y");
  ExpectCardEqualsReference(card.Bytes(), {Floats({2, 3}, {1, 2, 3, 4, 5, 6})});
}

TEST(Algebra, OutputsOfTheGraphKeepTheirNames) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3}).Constant("c", Floats({}, {1}));
  b.Node("Mul", {"x", "c"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Left(b), "Identity");
}

// What stands for weights that come later says nothing.
TEST(Algebra, SupposedConstants) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3}).Constant("c", Floats({}, {1}));
  b.Node("Mul", {"x", "c"}, {"t"});
  b.Node("Exp", {"t"}, {"y"});
  b.Output("y");
  Supposed supposed;
  const std::string ops = OpsAfter(b.Bytes(), [&](Graph* graph) {
    supposed.constants = {graph->FindTensor("c")};
    return ApplyAlgebra(graph, &supposed);
  });
  EXPECT_EQ(ops, "Mul Exp");
}

}  // namespace
}  // namespace heddle::compiler
