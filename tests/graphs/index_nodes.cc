// SPDX-License-Identifier: Apache-2.0
// What jumps, of exact values: comparisons, choices, places of extremes, codes,
// small integers.
#include <algorithm>
#include <cmath>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Int64s;
using compiler::SetInt;

// The card holds int64 values up to a bound that no sum exceeds.
constexpr double kSmallInt = 100;

bool IsNumber(const Value& v) {
  return IsFixed(v) && v.exact() && v.type != DataType::kBool &&
         v.type != DataType::kDouble && v.type != DataType::kUint64;
}
bool IsInteger(const Value& v) {
  return IsFixed(v) &&
         (v.type == DataType::kInt32 || v.type == DataType::kInt64);
}
bool IsBool(const Value& v) { return IsFixed(v) && v.type == DataType::kBool; }

// One element of a constant of that type.
std::string One(DataType type, int64_t value, GraphWriter* w) {
  switch (type) {
    case DataType::kFloat:
      return w->Constant(Floats({}, {static_cast<float>(value)}));
    case DataType::kInt32:
      return w->Constant(compiler::Int32s({}, {static_cast<int32_t>(value)}));
    default:
      return w->Constant(Int64s({}, {value}));
  }
}

bool IsComparable(const Value& v) {
  return IsNumber(v) && (v.type == DataType::kFloat || IsInteger(v));
}

bool AddComparison(GraphWriter* w) {
  const Value* x = w->Draw(IsComparable);
  if (x == nullptr) return false;
  const Value* other = w->Draw([&](const Value& v) {
    return IsComparable(v) && v.type == x->type &&
           Broadcast(v.dims, x->dims).has_value();
  });
  Value y;
  y.type = DataType::kBool;
  y.magnitude = 1;
  y.dims = x->dims;
  std::string name;
  if (other == x || w->OneIn(2)) {
    name = One(x->type, w->random().Between(-1, 1), w);
  } else {
    name = other->name;
    y.dims = *Broadcast(x->dims, other->dims);
  }
  return w->Append(w->Pick({"Less", "Greater", "Equal", "LessOrEqual",
                            "GreaterOrEqual"}),
                   {x->name, name}, y) != nullptr;
}

bool AddLogic(GraphWriter* w) {
  const Value* x = w->Draw(IsBool);
  if (x == nullptr) return false;
  if (w->OneIn(3)) return w->Append("Not", {x->name}, *x) != nullptr;
  const Value* other = w->Draw([&](const Value& v) {
    return IsBool(v) && Broadcast(v.dims, x->dims).has_value();
  });
  Value y = *x;
  y.dims = *Broadcast(x->dims, other->dims);
  return w->Append(w->Pick({"And", "Or", "Xor"}), {x->name, other->name}, y) !=
         nullptr;
}

bool AddWhere(GraphWriter* w) {
  const Value* condition = w->Draw(IsBool);
  const Value* x =
      w->Draw([](const Value& v) { return IsFloat(v) || IsInteger(v); });
  if (condition == nullptr || x == nullptr) return false;
  const Value* other = w->Draw([&](const Value& v) {
    return IsFixed(v) && v.type == x->type &&
           Broadcast(v.dims, x->dims).has_value();
  });
  const auto both = Broadcast(x->dims, other->dims);
  const auto dims = Broadcast(*both, condition->dims);
  if (!dims.has_value()) return false;
  Value y = *x;
  y.dims = *dims;
  y.magnitude = std::max(x->magnitude, other->magnitude);
  y.error = std::max(x->error, other->error);
  y.fraction = std::max(x->fraction, other->fraction);
  return w->Append("Where", {condition->name, x->name, other->name}, y) !=
         nullptr;
}

// Between types, of values that each holds.
bool AddCast(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsBool(v) || (IsNumber(v) && v.magnitude <= kSmallInt);
  });
  if (x == nullptr) return false;
  Value y = *x;
  y.type = w->Pick({DataType::kFloat, DataType::kInt32, DataType::kInt64,
                    DataType::kInt32, DataType::kFloat});
  if (y.type == x->type) return false;
  if (y.type != DataType::kFloat) y.fraction = 0;
  return w->Append("Cast", {x->name}, y, [&](onnx::NodeProto* node) {
    SetInt(node, "to", static_cast<int>(y.type));
  }) != nullptr;
}

bool AddIntegers(GraphWriter* w) {
  const Value* x = w->Draw(
      [](const Value& v) { return IsInteger(v) && v.magnitude <= kSmallInt; });
  if (x == nullptr) return false;
  const Value* other = w->Draw([&](const Value& v) {
    return IsInteger(v) && v.type == x->type && v.magnitude <= kSmallInt &&
           Broadcast(v.dims, x->dims).has_value();
  });
  const std::string op = w->Pick({"Add", "Sub", "Mul", "Max", "Min", "Mod"});
  Value y = *x;
  std::string name = other->name;
  if (op == "Mod" || w->OneIn(3)) {
    const int64_t number = w->random().Between(2, 7);
    name = One(x->type, number, w);
    y.magnitude = op == "Mul"   ? x->magnitude * 7
                  : op == "Mod" ? static_cast<double>(number - 1)
                                : x->magnitude + 7;
  } else {
    y.dims = *Broadcast(x->dims, other->dims);
    y.magnitude = op == "Mul" ? x->magnitude * other->magnitude
                              : x->magnitude + other->magnitude;
  }
  if (y.magnitude > kSmallInt) return false;
  return w->Append(op, {x->name, name}, y) != nullptr;
}

bool AddArg(GraphWriter* w) {
  const Value* x = w->Draw(
      [](const Value& v) { return IsExactFloat(v) && !v.dims.empty(); });
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  const bool keep = w->OneIn(2);
  Value y = *x;
  y.type = DataType::kInt64;
  y.fraction = 0;
  y.magnitude = static_cast<double>(w->Extent(x->dims[axis]) - 1);
  if (keep) {
    y.dims[axis] = Dim();
  } else {
    y.dims.erase(y.dims.begin() + axis);
  }
  return w->Append(w->Pick({"ArgMax", "ArgMin"}), {x->name}, y,
                   [&](onnx::NodeProto* node) {
                     SetInt(node, "axis", axis);
                     SetInt(node, "keepdims", keep);
                     if (w->OneIn(3)) SetInt(node, "select_last_index", 1);
                   }) != nullptr;
}

bool AddTopK(GraphWriter* w) {
  const Value* x = w->Draw(
      [](const Value& v) { return IsExactFloat(v) && !v.dims.empty(); });
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  if (x->dims[axis].symbol >= 0) return false;
  const int64_t k = w->random().Between(1, x->dims[axis].size);
  Value values = *x, indices = *x;
  values.dims[axis] = indices.dims[axis] = {k};
  indices.type = DataType::kInt64;
  indices.fraction = 0;
  indices.magnitude = static_cast<double>(x->dims[axis].size - 1);
  values.name = w->NewName();
  indices.name = w->NewName();
  auto* node = w->AddNode("TopK", {x->name, w->Numbers({k})},
                          {values.name, indices.name});
  SetInt(node, "axis", axis);
  if (w->OneIn(2)) SetInt(node, "largest", 0);
  w->AddValue(values);
  w->AddValue(indices);
  return true;
}

bool AddOneHot(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsInt64(v) && v.magnitude <= 12 && !v.dims.empty() &&
           v.dims.size() <= 2;
  });
  if (x == nullptr) return false;
  const int64_t depth = w->random().Between(2, 6);
  Value y = *x;
  y.type = DataType::kFloat;
  y.magnitude = 2;
  y.fraction = 1;
  y.dims.push_back({depth});
  return w->Append("OneHot",
                   {x->name, w->Constant(Int64s({}, {depth})),
                    w->Constant(Floats({2}, {-0.5f, 2}))},
                   y) != nullptr;
}

// To codes of 8 bits; by a power of two, so that only ties round.
bool AddQuantize(GraphWriter* w) {
  const Value* x = w->Draw(IsExactFloat);
  if (x == nullptr) return false;
  const bool is_signed = w->OneIn(2);
  const int bits = static_cast<int>(w->Below(4));
  Value y = *x;
  y.type = is_signed ? DataType::kInt8 : DataType::kUint8;
  y.magnitude = 255;
  y.fraction = 0;
  return w->Append("QuantizeLinear",
                   {x->name, w->Constant(Floats({}, {std::ldexp(1.0f, -bits)})),
                    is_signed ? w->Constant(compiler::Int8s({}, {3}))
                              : w->Constant(compiler::Uint8s({}, {128}))},
                   y) != nullptr;
}

bool IsCode(const Value& v) {
  return IsFixed(v) &&
         (v.type == DataType::kInt8 || v.type == DataType::kUint8);
}

bool AddDequantize(GraphWriter* w) {
  const Value* x = w->Draw(IsCode);
  if (x == nullptr) return false;
  Value y = *x;
  y.type = DataType::kFloat;
  y.magnitude = 64;
  y.fraction = 2;
  return w->Append("DequantizeLinear",
                   {x->name, w->Constant(Floats({}, {0.25f})),
                    x->type == DataType::kInt8
                        ? w->Constant(compiler::Int8s({}, {-5}))
                        : w->Constant(compiler::Uint8s({}, {120}))},
                   y) != nullptr;
}

bool AddMatMulInteger(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFixed(v) && v.type == DataType::kUint8 && v.dims.size() >= 2 &&
           v.dims.back().symbol < 0;
  });
  if (x == nullptr) return false;
  const int64_t k = x->dims.back().size, m = w->random().Between(1, 5);
  std::vector<uint8_t> weights(k * m);
  for (uint8_t& v : weights) v = static_cast<uint8_t>(w->Below(256));
  Value y = *x;
  y.type = DataType::kInt32;
  y.dims.back() = {m};
  y.magnitude = 128.0 * 128 * static_cast<double>(k);
  const Value* product =
      w->Append("MatMulInteger",
                {x->name, w->Constant(compiler::Uint8s({k, m}, weights)),
                 w->Constant(compiler::Uint8s({}, {128})),
                 w->Constant(compiler::Uint8s({}, {127}))},
                y);
  if (product == nullptr) return false;
  y.magnitude = 6;
  return w->Append("Mod", {product->name, One(DataType::kInt32, 7, w)}, y) !=
         nullptr;
}

bool AddTrilu(GraphWriter* w) {
  const Value* x =
      w->Draw([](const Value& v) { return IsFloat(v) && v.dims.size() >= 2; });
  if (x == nullptr || w->opset() < 14) return false;
  return w->Append("Trilu", {x->name}, *x, [&](onnx::NodeProto* node) {
    SetInt(node, "upper", w->Below(2));
  }) != nullptr;
}

const NodeFamily kComparisonFamily("comparison", Side::kCard, AddComparison);
const NodeFamily kLogicFamily("logic", Side::kCard, AddLogic);
const NodeFamily kWhereFamily("where", Side::kCard, AddWhere);
const NodeFamily kCastFamily("cast", Side::kCard, AddCast);
const NodeFamily kIntegersFamily("integers", Side::kCard, AddIntegers);
const NodeFamily kArgFamily("arg", Side::kCard, AddArg);
const NodeFamily kTopKFamily("top k", Side::kCard, AddTopK);
const NodeFamily kOneHotFamily("one hot", Side::kCard, AddOneHot);
const NodeFamily kQuantizeFamily("quantize", Side::kCard, AddQuantize);
const NodeFamily kDequantizeFamily("dequantize", Side::kCard, AddDequantize);
const NodeFamily kMatMulIntegerFamily("matmul integer", Side::kCard,
                                      AddMatMulInteger);
const NodeFamily kTriluFamily("trilu", Side::kCard, AddTrilu);

}  // namespace
}  // namespace heddle::tests
