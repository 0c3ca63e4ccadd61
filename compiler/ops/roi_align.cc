// SPDX-License-Identifier: Apache-2.0
// RoiAlign, made of other operators in fp32, rounded once at the end: each bin
// of a region is the mean (avg) of samples, bilinear between four places, or
// the largest product of a place and its weight (max). A sample more than one
// place outside of the image is 0.
//
//   x        [images, channels, height, width]
//   rois     [regions, 4]: x1, y1, x2, y2
//   batch    [regions], integers: the image of each
//   y        [regions, channels, output_height, output_width]
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/sampling.h"

namespace heddle::compiler {
namespace {

struct Regions {
  float scale, offset;
  bool at_least_one;  // place wide and high
  int64_t grid;       // samples of a bin along an axis
};

// Samples of one axis, all [regions, bins * grid].
struct AxisSamples {
  TensorId low, high;            // places
  TensorId low_part, high_part;  // weights
  TensorId valid;
};

AxisSamples SamplesOf(const FloatMath& m, TensorId rois, int64_t first_column,
                      const Regions& r, int64_t bins, float size) {
  Expansion* e = m.expansion();
  const auto edge = [&](int64_t column) {
    const TensorId x = e->Add("Slice", {rois, e->Ints({column}),
                                        e->Ints({column + 1}), e->Ints({1})});
    return m.Offset(m.Scaled(x, r.scale), -r.offset);
  };
  const TensorId begin = edge(first_column);
  TensorId length = m.Minus(edge(first_column + 2), begin);
  if (r.at_least_one) length = e->Add("Max", {length, m.Number(1)});
  const TensorId bin =
      e->Add("Div", {length, m.Number(static_cast<float>(bins))});
  // In bins and in samples of a bin.
  TensorData whole = TensorData::Zeros(DataType::kFloat, {1, bins * r.grid});
  TensorData part = whole;
  for (int64_t i = 0; i < bins * r.grid; ++i) {
    whole.as<float>()[i] = static_cast<float>(i / r.grid);
    part.as<float>()[i] = static_cast<float>(i % r.grid) + 0.5f;
  }
  const TensorId within =
      e->Add("Div", {m.Times(e->Constant(std::move(part)), bin),
                     m.Number(static_cast<float>(r.grid))});
  TensorId x = m.Plus(
      m.Plus(begin, m.Times(e->Constant(std::move(whole)), bin)), within);
  x = m.Known(x, -2);
  AxisSamples s;
  s.valid = m.IsWithin(x, -1, size);
  x = m.Clip(x, 0, size - 1);
  s.low = m.Floor(x);
  s.high = e->Add("Min", {m.Offset(s.low, 1), m.Number(size - 1)});
  s.high_part = m.Minus(x, s.low);
  s.low_part = m.Minus(m.Number(1), s.high_part);
  return s;
}

absl::Status ExpandRegions(Expansion* e, bool half_pixel) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, rois = e->T(e->In(1)).shape;
  const Shape batch = e->T(e->In(2)).shape;
  if (rois.size() != 2 || rois[1] != 4 || batch != Shape{rois[0]}) {
    return RejectNode(Rejection::kMismatchingShape, node, "rois of ",
                      ShapeToString(rois), " and batch_indices of ",
                      ShapeToString(batch),
                      ", must be of [regions, 4] and [regions]");
  }
  const int64_t regions = rois[0];
  const int64_t height = node.IntAttribute("output_height", 1);
  const int64_t width = node.IntAttribute("output_width", 1);
  const int64_t grid = node.IntAttribute("sampling_ratio", 0);
  if (height < 1 || width < 1 || ElementCount(x) == 0 || regions == 0) {
    return RejectNode(Rejection::kUnsupportedShape, node, "a result of [",
                      regions, ",", x[1], ",", height, ",", width,
                      "] of an input of ", ShapeToString(x),
                      " has no elements");
  }
  RETURN_IF_ERROR(CheckTable(node, height, grid));
  RETURN_IF_ERROR(CheckTable(node, width, grid));
  ASSIGN_OR_RETURN(const SampledImage image, SampledImage::Create(e, e->In(0)));
  const FloatMath m(e);
  const Regions r = {node.FloatAttribute("spatial_scale", 1),
                     half_pixel ? 0.5f : 0.0f, !half_pixel, grid};
  const TensorId corners = e->Wide(e->In(1));
  const AxisSamples h =
      SamplesOf(m, corners, 1, r, height, static_cast<float>(image.size(0)));
  const AxisSamples w =
      SamplesOf(m, corners, 0, r, width, static_cast<float>(image.size(1)));
  const Shape samples = {regions, height * grid, width * grid};
  const auto rows = [&](TensorId t) {
    return e->Reshape(t, {regions, height * grid, 1});
  };
  const auto columns = [&](TensorId t) {
    return e->Reshape(t, {regions, 1, width * grid});
  };
  const TensorId number =
      e->Reshape(e->Cast(e->In(2), DataType::kInt32), {regions, 1, 1});
  const int64_t count = ElementCount(samples);
  const TensorId valid =
      e->Reshape(e->Add("And", {rows(h.valid), columns(w.valid)}), {count, 1});
  std::vector<TensorId> parts;
  for (const bool low : {true, false}) {
    for (const bool left : {true, false}) {
      const TensorId weight = m.Times(rows(low ? h.low_part : h.high_part),
                                      columns(left ? w.low_part : w.high_part));
      const TensorId value = image.Read(
          number, {rows(low ? h.low : h.high), columns(left ? w.low : w.high)},
          samples);
      parts.push_back(m.Times(value, e->Reshape(weight, {count, 1})));
    }
  }
  const bool largest = node.StringAttribute("mode", "avg") == "max";
  TensorId y =
      largest ? e->Add("Max", parts)
              : m.Plus(m.Plus(m.Plus(parts[0], parts[1]), parts[2]), parts[3]);
  y = m.Where(valid, y, m.Number(0));
  y = e->Reshape(y, {regions, samples[1], samples[2], x[1]});
  y = e->Add("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  const std::vector<int64_t> window = {grid, grid};
  y = e->Add(largest ? "MaxPool" : "AveragePool", {y},
             {{"kernel_shape", window}, {"strides", window}});
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

absl::Status Expand10(Expansion* e) { return ExpandRegions(e, false); }
absl::Status Expand16(Expansion* e) {
  return ExpandRegions(
      e, e->node().StringAttribute("coordinate_transformation_mode",
                                   "half_pixel") == "half_pixel");
}

bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "avg");
  *detail = absl::StrCat("mode = ", mode);
  return mode == "avg" || mode == "max";
}
bool CoordinatesAreKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode =
      node.StringAttribute("coordinate_transformation_mode", "half_pixel");
  *detail = absl::StrCat("coordinate_transformation_mode = ", mode);
  return mode == "half_pixel" || mode == "output_half_pixel";
}
// 0 makes the number of samples depend on the region.
bool RatioIsGiven(const Graph&, const Node& node, std::string* detail) {
  const int64_t ratio = node.IntAttribute("sampling_ratio", 0);
  *detail = absl::StrCat("sampling_ratio = ", ratio);
  return ratio >= 1 && ratio <= 64;
}
bool IsImage(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("input ", ShapeToString(shape));
  return shape.size() == 4;
}

Define RoiAlign(int since, int until) {
  Define define("RoiAlign", since, until);
  define.Inputs(3, 3, kReals, kReals, kInt64s)
      .Attr("mode", AttributeKind::kString)
      .Attr("output_height", AttributeKind::kInt)
      .Attr("output_width", AttributeKind::kInt)
      .Attr("sampling_ratio", AttributeKind::kInt)
      .Attr("spatial_scale", AttributeKind::kFloat)
      .Rule(Rejection::kInvalidModel, "the input has rank 4", IsImage)
      .Rule(Rejection::kInvalidModel, "mode is avg or max", ModeIsKnown)
      .Rule(Rejection::kUnsupportedAttribute, "sampling_ratio is 1 to 64",
            RatioIsGiven);
  return define;
}
const ExpandedOperator kRoiAlign10(RoiAlign(10, 15), Expand10);
const ExpandedOperator kRoiAlign16(
    RoiAlign(16, kMaxOpset)
        .Attr("coordinate_transformation_mode", AttributeKind::kString)
        .Rule(Rejection::kInvalidModel,
              "coordinate_transformation_mode is half_pixel or "
              "output_half_pixel",
              CoordinatesAreKnown),
    Expand16);

}  // namespace
}  // namespace heddle::compiler
