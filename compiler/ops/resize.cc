// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: nearest for every type, linear for fp32 and double; the
// rest is in resize_filter.h.
//
// Mode linear goes axis by axis, the last first: an element is
// fma(high, weight, f32(low * f32(1 - weight))).
#include "compiler/ops/resize.h"

#include <cmath>
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/microprogram.h"
#include "compiler/ops/resize_filter.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

bool ModeIsKnown(const Graph& graph, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "nearest");
  const DataType type = InputOf(graph, node, 0).type;
  *detail = absl::StrCat("mode = ", mode, " of ", DataTypeName(type));
  if (mode == "linear" || mode == "bilinear") {
    return Contains(kRealsAndDouble, type) &&
           (type != DataType::kDouble ||
            (node.IntAttribute("antialias", 0) == 0 &&
             !IsComputedResize(graph, node)));
  }
  return mode == "nearest" || (mode == "cubic" && Contains(kReals, type));
}

bool OldModeIsKnown(const Graph& graph, const Node& node, std::string* detail) {
  return ModeIsKnown(graph, node, detail) &&
         node.StringAttribute("mode", "nearest") != "cubic";
}

bool CoordinatesAreKnown(const Graph& graph, const Node& node,
                         std::string* detail) {
  const std::string mode =
      node.StringAttribute("coordinate_transformation_mode", "half_pixel");
  *detail = absl::StrCat("coordinate_transformation_mode = ", mode);
  // Other types have no extrapolation value.
  if (mode == "tf_crop_and_resize") {
    const DataType type = InputOf(graph, node, 0).type;
    return Contains(kFloats | kDoubles, type) || IsResizedByFilter(graph, node);
  }
  return mode == "half_pixel" || mode == "pytorch_half_pixel" ||
         mode == "align_corners" || mode == "asymmetric" ||
         mode == "tf_half_pixel_for_nn";
}

bool CoordinatesAreKnown19(const Graph& graph, const Node& node,
                           std::string* detail) {
  return CoordinatesAreKnown(graph, node, detail) ||
         node.StringAttribute("coordinate_transformation_mode", "half_pixel") ==
             "half_pixel_symmetric";
}

bool PolicyIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string policy =
      node.StringAttribute("keep_aspect_ratio_policy", "stretch");
  *detail = absl::StrCat("it is ", policy);
  return policy == "stretch" || policy == "not_larger" ||
         policy == "not_smaller";
}

bool NearestIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode =
      node.StringAttribute("nearest_mode", "round_prefer_floor");
  *detail = absl::StrCat("nearest_mode = ", mode);
  return mode == "round_prefer_floor" || mode == "round_prefer_ceil" ||
         mode == "floor" || mode == "ceil";
}

absl::Status Infer(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto plan, ResizePlanOf(*graph, node));
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, plan.to);
}

double Between(double low, double high, float w) {
  return low * (1.0 - w) + high * w;
}

// y = fma(high, w, f32(y * f32(1 - w))), of y[outer, weights, inner].
void BlendRows(const std::vector<float>& weights, int64_t inner,
               const float* high, int64_t count, float* y) {
  std::vector<float> rest(weights);
  for (float& w : rest) w = 1.0f - w;
  const auto stream = [](const float* data, bool single) {
    return LaneStream{reinterpret_cast<const uint32_t*>(data), single};
  };
  // The last axis has a weight for each element of a row, others one for all.
  const bool single = inner != 1;
  const auto each = static_cast<int64_t>(weights.size());
  const int64_t row = single ? inner : each;
  for (int64_t i = 0, at = 0; i < count; i += row, ++at) {
    const int64_t weight = single ? at % each : 0;
    auto* const to = reinterpret_cast<uint32_t*>(y + i);
    LaneOperands o;
    o.streams[0] = stream(y + i, false);
    o.streams[1] = stream(rest.data() + weight, single);
    Compute(LaneFunction::kProduct, o, row, to);
    o.streams[0] = stream(high + i, false);
    o.streams[1] = stream(weights.data() + weight, single);
    o.streams[2] = stream(y + i, false);
    Compute(LaneFunction::kFusedMultiplyAdd, o, row, to);
  }
}
void BlendRows(const std::vector<float>& weights, int64_t inner,
               const double* high, int64_t count, double* y) {
  const auto each = static_cast<int64_t>(weights.size());
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    y[i] = Between(y[i], high[i], weights[i / inner % each]);
  }
}

template <typename Real>
TensorData Interpolate(const TensorData& x, const ResizePlan& plan,
                       size_t axis) {
  const LinearAxis taps = LinearAxisOf(plan, x.shape, axis);
  IndexMap map = IdentityMap(x.shape);
  const Real outside = plan.extrapolation;
  map.constant.resize(sizeof(Real));
  std::memcpy(map.constant.data(), &outside, sizeof(Real));
  map.axes[axis] = taps.low;
  TensorData y = TakeElements(x, map);
  map.axes[axis] = taps.high;
  const TensorData high = TakeElements(x, map);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  BlendRows(taps.weight, inner, high.as<Real>(), y.count(), y.as<Real>());
  return y;
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const BoundNode bound = BindInputs(graph, node, inputs);
  ASSIGN_OR_RETURN(auto plan, ResizePlanOf(bound.graph, bound.node));
  if (ElementCount(plan.to) == 0) {
    return One(TensorData::Zeros(inputs[0]->type, plan.to));
  }
  if (plan.mode == "nearest") {
    ASSIGN_OR_RETURN(auto map, ResizeMap(bound.graph, bound.node, 0));
    return One(TakeElements(*inputs[0], map));
  }
  TensorData y = *inputs[0];
  for (size_t axis : ResizedAxes(plan, inputs[0]->shape)) {
    y = y.type == DataType::kDouble ? Interpolate<double>(y, plan, axis)
                                    : Interpolate<float>(y, plan, axis);
  }
  return One(std::move(y));
}

constexpr char kModeRule[] =
    "mode is nearest, linear or cubic of float and float16, or linear of "
    "double "
    "without antialias and computed scales";
// Before opset 11 there was no other.
constexpr char kOldModeRule[] =
    "mode is nearest, or linear of float, float16 and double";
constexpr TypeSet kScales = kFloats;

const ExpandedOperator kUpsample7(
    Define("Upsample", 7, 8)
        .Inputs(1, 1, kMovable)
        .Attr("mode", AttributeKind::kString)
        .Attr("scales", AttributeKind::kFloats, true)
        .Rule(Rejection::kUnsupportedAttribute, kOldModeRule, OldModeIsKnown),
    ExpandResize, IsResizedByFilter, Infer, Evaluate);
const ExpandedOperator kUpsample9(Define("Upsample", 9, 9)
                                      .Inputs(2, 2, kMovable, kScales)
                                      .Attr("mode", AttributeKind::kString)
                                      .Rule(Rejection::kUnsupportedAttribute,
                                            kOldModeRule, OldModeIsKnown),
                                  ExpandResize, IsResizedByFilter, Infer,
                                  Evaluate);
const ExpandedOperator kResize10(Define("Resize", 10, 10)
                                     .Inputs(2, 2, kMovable, kScales)
                                     .Attr("mode", AttributeKind::kString)
                                     .Rule(Rejection::kUnsupportedAttribute,
                                           kOldModeRule, OldModeIsKnown),
                                 ExpandResize, IsResizedByFilter, Infer,
                                 Evaluate);
// The definition from opset 11 on, without the rule about coordinates.
Define Resize11(int since, int until) {
  Define define("Resize", since, until);
  define
      .Inputs(1, 4, kMovable, kFloats | Types(DataType::kFloat16), kScales,
              kInt64s)
      .Attr("mode", AttributeKind::kString)
      .Attr("coordinate_transformation_mode", AttributeKind::kString)
      .Attr("nearest_mode", AttributeKind::kString)
      .Attr("cubic_coeff_a", AttributeKind::kFloat)
      .Attr("exclude_outside", AttributeKind::kInt)
      .Attr("extrapolation_value", AttributeKind::kFloat)
      .Rule(Rejection::kUnsupportedAttribute, kModeRule, ModeIsKnown)
      .Rule(Rejection::kUnsupportedAttribute,
            "nearest_mode is round_prefer_floor, round_prefer_ceil, floor or "
            "ceil",
            NearestIsKnown);
  return define;
}

// Adds what opset 18 adds.
Define Resize18(int since, int until) {
  Define define = Resize11(since, until);
  define.Attr("antialias", AttributeKind::kInt)
      .Attr("axes", AttributeKind::kInts)
      .Attr("keep_aspect_ratio_policy", AttributeKind::kString)
      .Rule(Rejection::kInvalidModel,
            "keep_aspect_ratio_policy is stretch, not_larger or not_smaller",
            PolicyIsKnown);
  return define;
}

constexpr char kCoordinateRule[] =
    "coordinate_transformation_mode is half_pixel, pytorch_half_pixel, "
    "align_corners, asymmetric, tf_half_pixel_for_nn, or tf_crop_and_resize of "
    "floats";
constexpr char kCoordinateRule19[] =
    "coordinate_transformation_mode is half_pixel, half_pixel_symmetric, "
    "pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn, or "
    "tf_crop_and_resize of floats";

const ExpandedOperator kResize11(
    Resize11(11, 17).Rule(Rejection::kUnsupportedAttribute, kCoordinateRule,
                          CoordinatesAreKnown),
    ExpandResize, IsResizedByFilter, Infer, Evaluate);
const ExpandedOperator kResize18(
    Resize18(18, 18).Rule(Rejection::kUnsupportedAttribute, kCoordinateRule,
                          CoordinatesAreKnown),
    ExpandResize, IsResizedByFilter, Infer, Evaluate);
const ExpandedOperator kResize19(Resize18(19, kMaxOpset)
                                     .Rule(Rejection::kUnsupportedAttribute,
                                           kCoordinateRule19,
                                           CoordinatesAreKnown19),
                                 ExpandResize, IsResizedByFilter, Infer,
                                 Evaluate);

}  // namespace
}  // namespace heddle::compiler
