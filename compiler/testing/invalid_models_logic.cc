// SPDX-License-Identifier: Apache-2.0
// Logic and bits, CastLike, Shrink and the Gelu family.
#include <string>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

OperatorCases Unary(const std::string& op, DataType type, DataType wrong_type,
                    int opset = 17, const std::string& domain = "") {
  return {op,
          [=] {
            ModelBuilder b(opset);
            b.Input("x", type, {2, 3});
            b.Node(op, {"x"}, {"y"}, domain);
            b.Output("y");
            return b;
          },
          {{"a type without this function", wrong::kType,
            InputType("x", wrong_type)},
           {"an axis", wrong::kWord, Int("axis", 0)}}};
}

OperatorCases Binary(const std::string& op, DataType type, DataType wrong_type,
                     int opset = 17) {
  return {op,
          [=] {
            ModelBuilder b(opset);
            b.Input("x", type, {2, 3});
            b.Input("x2", type, {2, 3});
            auto* node = b.Node(op, {"x", "x2"}, {"y"});
            if (op == "BitShift") SetString(node, "direction", "LEFT");
            b.Output("y");
            return b;
          },
          {{"shapes that cannot be broadcast", wrong::kShapes,
            InputShape("x2", {2, 4})},
           {"operands of a type without it", wrong::kType,
            InputType("x", wrong_type)},
           {"operands of different types", wrong::kTypes,
            InputType("x2", wrong_type)},
           {"one operand", wrong::kValue, Inputs(1)},
           {"the broadcast of opset 6",
            {Rejection::kInvalidModel},
            Int("broadcast", 1)}}};
}

ModelBuilder CastLike() {
  ModelBuilder b(15);
  b.Input("x", DataType::kFloat, {2, 3});
  b.Input("like", DataType::kInt32, {1});
  b.Node("CastLike", {"x", "like"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder BiasGelu() {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("b", Floats({3}, {1, 2, 3}));
  b.Node("BiasGelu", {"x", "b"}, {"y"}, "com.microsoft");
  b.Output("y");
  return b;
}

std::vector<Mutation> OfBias() {
  return {{"a bias that is too long", wrong::kShapes,
           Value("b", Floats({4}, {1, 2, 3, 4}))},
          {"a bias of rank 2", wrong::kShapes,
           Value("b", Floats({1, 3}, {1, 2, 3}))},
          {"a bias of another type", wrong::kTypes,
           Value("b", Int32s({3}, {1, 2, 3}))}};
}

std::vector<OperatorCases> LogicCases() {
  std::vector<OperatorCases> all;
  for (const char* op : {"And", "Or", "Xor"}) {
    all.push_back(Binary(op, DataType::kBool, DataType::kFloat));
  }
  all.push_back(Unary("Not", DataType::kBool, DataType::kFloat));
  all.push_back(Binary("BitShift", DataType::kUint8, DataType::kInt8));
  all.back().own.push_back(
      {"another direction", wrong::kValue, String("direction", "UP")});
  all.back().own.push_back({"no direction", wrong::kValue, Drop("direction")});
  all.push_back(Unary("IsNaN", DataType::kFloat, DataType::kInt32));
  all.push_back(Unary("IsInf", DataType::kFloat, DataType::kInt32));
  all.back().own.push_back(
      {"a sign as a fraction", wrong::kValue, Float("detect_positive", 1)});
  all.push_back(Unary("Shrink", DataType::kFloat, DataType::kBool));
  all.back().own.push_back(
      {"a whole number as lambd", wrong::kValue, Int("lambd", 1)});
  all.push_back({"CastLike",
                 CastLike,
                 {{"no second input", wrong::kValue, Inputs(1)},
                  {"the attribute of Cast", wrong::kValue, Int("to", 6)}}});
  for (const char* op : {"QuickGelu", "FastGelu"}) {
    all.push_back(
        Unary(op, DataType::kFloat, DataType::kInt32, 17, "com.microsoft"));
  }
  all.push_back({"BiasGelu", BiasGelu, OfBias()});
  all.back().own.push_back({"no bias", wrong::kValue, Inputs(1)});
  if (FindOperator("", "Mish", 18) != nullptr) {
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
      all.push_back(Binary(op, DataType::kInt8, DataType::kFloat, 18));
    }
    all.push_back(Unary("BitwiseNot", DataType::kInt8, DataType::kFloat, 18));
    all.push_back(Unary("Mish", DataType::kFloat, DataType::kInt32, 18));
  }
  if (FindOperator("", "Gelu", 20) != nullptr) {
    all.push_back(Unary("Gelu", DataType::kFloat, DataType::kInt32, 20));
    all.back().own.push_back(
        {"another approximation", wrong::kValue, String("approximate", "erf")});
  } else {
    all.push_back(
        Unary("Gelu", DataType::kFloat, DataType::kInt32, 17, "com.microsoft"));
  }
  return all;
}

const InvalidModels kLogic(LogicCases);

}  // namespace
}  // namespace heddle::compiler
