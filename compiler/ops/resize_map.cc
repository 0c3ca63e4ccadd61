// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/resize.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 31;

// Floats of constant input `index`; empty when absent or empty.
absl::StatusOr<std::vector<float>> FloatsOf(const Graph& graph,
                                            const Node& node, const char* name,
                                            size_t index) {
  if (!HasInput(node, index)) return std::vector<float>();
  const Tensor& input = InputOf(graph, node, index);
  if (!input.is_constant()) {
    return RejectNode(Rejection::kUnsupportedShape, node, name, " '",
                      input.name,
                      "' is computed at run time, it must be known when "
                      "compiling");
  }
  const TensorData& data = *input.constant;
  if (data.count() == 0) return std::vector<float>();
  if (data.type != DataType::kFloat) {
    return RejectNode(Rejection::kUnsupportedDatatype, node, name, " '",
                      input.name, "' is of ", DataTypeName(data.type),
                      ", it must be of float");
  }
  if (data.shape.size() > 1) {
    return RejectNode(Rejection::kMismatchingShape, node, name, " '",
                      input.name, "' has shape ", ShapeToString(data.shape),
                      ", it must have rank 1");
  }
  return std::vector<float>(data.as<float>(), data.as<float>() + data.count());
}

// Axes that the values are of, in their order: all, or those of the attribute.
absl::StatusOr<std::vector<size_t>> ResizeAxesOf(const Node& node,
                                                 size_t rank) {
  Shape all(rank);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int64_t> given = node.IntsAttribute("axes", all);
  std::vector<size_t> axes;
  std::vector<bool> seen(rank, false);
  for (int64_t axis : given) {
    size_t normal = 0;
    if (!NormalizeAxis(axis, rank, &normal) || seen[normal]) {
      return RejectNode(Rejection::kInvalidModel, node, "axes ",
                        ShapeToString(given),
                        " repeat or lie outside an input of rank ", rank);
    }
    seen[normal] = true;
    axes.push_back(normal);
  }
  return axes;
}

// Sizes under keep_aspect_ratio_policy: all axes get the scale of the one that
// would change most or least. Returns that scale for each of `axes`, zeros
// where the sizes stay ("stretch").
std::vector<float> KeepAspectRatio(const Node& node, const Shape& from,
                                   const std::vector<size_t>& axes,
                                   std::vector<int64_t>* sizes) {
  const std::string policy =
      node.StringAttribute("keep_aspect_ratio_policy", "stretch");
  std::vector<float> scales(axes.size(), 0);
  if (policy == "stretch" || axes.empty()) return scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    scales[i] =
        static_cast<float>((*sizes)[i]) / static_cast<float>(from[axes[i]]);
  }
  const float scale = policy == "not_larger"
                          ? *std::min_element(scales.begin(), scales.end())
                          : *std::max_element(scales.begin(), scales.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    const float size = scale * static_cast<float>(from[axes[i]]);
    (*sizes)[i] = std::llround(size);
    scales[i] = scale;
  }
  return scales;
}

// Lists of values of `axes` become lists of values of every axis; what is empty
// stays so.
void Spread(const Shape& from, const std::vector<size_t>& axes,
            std::vector<float>* scales, std::vector<int64_t>* sizes,
            std::vector<float>* roi, std::vector<float>* policy) {
  const size_t rank = from.size();
  std::vector<float> all_scales(rank, 1), all_roi(2 * rank, 0),
      all_policy(rank, 0);
  std::fill(all_roi.begin() + rank, all_roi.end(), 1.0f);
  std::vector<int64_t> all_sizes = from;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    if (!scales->empty()) all_scales[axis] = (*scales)[i];
    if (!sizes->empty()) all_sizes[axis] = (*sizes)[i];
    if (!policy->empty()) all_policy[axis] = (*policy)[i];
    if (roi->empty()) continue;
    all_roi[axis] = (*roi)[i];
    all_roi[rank + axis] = (*roi)[axes.size() + i];
  }
  if (!scales->empty()) *scales = all_scales;
  if (!sizes->empty()) *sizes = all_sizes;
  if (!roi->empty()) *roi = all_roi;
  *policy = all_policy;
}

}  // namespace

absl::StatusOr<ResizePlan> ResizePlanOf(const Graph& graph, const Node& node) {
  const Shape& from = InputOf(graph, node, 0).shape;
  const size_t rank = from.size();
  ResizePlan plan;
  plan.mode = node.StringAttribute("mode", "nearest");
  // Before opset 11 the position is x / scale, rounded down, or up along an
  // axis that shrinks.
  const bool old = node.op == "Upsample" || node.opset < 11;
  plan.coordinate = old ? "asymmetric"
                        : node.StringAttribute("coordinate_transformation_mode",
                                               "half_pixel");
  plan.nearest =
      old ? "simple"
          : node.StringAttribute("nearest_mode", "round_prefer_floor");
  plan.extrapolation = node.FloatAttribute("extrapolation_value", 0);
  std::vector<float> roi;
  if (const auto it = node.attributes.find("scales");
      it != node.attributes.end() &&
      std::holds_alternative<std::vector<float>>(it->second)) {
    plan.scales = std::get<std::vector<float>>(it->second);
  } else {
    ASSIGN_OR_RETURN(auto scales, FloatsOf(graph, node, "scales", old ? 1 : 2));
    plan.scales = scales;
  }
  std::vector<int64_t> sizes;
  // Which axis the i-th value of scales, sizes and roi is of.
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (!old) {
    ASSIGN_OR_RETURN(axes, ResizeAxesOf(node, rank));
    ASSIGN_OR_RETURN(sizes, IntsOf(graph, node, "sizes", 3, {}));
    if (plan.coordinate == "tf_crop_and_resize") {
      ASSIGN_OR_RETURN(roi, FloatsOf(graph, node, "roi", 1));
      if (roi.size() != 2 * axes.size()) {
        return RejectNode(Rejection::kInvalidModel, node, "roi has ",
                          roi.size(), " values, it must have ",
                          2 * axes.size());
      }
    }
  }
  if (plan.scales.empty() == sizes.empty() ||
      (sizes.empty() ? plan.scales.size() : sizes.size()) != axes.size()) {
    return RejectNode(Rejection::kInvalidModel, node, "it has ",
                      plan.scales.size(), " scales and ", sizes.size(),
                      " sizes; an input of rank ", rank,
                      axes.size() == rank ? "" : " with axes",
                      " needs as many of one of them");
  }
  // Of nothing comes nothing.
  const bool empty = ElementCount(from) == 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t least = from[axes[i]] == 0 ? 0 : 1;
    if (sizes[i] < least || sizes[i] > (least == 0 ? 0 : kMostSize)) {
      return RejectNode(Rejection::kInvalidModel, node, "sizes ",
                        ShapeToString(sizes), " of an input of ",
                        ShapeToString(from),
                        " are not 1 to 2^31, or 0 of dimensions of 0");
    }
  }
  if (empty && (plan.coordinate == "tf_crop_and_resize" ||
                node.StringAttribute("keep_aspect_ratio_policy", "stretch") !=
                    "stretch")) {
    return RejectNode(Rejection::kUnsupportedShape, node, "an input of ",
                      ShapeToString(from),
                      " has no elements, and no part or aspect ratio");
  }
  const bool has_sizes = !sizes.empty();
  std::vector<float> policy;
  if (has_sizes) {
    policy = KeepAspectRatio(node, from, axes, &sizes);
  }
  Spread(from, axes, &plan.scales, &sizes, &roi, &policy);
  for (size_t i = 0; i < rank; ++i) {
    plan.begin.push_back(roi.empty() ? 0 : roi[i]);
    plan.end.push_back(roi.empty() ? 1 : roi[rank + i]);
    if (from[i] == 0) {
      plan.to.push_back(0);
      if (has_sizes) plan.scales.push_back(1);
      continue;
    }
    if (has_sizes) {
      if (sizes[i] < 1) {
        return RejectNode(Rejection::kInvalidModel, node,
                          "keep_aspect_ratio_policy makes dimension ", i,
                          " of ", ShapeToString(from), " one of ", sizes[i]);
      }
      plan.to.push_back(sizes[i]);
      plan.scales.push_back(policy[i] != 0 ? policy[i]
                                           : static_cast<float>(sizes[i]) /
                                                 static_cast<float>(from[i]));
      continue;
    }
    if (node.op == "Upsample" && !(plan.scales[i] >= 1)) {
      return RejectNode(Rejection::kInvalidModel, node, "scales[", i,
                        "] = ", plan.scales[i], ", it must be 1 or more");
    }
    float size = plan.scales[i] * static_cast<float>(from[i]);
    if (plan.coordinate == "tf_crop_and_resize") {
      size *= plan.end[i] - plan.begin[i];
    }
    if (!(plan.scales[i] > 0) || !(size >= 1 && size < float(kMostSize))) {
      return RejectNode(Rejection::kInvalidModel, node, "scales[", i,
                        "] = ", plan.scales[i], " makes a dimension of ",
                        from[i], " one of ", size, "; it must be 1 to 2^31");
    }
    plan.to.push_back(static_cast<int64_t>(size));
  }
  return plan;
}

float ResizeCoordinate(const ResizePlan& plan, const Shape& shape, size_t axis,
                       int64_t index) {
  const auto x = static_cast<float>(index), scale = plan.scales[axis];
  const auto from = static_cast<float>(shape[axis]),
             to = static_cast<float>(plan.to[axis]);
  if (plan.coordinate == "asymmetric") return x / scale;
  if (plan.coordinate == "align_corners") {
    return to == 1 ? 0 : x * (from - 1) / (to - 1);
  }
  if (plan.coordinate == "tf_half_pixel_for_nn") return (x + 0.5f) / scale;
  if (plan.coordinate == "tf_crop_and_resize") {
    const float begin = plan.begin[axis], end = plan.end[axis];
    return to > 1
               ? begin * (from - 1) + x * (end - begin) * (from - 1) / (to - 1)
               : 0.5f * (begin + end) * (from - 1);
  }
  if (plan.coordinate == "pytorch_half_pixel" && !(to > 1)) return 0;
  if (plan.coordinate == "half_pixel_symmetric") {
    // What rounding the size down takes away is taken from both ends.
    const float adjustment = to / (scale * from), centre = from / 2;
    const float offset = centre * (1 - adjustment);
    return offset + (x + 0.5f) / scale - 0.5f;
  }
  return (x + 0.5f) / scale - 0.5f;
}

std::vector<size_t> ResizedAxes(const ResizePlan& plan, const Shape& from) {
  std::vector<size_t> axes;
  for (size_t i = from.size(); i-- > 0;) {
    const bool cropped = plan.coordinate == "tf_crop_and_resize" &&
                         (plan.begin[i] != 0 || plan.end[i] != 1);
    if (plan.to[i] != from[i] || plan.scales[i] != 1 || cropped) {
      axes.push_back(i);
    }
  }
  return axes;
}

LinearAxis LinearAxisOf(const ResizePlan& plan, const Shape& from,
                        size_t axis) {
  LinearAxis result;
  const int64_t last = from[axis] - 1;
  for (int64_t i = 0; i < plan.to[axis]; ++i) {
    PaceAt(i);
    const float x = ResizeCoordinate(plan, from, axis, i);
    const bool outside = plan.coordinate == "tf_crop_and_resize" &&
                         !(x >= 0 && x <= static_cast<float>(last));
    const float inside =
        outside ? 0 : std::clamp(x, 0.0f, static_cast<float>(last));
    const auto low = std::min(static_cast<int64_t>(inside), last);
    result.low.push_back(outside ? -1 : low);
    result.high.push_back(outside ? -1 : std::min(low + 1, last));
    result.weight.push_back(outside ? 0.0f : inside - static_cast<float>(low));
  }
  return result;
}

absl::StatusOr<IndexMap> ResizeMap(const Graph& graph, const Node& node,
                                   size_t) {
  ASSIGN_OR_RETURN(auto plan, ResizePlanOf(graph, node));
  const Tensor& x = InputOf(graph, node, 0);
  IndexMap map = IdentityMap(x.shape);
  for (size_t axis : ResizedAxes(plan, x.shape)) {
    map.axes[axis].clear();
    const auto last = static_cast<float>(x.shape[axis] - 1);
    for (int64_t i = 0; i < plan.to[axis]; ++i) {
      PaceAt(i);
      const float at = ResizeCoordinate(plan, x.shape, axis, i);
      if (plan.coordinate == "tf_crop_and_resize" && !(at >= 0 && at <= last)) {
        map.axes[axis].push_back(-1);
        continue;
      }
      float rounded = std::floor(at);
      if (plan.nearest == "ceil" ||
          (plan.nearest == "simple" && plan.scales[axis] < 1)) {
        rounded = std::ceil(at);
      } else if (plan.nearest == "round_prefer_ceil") {
        rounded = std::floor(at + 0.5f);
      } else if (plan.nearest == "round_prefer_floor") {
        rounded = std::ceil(at - 0.5f);
      }
      map.axes[axis].push_back(
          static_cast<int64_t>(std::clamp(rounded, 0.0f, last)));
    }
  }
  if (x.type == DataType::kFloat) {
    map.constant.resize(4);
    std::memcpy(map.constant.data(), &plan.extrapolation, 4);
  } else if (x.type == DataType::kDouble) {
    const double outside = plan.extrapolation;
    map.constant.resize(8);
    std::memcpy(map.constant.data(), &outside, 8);
  }
  return map;
}

}  // namespace heddle::compiler
