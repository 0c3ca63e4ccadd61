// SPDX-License-Identifier: Apache-2.0
// Operators on single elements, of one or more operands.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

OperatorCases Unary(const std::string& op,
                    const std::vector<std::string>& floats = {}) {
  const Change no_float = op == "Abs" || op == "Neg" || op == "Relu"
                              ? InputType("x", DataType::kBool)
                              : InputType("x", DataType::kInt32);
  return {op,
          [=] {
            ModelBuilder b;
            b.Input("x", DataType::kFloat, {2, 3});
            auto* node = b.Node(op, {"x"}, {"y"});
            for (const auto& name : floats) SetFloat(node, name, 0.5f);
            b.Output("y");
            return b;
          },
          {{"a type without this function", wrong::kType, no_float},
           {"an axis", {Rejection::kInvalidModel}, Int("axis", 0)}}};
}

OperatorCases Binary(const std::string& op, bool variadic = false) {
  OperatorCases cases = {
      op,
      [=] {
        ModelBuilder b;
        b.Input("x", DataType::kFloat, {2, 3});
        b.Input("x2", DataType::kFloat, {2, 3});
        b.Node(op, {"x", "x2"}, {"y"});
        b.Output("y");
        return b;
      },
      {{"shapes that cannot be broadcast", wrong::kShapes,
        InputShape("x2", {2, 4})},
       {"shapes of other ranks that cannot be broadcast", wrong::kShapes,
        InputShape("x2", {3, 2})},
       {"an operand of bool", wrong::kType, InputType("x2", DataType::kBool)},
       {"the axis of opset 6", {Rejection::kInvalidModel}, Int("axis", 0)},
       {"the broadcast of opset 6",
        {Rejection::kInvalidModel},
        Int("broadcast", 1)}}};
  // Pow alone takes two types.
  if (op != "Pow") {
    cases.own.push_back({"operands of different types", wrong::kTypes,
                         InputType("x2", DataType::kInt32)});
  }
  if (variadic) {
    cases.variadic = true;
    cases.own.push_back(
        {"the second operand is absent", wrong::kValue, NoInput(1)});
  } else {
    cases.own.push_back({"one operand", wrong::kValue, Inputs(1)});
  }
  return cases;
}

ModelBuilder PRelu() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("s", Floats({3}, {1, 2, 3}));
  b.Node("PRelu", {"x", "s"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Clip() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("low", Floats({}, {0})).Constant("high", Floats({}, {6}));
  b.Node("Clip", {"x", "low", "high"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Cast() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  SetInt(b.Node("Cast", {"x"}, {"y"}), "to", 6);
  b.Output("y");
  return b;
}

ModelBuilder Dropout() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("r", Floats({}, {0.5}));
  b.Node("Dropout", {"x", "r"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Identity() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Identity", {"x"}, {"y"});
  b.Output("y");
  return b;
}

std::vector<OperatorCases> PointwiseCases() {
  std::vector<OperatorCases> all;
  for (const char* op : {"Abs", "Erf", "Exp", "HardSwish", "Log", "Neg", "Relu",
                         "Sigmoid", "Softplus", "Sqrt", "Tanh"}) {
    all.push_back(Unary(op));
    if (std::string(op) == "HardSwish") {
      all.back().valid = [] {
        ModelBuilder b(14);
        b.Input("x", DataType::kFloat, {2, 3});
        b.Node("HardSwish", {"x"}, {"y"});
        b.Output("y");
        return b;
      };
    }
    if (std::string(op) == "Erf") all.back().own.erase(all.back().own.begin());
  }
  for (const char* op : {"LeakyRelu", "Elu"}) {
    all.push_back(Unary(op, {"alpha"}));
  }
  all.push_back(Unary("Selu", {"alpha", "gamma"}));
  all.push_back(Unary("HardSigmoid", {"alpha", "beta"}));
  for (const char* op : {"Add", "Div", "Greater", "GreaterOrEqual", "Less",
                         "LessOrEqual", "Mul", "Pow", "Sub"}) {
    all.push_back(Binary(op));
  }
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    all.push_back(Binary(op, true));
  }
  all.push_back({"PRelu",
                 PRelu,
                 {{"no slope", wrong::kValue, Inputs(1)},
                  {"a slope that cannot be broadcast", wrong::kShapes,
                   Value("s", Floats({2}, {1, 2}))},
                  {"a slope larger than the input", wrong::kShapes,
                   Value("s", Floats({1, 1, 3}, {1, 2, 3}))},
                  {"a slope of another type", wrong::kTypes,
                   Value("s", Int32s({3}, {1, 2, 3}))}}});
  all.push_back(
      {"Clip",
       Clip,
       {{"a bound that is no scalar", wrong::kShapes,
         Value("low", Floats({2}, {0, 0}))},
        {"a bound of another type", wrong::kTypes,
         Value("high", Int32s({}, {6}))},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
        {"the attribute of opset 6",
         {Rejection::kInvalidModel},
         Float("max", 6)}}});
  all.push_back(
      {"Cast",
       Cast,
       {{"no target", wrong::kValue, Drop("to")},
        {"an unknown target",
         {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
         Int("to", 99)},
        {"a negative target",
         {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
         Int("to", -1)},
        {"an undefined target",
         {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
         Int("to", 0)},
        {"a target as a word", wrong::kValue, String("to", "INT32")}}});
  all.push_back(
      {"Dropout",
       Dropout,
       {{"a ratio that is no scalar", wrong::kShapes,
         Value("r", Floats({2}, {0, 0}))},
        {"a ratio of 1", wrong::kValue, Value("r", Floats({}, {1}))},
        {"a negative ratio", wrong::kValue, Value("r", Floats({}, {-0.5}))},
        {"an integer ratio", wrong::kType, Value("r", Int32s({}, {0}))},
        {"the attribute of opset 7",
         {Rejection::kInvalidModel},
         Float("ratio", 0.5)}}});
  all.push_back({"Identity", Identity, {}});
  return all;
}

const InvalidModels kPointwise(PointwiseCases);

}  // namespace
}  // namespace heddle::compiler
