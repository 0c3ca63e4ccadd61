// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: operators that are microprograms of the vector engine.
#include <string>

#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddFunction(RandomGraphBuilder* b, TensorId x) {
  if (!IsReal(b->T(x).type)) {
    return b->Append("", b->PickOp({"Abs", "Neg", "Sign"}), {x});
  }
  const std::string op = b->PickOp({"Abs",        "Ceil",
                                    "Celu",       "Elu",
                                    "Erf",        "Exp",
                                    "Floor",      "HardSwish",
                                    "Log",        "Neg",
                                    "Reciprocal", "Round",
                                    "Selu",       "Sigmoid",
                                    "Sign",       "Softplus",
                                    "Softsign",   "Sqrt",
                                    "Tanh",       "HardSigmoid",
                                    "LeakyRelu",  "ThresholdedRelu",
                                    "Sin",        "Cos",
                                    "Tan",        "Asin",
                                    "Acos",       "Atan",
                                    "Sinh",       "Cosh",
                                    "Asinh",      "Acosh",
                                    "Atanh"});
  std::map<std::string, Attribute> attributes;
  const bool alpha = op == "Elu" || op == "Selu" || op == "HardSigmoid" ||
                     op == "LeakyRelu" || op == "ThresholdedRelu";
  if (alpha && b->OneIn(2)) attributes["alpha"] = b->Real();
  if (op == "Celu" && b->OneIn(2)) attributes["alpha"] = 0.75f;
  if (op == "Selu" && b->OneIn(2)) attributes["gamma"] = b->Real();
  if (op == "HardSigmoid" && b->OneIn(2)) attributes["beta"] = b->Real();
  return b->Append("", op, {x}, attributes);
}

bool AddVariadic(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  std::vector<TensorId> in = {x};
  const int64_t count = b->Below(4);
  for (int64_t i = 0; i < count; ++i) {
    in.push_back(b->Partner(type, b->T(x).shape, true));
  }
  std::swap(in.front(), in[b->Below(in.size())]);
  const char* op = IsReal(type) ? b->PickOp({"Max", "Min", "Mean", "Sum"})
                                : b->PickOp({"Max", "Min"});
  return b->Append("", op, in);
}

bool AddPower(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type)) return false;
  if (b->Takes("Pow", 3) && b->OneIn(2)) {
    TensorData exponent = TensorData::Zeros(DataType::kFloat, {});
    *exponent.as<float>() = b->Pick<float>({2, 3, 0.5f, -1, 0});
    return b->Append("", "Pow", {x, b->Constant(exponent)});
  }
  const TensorId y = b->Partner(t.type, t.shape, true);
  if (b->Takes("PRelu", 2)) return b->Append("", "PRelu", {x, y});
  return b->Append("", "Pow", {x, y});
}

bool AddComparison(RandomGraphBuilder* b, TensorId x) {
  const TensorId y = b->Partner(b->T(x).type, b->T(x).shape, true);
  return b->Append(
      "",
      b->PickOp({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}),
      {x, y});
}

bool AddWhere(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  const TensorId condition = b->Partner(DataType::kBool, t.shape, true);
  const TensorId y = b->Partner(t.type, t.shape, true);
  const bool swap = b->OneIn(2);
  return b->Append("", "Where", {condition, swap ? y : x, swap ? x : y});
}

bool AddMod(RandomGraphBuilder* b, TensorId x) {
  const TensorId y = b->Partner(b->T(x).type, b->T(x).shape, true);
  const bool swap = b->OneIn(2);
  return b->Append("", "Mod", {swap ? y : x, swap ? x : y},
                   {{"fmod", IsReal(b->T(x).type) ? 1 : b->Below(2)}});
}

const NodeGeneratorRegistration kFunction("math_function",
                                          {"Abs",        "Ceil",
                                           "Celu",       "Elu",
                                           "Erf",        "Exp",
                                           "Floor",      "HardSwish",
                                           "Log",        "Neg",
                                           "Reciprocal", "Round",
                                           "Selu",       "Sigmoid",
                                           "Sign",       "Softplus",
                                           "Softsign",   "Sqrt",
                                           "Tanh",       "HardSigmoid",
                                           "LeakyRelu",  "ThresholdedRelu",
                                           "Sin",        "Cos",
                                           "Tan",        "Asin",
                                           "Acos",       "Atan",
                                           "Sinh",       "Cosh",
                                           "Asinh",      "Acosh",
                                           "Atanh"},
                                          AddFunction);
const NodeGeneratorRegistration kVariadic("math_variadic",
                                          {"Max", "Min", "Mean", "Sum"},
                                          AddVariadic);
const NodeGeneratorRegistration kComparison("math_comparison",
                                            {"Equal", "Less", "LessOrEqual",
                                             "Greater", "GreaterOrEqual"},
                                            AddComparison);
const NodeGeneratorRegistration kWhere("math_where", {"Where"}, AddWhere);
const NodeGeneratorRegistration kMod("math_mod", {"Mod"}, AddMod);
const NodeGeneratorRegistration kPower("math_power", {"Pow", "PRelu"},
                                       AddPower);

}  // namespace
}  // namespace heddle::compiler
