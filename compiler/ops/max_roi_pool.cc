// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool, made of masks: a region is divided into bins by places that are
// computed, and each bin has the largest of its elements, or 0 if it has none.
//
//   x     [images, channels, height, width]
//   rois  [regions, 5]: image, left, top, right, bottom; both ends belong to it
//   y     [regions, channels, pooled height, pooled width]
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/rank_rule.h"
#include "compiler/ops/sampling.h"

namespace heddle::compiler {
namespace {

TensorId Counting(Expansion* e, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return e->Numbers({1, count}, values);
}

// Bool [regions, bins, size]: the places of each bin along an axis.
TensorId BinsOf(const FloatMath& m, TensorId rois, int64_t first_column,
                float scale, int64_t bins, int64_t size) {
  Expansion* e = m.expansion();
  const int64_t regions = e->T(rois).shape[0];
  const auto edge = [&](int64_t column) {
    const TensorId x = m.Scaled(
        e->Add("Slice",
               {rois, e->Ints({column}), e->Ints({column + 1}), e->Ints({1})}),
        scale);
    // To nearest, halves away from zero.
    return m.Times(e->Add("Sign", {x}),
                   m.Floor(m.Offset(e->Add("Abs", {x}), 0.5f)));
  };
  const TensorId begin = edge(first_column);
  const TensorId length = e->Add(
      "Max",
      {m.Offset(m.Minus(edge(first_column + 2), begin), 1), m.Number(1)});
  const TensorId bin =
      e->Add("Div", {length, m.Number(static_cast<float>(bins))});
  const TensorId number = Counting(e, bins);
  const TensorId low = m.Plus(m.Floor(m.Times(number, bin)), begin);
  const TensorId high =
      m.Plus(e->Add("Ceil", {m.Times(m.Offset(number, 1), bin)}), begin);
  const TensorId place = Counting(e, size);
  const Shape each = {regions, bins, 1};
  return e->Add(
      "And", {e->Add("GreaterOrEqual", {place, e->Reshape(low, each)}, {}, 16),
              e->Add("Less", {place, e->Reshape(high, each)})});
}

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, rois = e->T(e->In(1)).shape;
  const auto pooled = node.IntsAttribute("pooled_shape", {});
  if (rois.size() != 2 || rois[1] != 5) {
    return RejectNode(Rejection::kMismatchingShape, node, "rois of ",
                      ShapeToString(rois), ", must be of [regions, 5]");
  }
  const int64_t regions = rois[0], channels = x[1];
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return RejectNode(Rejection::kInvalidModel, node, "pooled_shape ",
                      ShapeToString(pooled), " must be two sizes");
  }
  const auto check = [&](int64_t bins, int64_t size) -> absl::Status {
    RETURN_IF_ERROR(CheckTable(node, regions, bins));
    return CheckTable(node, regions * bins, size);
  };
  RETURN_IF_ERROR(check(pooled[0], x[2]));
  RETURN_IF_ERROR(check(pooled[1], x[3]));
  const FloatMath m(e);
  const TensorId corners = e->Wide(e->In(1));
  const float scale = node.FloatAttribute("spatial_scale", 1);
  const TensorId h = BinsOf(m, corners, 2, scale, pooled[0], x[2]);
  const TensorId w = BinsOf(m, corners, 1, scale, pooled[1], x[3]);
  const TensorId image = e->Reshape(
      e->Cast(
          e->Add("Slice", {corners, e->Ints({0}), e->Ints({1}), e->Ints({1})}),
          DataType::kInt32),
      {regions});
  TensorId y =
      e->Add("Gather", {e->Wide(e->In(0)), image}, {{"axis", int64_t{0}}});
  const auto largest = [&](TensorId mask, TensorId values, int64_t axis) {
    const TensorId chosen = m.Where(
        mask, values, m.Number(-std::numeric_limits<float>::infinity()));
    return e->Add(
        "ReduceMax", {chosen},
        {{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{0}}});
  };
  // Along rows, then along columns.
  y = largest(e->Reshape(w, {regions, 1, 1, pooled[1], x[3]}),
              e->Reshape(y, {regions, channels, x[2], 1, x[3]}), 4);
  y = largest(e->Reshape(h, {regions, 1, pooled[0], x[2], 1}),
              e->Reshape(y, {regions, channels, 1, x[2], pooled[1]}), 3);
  const auto any = [&](TensorId mask, const Shape& shape) {
    const TensorId some =
        e->Add("ReduceMax", {e->Cast(mask, e->Real())},
               {{"axes", std::vector<int64_t>{2}}, {"keepdims", int64_t{0}}});
    return e->Reshape(e->Add("Greater", {some, m.Number(0)}), shape);
  };
  y = m.Where(e->Add("And", {any(h, {regions, 1, pooled[0], 1}),
                             any(w, {regions, 1, 1, pooled[1]})}),
              y, m.Number(0));
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

const ExpandedOperator kMaxRoiPool(
    Define("MaxRoiPool", 1, kMaxOpset)
        .Inputs(2, 2, kRealsAndDouble)
        .Attr("pooled_shape", AttributeKind::kInts, true)
        .Attr("spatial_scale", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedShape, "input has rank 4", RankIs<4, 4>),
    Expand);

}  // namespace
}  // namespace heddle::compiler
