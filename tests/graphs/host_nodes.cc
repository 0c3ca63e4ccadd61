// SPDX-License-Identifier: Apache-2.0
// What the card lacks: doubles, int64 and uint64 beyond 32 bits, tensors whose
// size the values decide. Each family begins with what the card may have
// computed, and ends with what it may read, or with a result.
#include <algorithm>
#include <cmath>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Int64s;
using compiler::SetInt;
using compiler::SetString;

const Value* Cast(const Value& x, DataType to, GraphWriter* w) {
  Value y = x;
  y.type = to;
  return w->Append("Cast", {x.name}, y, [&](onnx::NodeProto* node) {
    SetInt(node, "to", static_cast<int>(to));
  });
}

std::string Double(double value, GraphWriter* w) {
  return w->Constant(
      compiler::MakeData<double>(DataType::kDouble, {}, {value}));
}

// A node of doubles; null: it does not fit.
const Value* AddDoubleNode(const Value& x, GraphWriter* w) {
  Value y = x;
  const auto rank = static_cast<int64_t>(x.dims.size());
  const int64_t axis = rank == 0 ? 0 : w->Below(rank);
  switch (w->Below(rank == 0 ? 2 : 7)) {
    case 0:
      y.magnitude = std::max(1.0, x.magnitude);
      return w->Append(w->Pick({"Max", "Min"}), {x.name, Double(1, w)}, y);
    case 1:  // jumps
      if (!x.exact()) return nullptr;
      y.magnitude = 2.5;
      y.fraction = std::max(1, x.fraction);
      return w->Append("Mod", {x.name, Double(2.5, w)}, y,
                       [](onnx::NodeProto* node) { SetInt(node, "fmod", 1); });
    case 2: {
      const auto terms = static_cast<double>(w->Extent(x.dims[axis]));
      y.magnitude *= terms;
      y.error *= terms;
      return w->Append("CumSum", {x.name, w->Constant(Int64s({}, {axis}))}, y);
    }
    case 3: {
      y.dims[axis].size *= 2;
      return w->Append(
          "Concat", {x.name, x.name}, y,
          [&](onnx::NodeProto* node) { SetInt(node, "axis", axis); });
    }
    case 4: {
      y.magnitude += std::log(static_cast<double>(w->Extent(x.dims[axis]))) + 1;
      y.error += 1e-9;
      y.dims[axis] = Dim();
      return w->AppendWithAxes("ReduceLogSumExp", 18, x, {axis}, y);
    }
    case 5: {
      if (rank != 2) return nullptr;
      y.dims = {x.dims[1]};
      const auto terms = static_cast<double>(w->Extent(x.dims[0]));
      y.magnitude *= terms;
      y.error *= terms;
      return w->Append("Einsum", {x.name}, y, [](onnx::NodeProto* node) {
        SetString(node, "equation", "ij->j");
      });
    }
    default: {  // jumps
      if (!x.exact() || x.dims[axis].symbol >= 0) return nullptr;
      y.dims[axis] = {1};
      y.name = w->NewName();
      SetInt(
          w->AddNode("TopK", {x.name, w->Numbers({1})}, {y.name, w->NewName()}),
          "axis", axis);
      return w->AddValue(y);
    }
  }
}

bool AddDoubles(GraphWriter* w) {
  const Value* x =
      w->Draw([](const Value& v) { return IsFloat(v) && v.magnitude <= 64; });
  if (x == nullptr) return false;
  const Value* last = Cast(*x, DataType::kDouble, w);
  bool any = false;
  for (int64_t i = w->random().Between(1, 2); i > 0 && last != nullptr; --i) {
    const Value* next = AddDoubleNode(*last, w);
    any |= next != nullptr;
    if (next != nullptr) last = next;
  }
  if (!any) return false;
  Value y = *last;
  y.type = DataType::kFloat;
  y = Rounded(y);
  return w->Append("Cast", {last->name}, y, [](onnx::NodeProto* node) {
    SetInt(node, "to", 1);
  }) != nullptr;
}

bool IsSmallInt64(const Value& v) { return IsInt64(v) && v.magnitude <= 100; }

// Small int64 values by way of those that 32 bits do not hold.
bool AddWideInt64(GraphWriter* w) {
  const Value* x = w->Draw(IsSmallInt64);
  if (x == nullptr) return false;
  const int64_t factor = (int64_t{1} << 33) + w->Below(1000);
  const std::string name = w->Constant(Int64s({}, {factor}));
  Value wide = *x;
  wide.magnitude *= 1e10;
  const Value* product = w->Append("Mul", {x->name, name}, wide);
  if (w->OneIn(2)) product = w->Append("Neg", {product->name}, wide);
  if (w->OneIn(2)) {
    wide.type = DataType::kBool;
    wide.magnitude = 1;
    w->Append("Less",
              {product->name, w->Constant(Int64s({}, {w->Below(1000)}))}, wide);
  }
  Value y = *x;
  return w->Append("Div", {product->name, name}, y) != nullptr;
}

// Operators that the card has for no int64.
bool AddInt64(GraphWriter* w) {
  const Value* x = w->Draw(IsSmallInt64);
  if (x == nullptr) return false;
  Value y = *x;
  if (w->opset() >= 18 && w->OneIn(2)) {
    y.magnitude = 127;
    if (w->OneIn(3)) {
      return w->Append("BitwiseNot", {x->name}, y) != nullptr;
    }
    return w->Append(w->Pick({"BitwiseXor", "BitwiseAnd", "BitwiseOr"}),
                     {x->name, w->Constant(Int64s({}, {w->Below(100)}))},
                     y) != nullptr;
  }
  const char* op = w->Pick({"Abs", "Neg", "Sign"});
  return w->Append(op, {x->name}, y) != nullptr;
}

// Numbers without sign of 64 bits.
bool AddUint64(GraphWriter* w) {
  const Value* x = w->Draw(IsSmallInt64);
  if (x == nullptr) return false;
  const auto number = [&](uint64_t value) {
    return w->Constant(
        compiler::MakeData<uint64_t>(DataType::kUint64, {}, {value}));
  };
  const Value* positive = w->Append("Abs", {x->name}, *x);
  const Value* wide = Cast(*positive, DataType::kUint64, w);
  Value big = *wide;
  big.magnitude = 1e20;
  const Value* product =
      w->Append("Mul", {wide->name, number(0x123456789abcdefu)}, big);
  if (w->OneIn(2)) {
    product =
        w->Append("BitShift", {product->name, number(5)}, big,
                  [&](onnx::NodeProto* node) {
                    SetString(node, "direction", w->Pick({"LEFT", "RIGHT"}));
                  });
  }
  big.magnitude = 96;
  const Value* rest = w->Append("Mod", {product->name, number(97)}, big);
  return Cast(*rest, w->Pick({DataType::kInt64, DataType::kFloat}), w) !=
         nullptr;
}

// Whether the size of what is found leaves the graph: only the outermost one
// has outputs of which the run's values say how large they are.
bool MayLeave(GraphWriter* w) { return w->depth() == 0 && w->OneIn(3); }

// A float that is 0 here and there.
const Value* AddHoles(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsExactFloat(v) && !v.dims.empty() && v.magnitude >= 1 &&
           v.magnitude <= 64;
  });
  if (x == nullptr) return nullptr;
  return w->Append("Relu", {x->name}, *x);
}

bool AddNonZero(GraphWriter* w) {
  const Value* x = AddHoles(w);
  if (x == nullptr) return false;
  const int64_t most = w->Count(x->dims);
  Value found;
  found.type = DataType::kInt64;
  // (Of a symbol the count is none.)
  found.dims = {{static_cast<int64_t>(x->dims.size())}, {most}};
  found.magnitude = 100;
  found.bounded = true;
  const Value* places = w->Append("NonZero", {x->name}, found);
  if (places == nullptr) return false;
  if (MayLeave(w)) return true;
  // The elements there, and their sum.
  const std::string turned = w->NewName(), picked = w->NewName();
  w->AddNode("Transpose", {places->name}, {turned});
  w->AddNode("GatherND", {x->name, turned}, {picked});
  Value y = *x;
  y.dims = {{1}};
  y.magnitude *= static_cast<double>(most);
  y = Rounded(y);
  std::vector<std::string> inputs = {picked, w->Numbers({0})};
  return w->Append("ReduceSum", inputs, y) != nullptr;
}

bool AddCompress(GraphWriter* w) {
  const Value* x = AddHoles(w);
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  const Dim dim = x->dims[axis];
  // Which of them: where a chosen slice is above a limit.
  std::string slice = x->name;
  std::vector<int64_t> zeros;
  for (int64_t i = 0; i < static_cast<int64_t>(x->dims.size()); ++i) {
    if (i != axis) zeros.push_back(i);
  }
  Value sum = *x;
  sum.dims = {dim};
  const Value* sums = x;
  if (!zeros.empty()) {
    sums = w->AppendWithAxes(
        "ReduceMax", 18, *x, zeros, sum,
        [](onnx::NodeProto* node) { SetInt(node, "keepdims", 0); });
  }
  Value flag = sum;
  flag.type = DataType::kBool;
  flag.magnitude = 1;
  const Value* flags = w->Append(
      "Greater",
      {sums->name,
       w->Constant(Floats({}, {static_cast<float>(x->magnitude / 2)}))},
      flag);
  Value found = *x;
  found.bounded = true;
  const Value* rows =
      w->Append("Compress", {x->name, flags->name}, found,
                [&](onnx::NodeProto* node) { SetInt(node, "axis", axis); });
  if (MayLeave(w)) return true;
  Value y = *x;
  y.dims[axis] = Dim();
  y.magnitude *= static_cast<double>(w->Extent(dim));
  return w->Append("ReduceSum", {rows->name, w->Numbers({axis})}, Rounded(y)) !=
         nullptr;
}

bool AddUnique(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFixed(v) && v.exact() && v.magnitude <= 64 && !v.dims.empty() &&
           (v.type == DataType::kFloat || v.type == DataType::kInt64);
  });
  if (x == nullptr) return false;
  const int64_t most = w->Count(x->dims);
  Value values = *x;
  values.dims = {{most}};
  values.bounded = true;
  values.name = w->NewName();
  Value counts = values;
  counts.type = DataType::kInt64;
  counts.name = w->NewName();
  auto* node =
      w->AddNode("Unique", {x->name}, {values.name, "", "", counts.name});
  SetInt(node, "sorted", w->Below(2));
  w->AddValue(values);
  if (MayLeave(w)) return true;
  Value y = values;
  y.bounded = false;
  y.dims = {{1}};
  y.magnitude *= static_cast<double>(most);
  return w->Append("ReduceSum", {values.name, w->Numbers({0})}, Rounded(y)) !=
         nullptr;
}

// Places of boxes are an input; scores are constants, no two of them equal.
bool AddNonMaxSuppression(GraphWriter* w) {
  const int64_t boxes = w->random().Between(2, 6),
                classes = w->random().Between(1, 2);
  const Value* x = w->AddInput(DataType::kFloat, {{1}, {boxes}, {4}}, 0, 2, 2);
  if (x == nullptr) return false;
  compiler::TensorData scores =
      compiler::TensorData::Zeros(DataType::kFloat, {1, classes, boxes});
  for (int64_t i = 0; i < scores.count(); ++i) {
    scores.as<float>()[i] =
        static_cast<float>(w->Below(64) * scores.count() + i) / 1024;
  }
  Value found;
  found.type = DataType::kInt64;
  found.dims = {{classes * boxes}, {3}};
  found.magnitude = static_cast<double>(boxes);
  found.bounded = true;
  const Value* rows = w->Append(
      "NonMaxSuppression",
      {x->name, w->Constant(scores), w->Numbers({w->random().Between(1, 4)}),
       w->Constant(Floats({1}, {0.3725f})), w->Constant(Floats({1}, {0.25f}))},
      found);
  if (MayLeave(w)) return true;
  Value y = *rows;
  y.bounded = false;
  y.dims = {{3}};
  y.magnitude *= static_cast<double>(classes * boxes);
  return w->Append("ReduceSum", {rows->name, w->Numbers({0})}, y,
                   [](onnx::NodeProto* node) {
                     SetInt(node, "keepdims", 0);
                   }) != nullptr;
}

const NodeFamily kDoublesFamily("doubles", Side::kHost, AddDoubles);
const NodeFamily kMoreDoublesFamily("doubles 2", Side::kHost, AddDoubles);
const NodeFamily kWideInt64Family("wide int64", Side::kHost, AddWideInt64);
const NodeFamily kInt64Family("int64", Side::kHost, AddInt64);
const NodeFamily kUint64Family("uint64", Side::kHost, AddUint64);
const NodeFamily kNonZeroFamily("nonzero", Side::kHost, AddNonZero);
const NodeFamily kCompressFamily("compress", Side::kHost, AddCompress);
const NodeFamily kUniqueFamily("unique", Side::kHost, AddUnique);
const NodeFamily kNmsFamily("nms", Side::kHost, AddNonMaxSuppression);

}  // namespace
}  // namespace heddle::tests
