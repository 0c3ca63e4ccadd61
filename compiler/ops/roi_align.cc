// SPDX-License-Identifier: Apache-2.0
// RoiAlign, made of other operators in fp32 or double, rounded once: each bin
// of a region is the mean (avg) of samples, bilinear between four places, or
// the largest product of a place and its weight (max). A sample more than one
// place outside of the image is 0. With sampling_ratio 0, as many samples as
// a bin has places, rounded up: the host computes that, and what has no
// elements.
//
//   x        [images, channels, height, width]
//   rois     [regions, 4]: x1, y1, x2, y2
//   batch    [regions], integers: the image of each
//   y        [regions, channels, output_height, output_width]
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/rank_rule.h"
#include "compiler/ops/reduce.h"
#include "compiler/ops/sampling.h"

namespace heddle::compiler {
namespace {

struct Regions {
  float scale, offset;
  bool at_least_one;  // place wide and high
  int64_t grid;       // samples of a bin along an axis
};

// More than an image has places along an axis.
constexpr float kMostSamples = 1 << 24;

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
  const Shape samples = {1, bins * r.grid};
  std::vector<double> whole, part;
  for (int64_t i = 0; i < bins * r.grid; ++i) {
    whole.push_back(static_cast<double>(i / r.grid));
    part.push_back(static_cast<double>(i % r.grid) + 0.5);
  }
  const TensorId within =
      e->Add("Div", {m.Times(e->Numbers(samples, part), bin),
                     m.Number(static_cast<float>(r.grid))});
  TensorId x =
      m.Plus(m.Plus(begin, m.Times(e->Numbers(samples, whole), bin)), within);
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

absl::Status CheckRegions(const Node& node, const Shape& rois,
                          const Shape& batch) {
  if (rois.size() == 2 && rois[1] == 4 && batch == Shape{rois[0]}) {
    return absl::OkStatus();
  }
  return RejectNode(Rejection::kMismatchingShape, node, "rois of ",
                    ShapeToString(rois), " and batch_indices of ",
                    ShapeToString(batch),
                    ", must be of [regions, 4] and [regions]");
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Shape& rois = InputOf(*graph, node, 1).shape;
  RETURN_IF_ERROR(CheckRegions(node, rois, InputOf(*graph, node, 2).shape));
  return SetOutput(graph, node, 0, x.type,
                   {rois[0], x.shape[1], node.IntAttribute("output_height", 1),
                    node.IntAttribute("output_width", 1)});
}

// A sample along one axis: the places beside it, and the second one's weight.
template <typename Real>
struct Sample {
  int64_t low = 0, high = 0;
  Real part = 0;
  bool valid = false;
};

template <typename Real>
Sample<Real> SampleAt(Real x, int64_t size) {
  Sample<Real> s;
  s.valid = x >= -1 && x <= static_cast<Real>(size);
  if (!s.valid) return s;
  x = std::min(std::max(x, Real{0}), static_cast<Real>(size - 1));
  s.low = static_cast<int64_t>(x);
  s.high = std::min(s.low + 1, size - 1);
  s.part = x - static_cast<Real>(s.low);
  return s;
}

// Along one axis of a region: its bins, each of `grid` samples.
template <typename Real>
struct AdaptiveAxis {
  int64_t grid = 0;
  std::vector<Sample<Real>> samples;
};

template <typename Real>
AdaptiveAxis<Real> AdaptiveSamples(const Real* corners, int64_t first,
                                   const Regions& r, int64_t bins,
                                   int64_t size) {
  const Real begin = corners[first] * r.scale - r.offset;
  Real length = corners[first + 2] * r.scale - r.offset - begin;
  if (r.at_least_one) length = std::max(length, Real{1});
  const Real bin = length / static_cast<Real>(bins);
  AdaptiveAxis<Real> axis;
  // (of a NaN none)
  axis.grid = r.grid;
  if (r.grid == 0 && bin > 0) {
    axis.grid =
        static_cast<int64_t>(std::ceil(std::min(bin, Real{kMostSamples})));
  }
  for (int64_t i = 0; i < bins * axis.grid; ++i) {
    PaceAt(i);
    const auto whole = static_cast<Real>(i / axis.grid);
    const Real part = static_cast<Real>(i % axis.grid) + Real{0.5};
    axis.samples.push_back(SampleAt<Real>(
        begin + whole * bin + part * bin / static_cast<Real>(axis.grid), size));
  }
  return axis;
}

// One bin of one channel.
template <typename Real>
Real BinOf(const Real* plane, int64_t width, const AdaptiveAxis<Real>& h,
           const AdaptiveAxis<Real>& w, int64_t row, int64_t column,
           bool largest) {
  Real sum = 0, most = 0;
  bool any = false;
  for (int64_t iy = 0; iy < h.grid; ++iy) {
    Pace(w.grid);
    const Sample<Real>& y = h.samples[row * h.grid + iy];
    for (int64_t ix = 0; ix < w.grid; ++ix) {
      const Sample<Real>& x = w.samples[column * w.grid + ix];
      Real parts[4] = {};
      if (y.valid && x.valid) {
        const Real *low = plane + y.low * width, *high = plane + y.high * width;
        parts[0] = (1 - y.part) * (1 - x.part) * low[x.low];
        parts[1] = (1 - y.part) * x.part * low[x.high];
        parts[2] = y.part * (1 - x.part) * high[x.low];
        parts[3] = y.part * x.part * high[x.high];
      }
      sum += parts[0] + parts[1] + parts[2] + parts[3];
      const Real best = *std::max_element(parts, parts + 4);
      most = any ? std::max(most, best) : best;
      any = true;
    }
  }
  if (largest) return most;
  return sum / static_cast<Real>(std::max<int64_t>(h.grid * w.grid, 1));
}

// `x` and `rois` are the elements of the first two inputs.
template <typename Real>
absl::StatusOr<std::vector<Real>> PoolRegions(const Node& node,
                                              const Inputs& inputs,
                                              bool half_pixel,
                                              const std::vector<Real>& x,
                                              const std::vector<Real>& rois) {
  const Shape& shape = inputs[0]->shape;
  const int64_t regions = inputs[1]->shape[0];
  const int64_t height = node.IntAttribute("output_height", 1);
  const int64_t width = node.IntAttribute("output_width", 1);
  const Regions r = {node.FloatAttribute("spatial_scale", 1),
                     half_pixel ? 0.5f : 0.0f, !half_pixel,
                     node.IntAttribute("sampling_ratio", 0)};
  const bool largest = node.StringAttribute("mode", "avg") == "max";
  std::vector<Real> y(static_cast<size_t>(regions * shape[1] * height * width));
  const int64_t plane = shape[2] * shape[3];
  for (int64_t n = 0; n < regions && plane > 0; ++n) {
    const int64_t image = inputs[2]->as<int64_t>()[n];
    if (image < 0 || image >= shape[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat(node.Describe(), ": region ", n, " is of image ", image,
                       ", there are ", shape[0]));
    }
    const Real* corners = rois.data() + 4 * n;
    const AdaptiveAxis<Real> h =
        AdaptiveSamples(corners, 1, r, height, shape[2]);
    const AdaptiveAxis<Real> w =
        AdaptiveSamples(corners, 0, r, width, shape[3]);
    for (int64_t c = 0; c < shape[1]; ++c) {
      const Real* from = x.data() + (image * shape[1] + c) * plane;
      Real* at = y.data() + (n * shape[1] + c) * height * width;
      for (int64_t i = 0; i < height * width; ++i) {
        at[i] = BinOf(from, shape[3], h, w, i / width, i % width, largest);
      }
    }
  }
  return y;
}

bool IsHalfPixel(const Node& node) {
  return node.opset >= 16 &&
         node.StringAttribute("coordinate_transformation_mode", "half_pixel") ==
             "half_pixel";
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const Shape& to = graph.tensors[node.outputs[0]].shape;
  const TensorData &x = *inputs[0], &rois = *inputs[1];
  if (x.type == DataType::kDouble) {
    ASSIGN_OR_RETURN(auto y, PoolRegions(node, inputs, IsHalfPixel(node),
                                         ToDoubles(x), ToDoubles(rois)));
    return One(FromDoubles(to, y));
  }
  ASSIGN_OR_RETURN(auto y, PoolRegions(node, inputs, IsHalfPixel(node),
                                       ToFloats(x), ToFloats(rois)));
  return One(FromFloats(x.type, to, y));
}

// Whether the numbers of samples are known, and there is something.
bool IsExpandedRoiAlign(const Graph& graph, const Node& node) {
  return node.IntAttribute("sampling_ratio", 0) > 0 &&
         ElementCount(InputOf(graph, node, 0).shape) > 0 &&
         ElementCount(InputOf(graph, node, 1).shape) > 0;
}

absl::Status ExpandRegions(Expansion* e, bool half_pixel) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, rois = e->T(e->In(1)).shape;
  RETURN_IF_ERROR(CheckRegions(node, rois, e->T(e->In(2)).shape));
  const int64_t regions = rois[0];
  const int64_t height = node.IntAttribute("output_height", 1);
  const int64_t width = node.IntAttribute("output_width", 1);
  const int64_t grid = node.IntAttribute("sampling_ratio", 0);
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

absl::Status Expand(Expansion* e) {
  return ExpandRegions(e, IsHalfPixel(e->node()));
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
bool RatioIsGiven(const Graph&, const Node& node, std::string* detail) {
  const int64_t ratio = node.IntAttribute("sampling_ratio", 0);
  *detail = absl::StrCat("sampling_ratio = ", ratio);
  return ratio >= 0 && ratio <= 64;
}
bool SizeIsPositive(const Graph&, const Node& node, std::string* detail) {
  const int64_t height = node.IntAttribute("output_height", 1),
                width = node.IntAttribute("output_width", 1);
  *detail = absl::StrCat("they are ", height, " and ", width);
  return height >= 1 && width >= 1;
}
Define RoiAlign(int since, int until) {
  Define define("RoiAlign", since, until);
  define.Inputs(3, 3, kRealsAndDouble, kRealsAndDouble, kInt64s)
      .Attr("mode", AttributeKind::kString)
      .Attr("output_height", AttributeKind::kInt)
      .Attr("output_width", AttributeKind::kInt)
      .Attr("sampling_ratio", AttributeKind::kInt)
      .Attr("spatial_scale", AttributeKind::kFloat)
      .Rule(Rejection::kInvalidModel, "the input has rank 4", RankIs<4, 4>)
      .Rule(Rejection::kInvalidModel, "mode is avg or max", ModeIsKnown)
      .Rule(Rejection::kUnsupportedAttribute, "sampling_ratio is 0 to 64",
            RatioIsGiven)
      .Rule(Rejection::kInvalidModel,
            "output_height and output_width are positive", SizeIsPositive);
  return define;
}
const ExpandedOperator kRoiAlign10(RoiAlign(10, 15), Expand, IsExpandedRoiAlign,
                                   Infer, Evaluate);
const ExpandedOperator kRoiAlign16(
    RoiAlign(16, kMaxOpset)
        .Attr("coordinate_transformation_mode", AttributeKind::kString)
        .Rule(Rejection::kInvalidModel,
              "coordinate_transformation_mode is half_pixel or "
              "output_half_pixel",
              CoordinatesAreKnown),
    Expand, IsExpandedRoiAlign, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
