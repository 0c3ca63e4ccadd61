// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: logic, bits, and what is near them.
#include <map>
#include <string>

#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddLogic(RandomGraphBuilder* b, TensorId x) {
  const Shape shape = b->T(x).shape;
  const TensorId first = b->T(x).type == DataType::kBool
                             ? x
                             : b->Partner(DataType::kBool, shape, false);
  if (b->T(first).is_constant()) return false;
  if (b->Takes("Not", 4)) return b->Append("", "Not", {first});
  const TensorId second = b->Partner(DataType::kBool, b->T(first).shape, true);
  const bool swap = b->OneIn(2);
  return b->Append("", b->PickOp({"And", "Or", "Xor"}),
                   {swap ? second : first, swap ? first : second});
}

bool AddSpecial(RandomGraphBuilder* b, TensorId x) {
  if (!IsReal(b->T(x).type)) return false;
  if (b->Takes("IsNaN", 2)) return b->Append("", "IsNaN", {x});
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["detect_positive"] = b->Below(2);
  if (b->OneIn(2)) attributes["detect_negative"] = b->Below(2);
  return b->Append("", "IsInf", {x}, attributes);
}

bool AddBits(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  if (IsReal(type) || type == DataType::kBool) return false;
  if (b->Takes("BitwiseNot", 4)) return b->Append("", "BitwiseNot", {x});
  const TensorId y = b->Partner(type, b->T(x).shape, true);
  const bool swap = b->OneIn(2);
  const std::string op =
      b->PickOp({"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"});
  std::map<std::string, Attribute> attributes;
  if (op == "BitShift") {
    attributes["direction"] = std::string(b->OneIn(2) ? "LEFT" : "RIGHT");
  }
  return b->Append("", op, {swap ? y : x, swap ? x : y}, attributes);
}

bool AddShrink(RandomGraphBuilder* b, TensorId x) {
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["lambd"] = b->Real();
  if (b->OneIn(2)) attributes["bias"] = b->Real();
  return b->Append("", "Shrink", {x}, attributes);
}

bool AddCastLike(RandomGraphBuilder* b, TensorId x) {
  const TensorId like = b->computed()[static_cast<size_t>(
      b->Below(static_cast<int64_t>(b->computed().size())))];
  return b->Append("", "CastLike", {x, like});
}

bool AddGelu(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type)) return false;
  std::map<std::string, Attribute> attributes;
  if (b->Takes("Mish", 5)) return b->Append("", "Mish", {x});
  const std::string op =
      b->PickOp({"Gelu", "BiasGelu", "FastGelu", "QuickGelu"});
  std::vector<TensorId> in = {x};
  if (op == "BiasGelu" || (op == "FastGelu" && b->OneIn(2))) {
    if (t.shape.empty()) return false;
    in.push_back(
        b->Constant(b->Values(t.type, {t.shape.back()}, 1, b->specials())));
  }
  if (op == "QuickGelu" && b->OneIn(2)) attributes["alpha"] = b->Real();
  if (op == "Gelu" && b->OneIn(2)) {
    if (b->OneIn(2)) attributes["approximate"] = std::string("tanh");
    if (b->Append("", op, in, attributes)) return true;
    attributes.clear();
  }
  return b->Append("com.microsoft", op, in, attributes);
}

const NodeGeneratorRegistration kLogic("logic", {"And", "Or", "Xor", "Not"},
                                       AddLogic);
const NodeGeneratorRegistration kSpecial("logic_special", {"IsNaN", "IsInf"},
                                         AddSpecial);
const NodeGeneratorRegistration kBits("logic_bits",
                                      {"BitShift", "BitwiseAnd", "BitwiseOr",
                                       "BitwiseXor", "BitwiseNot"},
                                      AddBits);
const NodeGeneratorRegistration kShrink("math_shrink", {"Shrink"}, AddShrink);
const NodeGeneratorRegistration kCastLike("move_cast_like", {"CastLike"},
                                          AddCastLike);
const NodeGeneratorRegistration kGelu("math_gelu",
                                      {"Gelu", "BiasGelu", "FastGelu",
                                       "QuickGelu", "Mish"},
                                      AddGelu);

}  // namespace
}  // namespace heddle::compiler
