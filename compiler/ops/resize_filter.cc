// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/resize_filter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/resize.h"

namespace heddle::compiler {
namespace {

// A filter of many elements, a matrix of many weights: more than a network has.
constexpr double kFarthest = 65536;
constexpr int64_t kMostWeights = int64_t{1} << 26;

struct Filter {
  bool cubic = false;
  double a = -0.75;  // cubic_coeff_a
  bool antialias = false, exclude_outside = false;

  double reach() const { return cubic ? 2 : 1; }
  double at(double distance) const {
    const double d = std::fabs(distance);
    if (!cubic) return std::max(0.0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }
};

// Row `i` of the axis' matrix.
void FillRow(const Filter& filter, float coordinate, float scale, int64_t n,
             float* row) {
  // Far outside all weights are those of the element at the end.
  const double most = 2.0 * static_cast<double>(n) + kFarthest;
  const double x =
      std::isnan(coordinate) ? 0 : std::clamp<double>(coordinate, -most, most);
  // How much the filter is narrower than the distance between elements.
  const double shrink = filter.antialias && scale < 1 ? scale : 1;
  const double reach = filter.reach() / shrink;
  const auto first = static_cast<int64_t>(std::ceil(x - reach)),
             last = static_cast<int64_t>(std::floor(x + reach));
  std::vector<double> weights(static_cast<size_t>(n));
  double sum = 0;
  for (int64_t k = first; k <= last; ++k) {
    if (filter.exclude_outside && (k < 0 || k >= n)) continue;
    const double w = filter.at((static_cast<double>(k) - x) * shrink);
    weights[static_cast<size_t>(std::clamp<int64_t>(k, 0, n - 1))] += w;
    sum += w;
  }
  const bool divides = filter.exclude_outside || filter.antialias;
  for (int64_t k = 0; k < n; ++k) {
    row[k] =
        static_cast<float>(divides && sum != 0 ? weights[k] / sum : weights[k]);
  }
}

// The windows of the rows of a matrix [to, from] that have all weights but
// zeros.
FilteredAxis WindowsOf(const TensorData& matrix) {
  const int64_t to = matrix.shape[0], from = matrix.shape[1];
  FilteredAxis axis;
  std::vector<int64_t> first(static_cast<size_t>(to));
  axis.taps = 1;
  for (int64_t i = 0; i < to; ++i) {
    const float* row = matrix.as<float>() + i * from;
    int64_t begin = 0, end = from;
    while (begin + 1 < end && row[begin] == 0) ++begin;
    while (end > begin + 1 && row[end - 1] == 0) --end;
    first[static_cast<size_t>(i)] = begin;
    axis.taps = std::max(axis.taps, end - begin);
  }
  for (int64_t i = 0; i < to; ++i) {
    const int64_t start =
        std::min(first[static_cast<size_t>(i)], from - axis.taps);
    const float* row = matrix.as<float>() + i * from + start;
    axis.start.push_back(start);
    axis.weight.insert(axis.weight.end(), row, row + axis.taps);
  }
  return axis;
}

// A row of so many elements fits SRAM several times.
constexpr int64_t kWidest = 4096;

// An axis as windows, where these save half of the products at least.
bool HasWindows(const TensorData& matrix, int64_t after,
                FilteredAxis* windows) {
  const int64_t to = matrix.shape[0], from = matrix.shape[1];
  if (std::max({to, from, after}) > kWidest) return false;
  *windows = WindowsOf(matrix);
  return 2 * windows->taps <= from;
}

TensorId Filtered(Expansion* e, TensorId x, const FilteredAxis& rows,
                  const FilteredAxis& columns) {
  std::vector<TensorId> inputs = {x};
  std::map<std::string, Attribute> attributes;
  for (const auto& [name, axis] :
       {std::pair{"rows", &rows}, std::pair{"columns", &columns}}) {
    if (axis->start.empty()) continue;
    attributes[name] = axis->start;
    TensorData weights = TensorData::Zeros(
        DataType::kFloat,
        {static_cast<int64_t>(axis->start.size()), axis->taps});
    std::copy(axis->weight.begin(), axis->weight.end(), weights.as<float>());
    inputs.push_back(e->Constant(std::move(weights)));
  }
  return e->Add("heddle.Filter", inputs, attributes);
}

// x with its axis `axis` filtered.
TensorId FilteredAlong(Expansion* e, TensorId x, size_t axis,
                       const FilteredAxis& windows) {
  Shape shape = e->T(x).shape;
  const auto split = shape.begin() + static_cast<int64_t>(axis);
  const int64_t before = ElementCount(Shape(shape.begin(), split)),
                after = ElementCount(Shape(split + 1, shape.end())),
                from = shape[axis];
  shape[axis] = static_cast<int64_t>(windows.start.size());
  const TensorId y =
      after == 1
          ? Filtered(e, e->Reshape(x, {before, from}), {}, windows)
          : Filtered(e, e->Reshape(x, {before, from, after}), windows, {});
  return e->Reshape(y, shape);
}

}  // namespace

TensorId MultiplyAlong(Expansion* e, TensorId x, size_t axis,
                       TensorId weights) {
  if (!e->status().ok()) return x;
  Shape shape = e->T(x).shape;
  const int64_t to = e->T(weights).shape[0], from = e->T(weights).shape[1];
  const auto split = shape.begin() + static_cast<int64_t>(axis);
  const int64_t before = ElementCount(Shape(shape.begin(), split)),
                after = ElementCount(Shape(split + 1, shape.end()));
  shape[axis] = to;
  if (after == 1) {
    const TensorId turned = e->Add("Transpose", {weights});
    return e->Reshape(e->Add("MatMul", {e->Reshape(x, {before, from}), turned}),
                      shape);
  }
  const TensorId stack = e->Reshape(x, {before, from, after});
  return e->Reshape(e->Add("MatMul", {weights, stack}), shape);
}

bool IsResizedByFilter(const Graph& graph, const Node& node) {
  if (IsComputedResize(graph, node)) return true;
  const std::string mode = node.StringAttribute("mode", "nearest");
  if (mode == "nearest") return false;
  return mode == "cubic" || node.IntAttribute("antialias", 0) != 0 ||
         InputOf(graph, node, 0).type == DataType::kFloat16;
}

absl::Status ExpandResize(Expansion* e) {
  const Node& node = e->node();
  if (IsComputedResize(e->graph(), node)) return ExpandComputedResize(e);
  const Shape from = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  ASSIGN_OR_RETURN(const ResizePlan plan, ResizePlanOf(e->graph(), node));
  if (ElementCount(plan.to) == 0) {
    e->Return(0, e->Constant(TensorData::Zeros(DataType::kFloat, plan.to)),
              type);
    return absl::OkStatus();
  }
  Filter filter;
  filter.cubic = plan.mode == "cubic";
  filter.a = node.FloatAttribute("cubic_coeff_a", -0.75f);
  filter.antialias = node.IntAttribute("antialias", 0) != 0;
  filter.exclude_outside = node.IntAttribute("exclude_outside", 0) != 0;
  const std::vector<size_t> axes = ResizedAxes(plan, from);
  TensorId y = e->Wide(e->In(0));
  std::vector<TensorData> matrices;
  for (size_t axis : axes) {
    if (plan.to[axis] > kMostWeights / from[axis]) {
      return RejectNode(Rejection::kUnsupportedShape, node, "a filter from ",
                        from[axis], " to ", plan.to[axis], " elements of axis ",
                        axis, " has more than ", kMostWeights, " weights");
    }
    if (filter.antialias && plan.scales[axis] < 1 / kFarthest) {
      return RejectNode(Rejection::kUnsupportedAttribute, node, "antialias ",
                        "with a scale of ", plan.scales[axis],
                        ", it must be at least 1/65536");
    }
    TensorData weights =
        TensorData::Zeros(DataType::kFloat, {plan.to[axis], from[axis]});
    for (int64_t i = 0; i < plan.to[axis]; ++i) {
      Pace(from[axis]);
      FillRow(filter, ResizeCoordinate(plan, from, axis, i), plan.scales[axis],
              from[axis], weights.as<float>() + i * from[axis]);
    }
    matrices.push_back(std::move(weights));
  }
  for (size_t i = 0; i < axes.size() && e->status().ok(); ++i) {
    const size_t axis = axes[i];
    const Shape shape = e->T(y).shape;
    const int64_t after =
        ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
    FilteredAxis windows, rows;
    if (!HasWindows(matrices[i], after, &windows)) {
      y = MultiplyAlong(e, y, axis, e->Constant(std::move(matrices[i])));
    } else if (axis + 1 == shape.size() && i + 1 < axes.size() &&
               axes[i + 1] + 1 == axis &&
               HasWindows(matrices[i + 1], plan.to[axis], &rows)) {
      y = Filtered(e, y, rows, windows);
      ++i;
    } else {
      y = FilteredAlong(e, y, axis, windows);
    }
  }
  for (size_t axis : axes) {
    if (plan.coordinate != "tf_crop_and_resize") break;
    Shape shape(from.size(), 1);
    shape[axis] = plan.to[axis];
    TensorData outside = TensorData::Zeros(DataType::kBool, shape);
    bool any = false;
    for (int64_t i = 0; i < plan.to[axis]; ++i) {
      const float x = ResizeCoordinate(plan, from, axis, i);
      const bool inside = x >= 0 && x <= static_cast<float>(from[axis] - 1);
      outside.bytes[i] = !inside;
      any = any || !inside;
    }
    if (!any) continue;
    y = e->Add("Where", {e->Constant(std::move(outside)),
                         e->Scalar(DataType::kFloat, plan.extrapolation), y});
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
