// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample whose scales or roi are computed at run time, to the
// shape that the model declares: coordinates are computed as resize.h says,
// then elements are gathered along each axis (nearest) or multiplied with a
// matrix of weights that is computed too (resize_filter.h).
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/resize_filter.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

// Floats being computed, with operators of their own.
class Formula {
 public:
  explicit Formula(Expansion* e) : e_(e) {}

  TensorId Of(float value) { return e_->Scalar(kFloat, value); }
  // first, first + 1, ... as a column or a row.
  TensorId Counting(float first, int64_t count, bool column) {
    TensorData data =
        TensorData::Zeros(kFloat, column ? Shape{count, 1} : Shape{1, count});
    for (int64_t i = 0; i < count; ++i) {
      data.as<float>()[i] = first + static_cast<float>(i);
    }
    return e_->Constant(std::move(data));
  }
  TensorId Plus(TensorId a, TensorId b) { return e_->Add("Add", {a, b}); }
  TensorId Minus(TensorId a, TensorId b) { return e_->Add("Sub", {a, b}); }
  TensorId Times(TensorId a, TensorId b) { return e_->Add("Mul", {a, b}); }
  TensorId Over(TensorId a, TensorId b) { return e_->Add("Div", {a, b}); }
  TensorId Choose(const char* op, TensorId a, TensorId b, TensorId yes,
                  TensorId no) {
    return e_->Add("Where", {e_->Add(op, {a, b}, {}, 16), yes, no});
  }

 private:
  Expansion* const e_;
};

struct Axis {
  size_t axis = 0;
  int64_t from = 1, to = 1;
  TensorId scale = kNoTensor, begin = kNoTensor, end = kNoTensor;
};

// Element i of a list of floats.
TensorId ElementOf(Expansion* e, TensorId list, int64_t i) {
  return e->Reshape(e->Add("Slice", {list, e->Ints({i}), e->Ints({i + 1})}),
                    {});
}

// Positions in the operand as a column.
TensorId Coordinates(Expansion* e, const Axis& a, const std::string& mode) {
  Formula f(e);
  const auto from = static_cast<float>(a.from), to = static_cast<float>(a.to);
  const TensorId x = f.Counting(0, a.to, true);
  const TensorId half = f.Of(0.5f), last = f.Of(from - 1);
  if (mode == "asymmetric") return f.Over(x, a.scale);
  if (mode == "align_corners") {
    return a.to == 1 ? f.Times(x, f.Of(0))
                     : f.Over(f.Times(x, last), f.Of(to - 1));
  }
  const TensorId centre = f.Counting(0.5f, a.to, true);
  if (mode == "tf_crop_and_resize") {
    const TensorId spread = f.Minus(a.end, a.begin);
    if (a.to == 1) {
      return f.Plus(f.Times(x, f.Of(0)),
                    f.Times(f.Times(half, f.Plus(a.begin, a.end)), last));
    }
    return f.Plus(f.Times(a.begin, last),
                  f.Over(f.Times(f.Times(x, spread), last), f.Of(to - 1)));
  }
  const TensorId scaled = f.Over(centre, a.scale);
  if (mode == "tf_half_pixel_for_nn") return scaled;
  if (mode == "pytorch_half_pixel" && a.to == 1) return f.Times(x, f.Of(0));
  if (mode == "half_pixel_symmetric") {
    const TensorId adjustment = f.Over(f.Of(to), f.Times(a.scale, f.Of(from)));
    const TensorId offset =
        f.Times(f.Of(from / 2), f.Minus(f.Of(1), adjustment));
    return f.Minus(f.Plus(offset, scaled), half);
  }
  return f.Minus(scaled, half);
}

TensorId Clamped(Expansion* e, TensorId x, float high) {
  return e->Add("Clip", {x, e->Scalar(kFloat, 0), e->Scalar(kFloat, high)});
}

TensorId NearestIndices(Expansion* e, const Axis& a, TensorId x,
                        const std::string& mode) {
  Formula f(e);
  const TensorId half = f.Of(0.5f);
  TensorId rounded;
  if (mode == "ceil") {
    rounded = e->Add("Ceil", {x});
  } else if (mode == "floor") {
    rounded = e->Add("Floor", {x});
  } else if (mode == "round_prefer_ceil") {
    rounded = e->Add("Floor", {f.Plus(x, half)});
  } else if (mode == "simple") {
    rounded = f.Choose("Less", a.scale, f.Of(1), e->Add("Ceil", {x}),
                       e->Add("Floor", {x}));
  } else {
    rounded = e->Add("Ceil", {f.Minus(x, half)});
  }
  const TensorId inside = Clamped(e, rounded, static_cast<float>(a.from - 1));
  return e->Reshape(e->Cast(inside, DataType::kInt32), {a.to});
}

TensorId LinearWeights(Expansion* e, const Axis& a, TensorId x) {
  Formula f(e);
  const TensorId at = f.Counting(0, a.from, false);
  const TensorId d = e->Add(
      "Abs", {f.Minus(Clamped(e, x, static_cast<float>(a.from - 1)), at)});
  return e->Add("Relu", {f.Minus(f.Of(1), d)});
}

TensorId CubicWeights(Expansion* e, const Axis& a, TensorId x) {
  Formula f(e);
  const float c = e->node().FloatAttribute("cubic_coeff_a", -0.75f);
  const bool excludes = e->node().IntAttribute("exclude_outside", 0) != 0;
  // Elements that taps reach beyond the ends.
  const int64_t beyond = excludes ? 0 : 4;
  const int64_t count = a.from + 2 * beyond;
  const TensorId at = f.Counting(static_cast<float>(-beyond), count, false);
  const TensorId d = e->Add("Abs", {f.Minus(x, at)});
  const auto times = [&](TensorId t, float v) { return f.Times(t, f.Of(v)); };
  const auto plus = [&](TensorId t, float v) { return f.Plus(t, f.Of(v)); };
  const TensorId inner =
      plus(f.Times(plus(times(d, c + 2), -(c + 3)), f.Times(d, d)), 1);
  const TensorId outer = plus(
      f.Times(plus(f.Times(plus(times(d, c), -5 * c), d), 8 * c), d), -4 * c);
  const TensorId weights =
      f.Choose("LessOrEqual", d, f.Of(1), inner,
               f.Choose("Less", d, f.Of(2), outer, f.Of(0)));
  if (excludes) {
    const TensorId sum = e->Add("ReduceSum", {weights, e->Ints({1})});
    return f.Over(weights, sum);
  }
  // What lies beyond an end is the element there.
  TensorData ends = TensorData::Zeros(kFloat, {count, a.from});
  for (int64_t k = 0; k < count; ++k) {
    const int64_t to = std::clamp<int64_t>(k - beyond, 0, a.from - 1);
    ends.as<float>()[k * a.from + to] = 1;
  }
  return e->Add("MatMul", {weights, e->Constant(std::move(ends))});
}

absl::StatusOr<std::vector<Axis>> AxesOf(Expansion* e, const Shape& out,
                                         bool old, bool crops) {
  const Node& node = e->node();
  const Shape from = e->T(e->In(0)).shape;
  std::vector<int64_t> given(from.size());
  std::iota(given.begin(), given.end(), 0);
  given = node.IntsAttribute("axes", given);
  const auto count = static_cast<int64_t>(given.size());
  const size_t scales = old ? 1 : 2;
  const bool sized =
      !old && e->HasIn(3) && ElementCount(e->T(e->In(3)).shape) != 0;
  const auto has = [&](size_t i, int64_t n) {
    return e->HasIn(i) && e->T(e->In(i)).type == kFloat &&
           e->T(e->In(i)).shape == Shape{n};
  };
  if ((!sized && !has(scales, count)) || (crops && !has(1, 2 * count))) {
    return RejectNode(Rejection::kInvalidModel, node, "scales must have ",
                      count, " floats, roi 2 for each of them");
  }
  std::vector<Axis> axes;
  std::vector<bool> seen(from.size(), false);
  for (int64_t i = 0; i < count; ++i) {
    Axis a;
    if (!NormalizeAxis(given[i], from.size(), &a.axis) || seen[a.axis]) {
      return RejectNode(Rejection::kInvalidModel, node, "axes ",
                        ShapeToString(given), " repeat or lie outside");
    }
    seen[a.axis] = true;
    a.from = from[a.axis];
    a.to = out[a.axis];
    a.scale = sized ? e->Scalar(kFloat, static_cast<float>(a.to) /
                                            static_cast<float>(a.from))
                    : ElementOf(e, e->In(scales), i);
    if (crops) {
      a.begin = ElementOf(e, e->In(1), i);
      a.end = ElementOf(e, e->In(1), count + i);
    }
    axes.push_back(a);
  }
  // The last first, as with scales that are constant.
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.axis > b.axis; });
  return axes;
}

}  // namespace

bool IsComputedResize(const Graph& graph, const Node& node) {
  if (node.op == "Upsample" || node.opset < 11) {
    return AnyComputed(graph, node, {1});
  }
  const bool crops = node.StringAttribute("coordinate_transformation_mode",
                                          "half_pixel") == "tf_crop_and_resize";
  return AnyComputed(graph, node, {2}) ||
         (crops && AnyComputed(graph, node, {1}));
}

absl::Status ExpandComputedResize(Expansion* e) {
  const Node& node = e->node();
  const Shape from = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  ASSIGN_OR_RETURN(const Shape out,
                   NeedDeclared(*e, "scales or roi", from.size()));
  const bool old = node.op == "Upsample" || node.opset < 11;
  const std::string mode = node.StringAttribute("mode", "nearest");
  const std::string coordinate =
      old ? "asymmetric"
          : node.StringAttribute("coordinate_transformation_mode",
                                 "half_pixel");
  const std::string nearest =
      old ? "simple"
          : node.StringAttribute("nearest_mode", "round_prefer_floor");
  if (node.IntAttribute("antialias", 0) != 0 && mode != "nearest") {
    return RejectNode(Rejection::kUnsupportedAttribute, node,
                      "antialias needs scales that are known when compiling");
  }
  const bool crops = coordinate == "tf_crop_and_resize";
  ASSIGN_OR_RETURN(const auto axes, AxesOf(e, out, old, crops));
  TensorId y = mode == "nearest" ? e->In(0) : e->Wide(e->In(0));
  std::vector<std::pair<size_t, TensorId>> outside;
  for (const Axis& a : axes) {
    if (a.from < 1) {
      return RejectNode(Rejection::kUnsupportedShape, node, "dimension ",
                        a.axis, " of its input has no elements");
    }
    if (mode == "cubic") {
      RETURN_IF_ERROR(CheckTable(node, a.from + 8, a.from));
    }
    const TensorId x = Coordinates(e, a, coordinate);
    if (crops) {
      outside.emplace_back(
          a.axis,
          e->Add("Or",
                 {e->Add("Less", {x, e->Scalar(kFloat, 0)}),
                  e->Add("Greater", {x, e->Scalar(kFloat, static_cast<float>(
                                                              a.from - 1))})}));
    }
    if (a.from == 1 && a.to == 1) continue;
    if (mode == "nearest") {
      y = GatherAlong(e, y, a.axis, NearestIndices(e, a, x, nearest));
    } else {
      y = MultiplyAlong(
          e, y, a.axis,
          mode == "cubic" ? CubicWeights(e, a, x) : LinearWeights(e, a, x));
    }
    RETURN_IF_ERROR(e->status());
  }
  for (const auto& [axis, mask] : outside) {
    Shape along(from.size(), 1);
    along[axis] = out[axis];
    y = e->Add(
        "Where",
        {e->Reshape(mask, along),
         e->Scalar(e->T(y).type, node.FloatAttribute("extrapolation_value", 0)),
         y});
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
