// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/computed_moves.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/pad.h"

namespace heddle::compiler {
namespace {

// Indices are computed in int32, modulo 2^32, as which the card holds what
// comes in; a value that does not fit is refused there.
constexpr DataType kInt32 = DataType::kInt32;

TensorId Number(Expansion* e, int64_t value) {
  TensorData data = TensorData::Zeros(kInt32, {});
  *data.as<int32_t>() = static_cast<int32_t>(value);
  return e->Constant(std::move(data));
}
TensorId Counting(Expansion* e, int64_t count) {
  TensorData data = TensorData::Zeros(kInt32, {count});
  std::iota(data.as<int32_t>(), data.as<int32_t>() + count, 0);
  return e->Constant(std::move(data));
}
// a + b * c
TensorId AddProduct(Expansion* e, TensorId a, TensorId b, TensorId c) {
  return e->Add("Add", {a, e->Add("Mul", {b, c})});
}
// 1 where `op`(a, b), else 0.
TensorId Where(Expansion* e, const char* op, TensorId a, TensorId b) {
  return e->Cast(e->Add(op, {a, b}, {}, 16), kInt32);
}
// `x`, or `y` where `condition` is 1.
TensorId Choose(Expansion* e, TensorId condition, TensorId y, TensorId x) {
  return AddProduct(e, x, condition, e->Add("Sub", {y, x}));
}
TensorId Clamped(Expansion* e, TensorId x, int64_t high) {
  const TensorId zero = Number(e, 0), top = Number(e, high);
  x = Choose(e, Where(e, "Less", x, zero), zero, x);
  return Choose(e, Where(e, "Greater", x, top), top, x);
}
// Element i of a list, as a scalar of int32.
TensorId ElementOf(Expansion* e, TensorId list, int64_t i) {
  const TensorId one = e->Add("Slice", {list, e->Ints({i}), e->Ints({i + 1})});
  return e->Reshape(e->Cast(one, kInt32), {});
}

}  // namespace

TensorId GatherAlong(Expansion* e, TensorId x, size_t axis, TensorId indices) {
  if (!e->status().ok()) return x;
  const Shape shape = e->T(x).shape, picked = e->T(indices).shape;
  const auto split = shape.begin() + static_cast<int64_t>(axis);
  const Shape outer(shape.begin(), split), inner(split + 1, shape.end());
  const int64_t before = ElementCount(outer), after = ElementCount(inner),
                count = ElementCount(picked);
  const std::vector<int64_t> exchange = {1, 0, 2};
  Shape result = outer;
  result.insert(result.end(), picked.begin(), picked.end());
  result.insert(result.end(), inner.begin(), inner.end());
  TensorId y = e->Reshape(x, {before, shape[axis], after});
  y = e->Add("Transpose", {y}, {{"perm", exchange}});
  y = e->Add("Gather", {y, e->Reshape(indices, {count})},
             {{"axis", int64_t{0}}});
  y = e->Add("Transpose", {y}, {{"perm", exchange}});
  return e->Reshape(y, result);
}

absl::StatusOr<Shape> NeedDeclared(const Expansion& e, const char* what,
                                   size_t rank) {
  const Shape* shape = e.DeclaredShape(0);
  if (shape == nullptr || shape->size() != rank) {
    return RejectNode(Rejection::kUnsupportedShape, e.node(), what,
                      " are computed at run time, and the model does not "
                      "declare the shape of the result; declare it, make them "
                      "initializers, or give the most that they may be "
                      "(--bound NAME=N, or metadata heddle.bound.NAME)");
  }
  for (int64_t d : *shape) {
    if (d < 1) {
      return RejectNode(Rejection::kUnsupportedShape, e.node(), what,
                        " are computed at run time, and the result of shape ",
                        ShapeToString(*shape), " has no elements");
    }
    RETURN_IF_ERROR(CheckTable(e.node(), d, 1));
  }
  return *shape;
}

namespace {

absl::Status CheckIndexable(const Expansion& e, const Shape& x) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int64_t d : x) {
    if (d >= 1 && d <= kMost) continue;
    return RejectNode(Rejection::kUnsupportedShape, e.node(), "parameters ",
                      "are computed at run time, and the input of shape ",
                      ShapeToString(x), " has a dimension that is not 1 to ",
                      kMost);
  }
  return absl::OkStatus();
}

// What a Slice does along an axis: scalars.
struct Range {
  TensorId start, step;
};

// The range of `axis`: of the list's element that names it, or 0 and 1.
Range RangeOf(Expansion* e, int64_t axis, int64_t rank, int64_t count) {
  const Node& node = e->node();
  TensorId start = Number(e, 0), step = Number(e, 1);
  const bool steps = HasInput(node, 4);
  for (int64_t k = 0; k < count; ++k) {
    TensorId named = Number(e, k == axis);
    if (HasInput(node, 3)) {
      const TensorId given = ElementOf(e, e->In(3), k);
      named = e->Add("Add", {Where(e, "Equal", given, Number(e, axis)),
                             Where(e, "Equal", given, Number(e, axis - rank))});
    } else if (k != axis) {
      continue;
    }
    start = Choose(e, named, ElementOf(e, e->In(1), k), start);
    if (steps) step = Choose(e, named, ElementOf(e, e->In(4), k), step);
  }
  return {start, step};
}

// Axes that a Slice may change: those of a constant list, or all.
absl::StatusOr<std::vector<bool>> SlicedAxes(const Expansion& e, size_t rank,
                                             int64_t count) {
  std::vector<bool> sliced(rank, false);
  if (!e.HasIn(3)) {
    for (size_t i = 0; i < rank && static_cast<int64_t>(i) < count; ++i) {
      sliced[i] = true;
    }
    return sliced;
  }
  const Tensor& axes = e.T(e.In(3));
  if (!axes.is_constant()) return std::vector<bool>(rank, true);
  for (int64_t given : ToInts(*axes.constant)) {
    size_t axis = 0;
    if (!NormalizeAxis(given, rank, &axis) || sliced[axis]) {
      return RejectNode(Rejection::kInvalidModel, e.node(), "axes repeat or ",
                        "lie outside an input of rank ", rank);
    }
    sliced[axis] = true;
  }
  return sliced;
}

}  // namespace

bool IsComputedSlice(const Graph& graph, const Node& node) {
  return AnyComputed(graph, node, {1, 2, 3, 4});
}

absl::Status ExpandComputedSlice(Expansion* e) {
  const Shape x = e->T(e->In(0)).shape, list = e->T(e->In(1)).shape;
  ASSIGN_OR_RETURN(const Shape out,
                   NeedDeclared(*e, "starts, ends, axes or steps", x.size()));
  RETURN_IF_ERROR(CheckIndexable(*e, x));
  for (size_t i = 1; i < e->node().inputs.size(); ++i) {
    if (!e->HasIn(i) || (list.size() == 1 && e->T(e->In(i)).shape == list)) {
      continue;
    }
    return RejectNode(Rejection::kInvalidModel, e->node(), "starts have shape ",
                      ShapeToString(list), ", input ", i, " has ",
                      ShapeToString(e->T(e->In(i)).shape));
  }
  if (list[0] > static_cast<int64_t>(x.size())) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "it has ", list[0],
                      " starts for an input of rank ", x.size());
  }
  ASSIGN_OR_RETURN(const auto sliced, SlicedAxes(*e, x.size(), list[0]));
  const auto rank = static_cast<int64_t>(x.size());
  TensorId y = e->In(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!sliced[axis]) continue;
    const Range range = RangeOf(e, axis, rank, list[0]);
    const TensorId zero = Number(e, 0), size = Number(e, x[axis]);
    TensorId start = range.start;
    start = AddProduct(e, start, Where(e, "Less", start, zero), size);
    start = Clamped(e, start, x[axis] - 1);
    TensorId index = AddProduct(e, start, Counting(e, out[axis]), range.step);
    // What lies before the first element is no index from the end.
    index = Choose(e, Where(e, "Less", index, zero), size, index);
    y = GatherAlong(e, y, static_cast<size_t>(axis), index);
    RETURN_IF_ERROR(e->status());
  }
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

bool IsComputedPad(const Graph& graph, const Node& node) {
  if (AnyComputed(graph, node, {1})) return true;
  return node.StringAttribute("mode", "constant") == "constant" &&
         AnyComputed(graph, node, {2});
}

namespace {

absl::Status CheckPadValue(const Expansion& e) {
  if (!e.HasIn(2)) return absl::OkStatus();
  const Tensor& value = e.T(e.In(2));
  const DataType type = e.T(e.In(0)).type;
  if (value.type == type && ElementCount(value.shape) == 1) {
    return absl::OkStatus();
  }
  return RejectNode(Rejection::kInvalidModel, e.node(), "the value is ",
                    DataTypeName(value.type), ShapeToString(value.shape),
                    ", must be one of ", DataTypeName(type));
}

// Of constant pads: zeros, in whose places the value is put.
absl::Status ExpandPadValue(Expansion* e) {
  ASSIGN_OR_RETURN(const Padding padding, PaddingOf(e->graph(), e->node()));
  const Shape x = e->T(e->In(0)).shape;
  std::vector<TensorId> in = {e->In(0), e->In(1)};
  if (e->HasIn(3)) in.insert(in.end(), {kNoTensor, e->In(3)});
  TensorId y = e->Add("Pad", in, {}, e->node().opset);
  const TensorId value = e->Reshape(e->In(2), {});
  for (size_t axis = 0; axis < x.size(); ++axis) {
    const int64_t before = padding.before[axis], after = padding.after[axis];
    if (before <= 0 && after <= 0) continue;
    Shape along(x.size(), 1);
    along[axis] = before + x[axis] + after;
    TensorData inside = TensorData::Zeros(DataType::kBool, along);
    for (int64_t i = 0; i < along[axis]; ++i) {
      inside.bytes[i] = i >= before && i - before < x[axis];
    }
    y = e->Add("Where", {e->Constant(std::move(inside)), y, value});
  }
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExpandComputedPad(Expansion* e) {
  RETURN_IF_ERROR(CheckPadValue(*e));
  if (e->T(e->In(1)).is_constant()) return ExpandPadValue(e);
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  const auto rank = static_cast<int64_t>(x.size());
  ASSIGN_OR_RETURN(const Shape out, NeedDeclared(*e, "pads", x.size()));
  RETURN_IF_ERROR(CheckIndexable(*e, x));
  const std::string mode = node.StringAttribute("mode", "constant");
  if (e->HasIn(3)) {
    return RejectNode(Rejection::kUnsupportedShape, node,
                      "with axes, pads must be known when compiling");
  }
  if (mode == "wrap") {
    return RejectNode(Rejection::kUnsupportedAttribute, node,
                      "mode wrap needs pads that are known when compiling");
  }
  const TensorId pads = e->In(1);
  if (e->T(pads).shape != Shape{2 * rank}) {
    return RejectNode(Rejection::kInvalidModel, node, "pads of shape ",
                      ShapeToString(e->T(pads).shape), " must have ", 2 * rank,
                      " elements");
  }
  const TensorId value =
      e->HasIn(2) ? e->Reshape(e->In(2), {}) : e->Scalar(type, 0);
  TensorId y = e->In(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t last = x[axis] - 1;
    const TensorId zero = Number(e, 0), end = Number(e, last);
    TensorId index =
        e->Add("Sub", {Counting(e, out[axis]), ElementOf(e, pads, axis)});
    const TensorId inside =
        e->Add("And", {e->Add("GreaterOrEqual", {index, zero}, {}, 16),
                       e->Add("LessOrEqual", {index, end}, {}, 16)});
    if (mode == "reflect") {
      const TensorId low = Where(e, "Less", index, zero);
      index = Choose(e, low, e->Add("Sub", {zero, index}), index);
      const TensorId high = Where(e, "Greater", index, end);
      index =
          Choose(e, high, e->Add("Sub", {Number(e, 2 * last), index}), index);
    }
    y = GatherAlong(e, y, static_cast<size_t>(axis), Clamped(e, index, last));
    if (mode == "constant") {
      Shape along(x.size(), 1);
      along[axis] = out[axis];
      y = e->Add("Where", {e->Reshape(inside, along), y, value});
    }
    RETURN_IF_ERROR(e->status());
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

bool IsComputedRange(const Graph& graph, const Node& node) {
  return AnyComputed(graph, node, {0, 1, 2});
}

absl::Status ExpandComputedRange(Expansion* e) {
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& t = e->T(e->In(i));
    if (t.type == e->T(e->In(0)).type && ElementCount(t.shape) == 1) continue;
    return RejectNode(Rejection::kInvalidModel, e->node(), "input ", i, " is ",
                      DataTypeName(t.type), ShapeToString(t.shape),
                      ", must be a scalar of ",
                      DataTypeName(e->T(e->In(0)).type));
  }
  ASSIGN_OR_RETURN(const Shape out,
                   NeedDeclared(*e, "start, limit or delta", 1));
  // Each element is the one before plus delta.
  TensorId terms = e->Reshape(e->In(0), {1});
  if (out[0] > 1) {
    const TensorId deltas =
        e->Add("Expand", {e->Reshape(e->In(2), {1}), e->Ints({out[0] - 1})});
    terms = e->Add("Concat", {terms, deltas}, {{"axis", int64_t{0}}});
  }
  e->Return(0, e->Add("CumSum", {terms, Number(e, 0)}, {}, 14),
            e->T(e->In(0)).type);
  return absl::OkStatus();
}

bool IsInnerGather(const Graph& graph, const Node& node) {
  if (!AnyComputed(graph, node, {1})) return false;
  const Shape& x = InputOf(graph, node, 0).shape;
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), x.size(), &axis)) {
    return false;
  }
  // Single elements are picked where they lie.
  const auto at = x.begin() + static_cast<int64_t>(axis);
  return ElementCount(Shape(x.begin(), at)) != 1 &&
         ElementCount(Shape(at + 1, x.end())) != 1;
}

absl::Status ExpandInnerGather(Expansion* e) {
  size_t axis = 0;
  NormalizeAxis(e->node().IntAttribute("axis", 0), e->T(e->In(0)).shape.size(),
                &axis);
  e->Return(0, GatherAlong(e, e->In(0), axis, e->In(1)), e->T(e->In(0)).type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
