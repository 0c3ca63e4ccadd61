// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/window.h"

#include <algorithm>
#include <limits>
#include <string>

#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxExtent = 65535;

// Every value of a list attribute is in [low, high].
bool AllWithin(const Node& node, const char* name, int64_t low, int64_t high,
               std::string* detail) {
  const auto values = node.IntsAttribute(name, {});
  const bool good = std::all_of(values.begin(), values.end(), [=](int64_t v) {
    return v >= low && v <= high;
  });
  if (!good) *detail = absl::StrCat(name, " = ", ShapeToString(values));
  return good;
}

}  // namespace

Shape Window::OutputShape(int64_t n, int64_t channels) const {
  if (rank == 1) return {n, channels, out[1]};
  return {n, channels, out[0], out[1]};
}

std::vector<Constraint> WindowRules() {
  return {
      {Rejection::kUnsupportedShape, "input is [N,C,W] or [N,C,H,W]",
       [](const Graph& graph, const Node& node, std::string* detail) {
         const Shape& shape = InputOf(graph, node, 0).shape;
         *detail = absl::StrCat("it is ", ShapeToString(shape));
         return shape.size() == 3 || shape.size() == 4;
       }},
      {Rejection::kInvalidModel,
       "strides, dilations and kernel_shape are positive, pads not negative",
       [](const Graph&, const Node& node, std::string* detail) {
         constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
         return AllWithin(node, "strides", 1, kMost, detail) &&
                AllWithin(node, "dilations", 1, kMost, detail) &&
                AllWithin(node, "kernel_shape", 1, kMost, detail) &&
                AllWithin(node, "pads", 0, kMost, detail);
       }},
      {Rejection::kUnsupportedAttribute,
       "strides, dilations, kernel_shape and pads are at most 65535",
       [](const Graph&, const Node& node, std::string* detail) {
         return AllWithin(node, "strides", 1, kMaxExtent, detail) &&
                AllWithin(node, "dilations", 1, kMaxExtent, detail) &&
                AllWithin(node, "kernel_shape", 1, kMaxExtent, detail) &&
                AllWithin(node, "pads", 0, kMaxExtent, detail);
       }},
      {Rejection::kInvalidModel,
       "auto_pad is NOTSET, VALID, SAME_UPPER or SAME_LOWER",
       [](const Graph&, const Node& node, std::string* detail) {
         const std::string mode = node.StringAttribute("auto_pad", "NOTSET");
         *detail = absl::StrCat("auto_pad = ", mode);
         return mode == "NOTSET" || mode == "VALID" || mode == "SAME_UPPER" ||
                mode == "SAME_LOWER";
       }},
  };
}

absl::StatusOr<Window> ResolveWindow(const Node& node, const Shape& input,
                                     const Shape& kernel) {
  Window w;
  if (input.size() != 3 && input.size() != 4) {
    return RejectNode(Rejection::kUnsupportedShape, node,
                      "input must have rank 3 or 4, its shape is ",
                      ShapeToString(input));
  }
  w.rank = static_cast<int>(input.size()) - 2;
  const auto rank = static_cast<size_t>(w.rank);
  const auto strides = node.IntsAttribute("strides", Shape(rank, 1));
  const auto dilations = node.IntsAttribute("dilations", Shape(rank, 1));
  const auto pads = node.IntsAttribute("pads", Shape(2 * rank, 0));
  if (kernel.size() != rank || strides.size() != rank ||
      dilations.size() != rank || pads.size() != 2 * rank) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "kernel_shape, strides and dilations need ", rank,
                      " values and pads ", 2 * rank, " for an input of shape ",
                      ShapeToString(input));
  }
  const std::string mode = node.StringAttribute("auto_pad", "NOTSET");
  const bool ceil_mode = node.IntAttribute("ceil_mode", 0) != 0;
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = i + 2 - rank;  // 1-D lives in the second slot
    w.in[d] = input[2 + i];
    w.kernel[d] = kernel[i];
    w.stride[d] = strides[i];
    w.dilation[d] = dilations[i];
    for (int64_t v : {w.kernel[d], w.stride[d], w.dilation[d]}) {
      if (v < 1 || v > kMaxExtent) {
        return RejectNode(Rejection::kUnsupportedShape, node,
                          "kernel, strides and dilations are 1 to ", kMaxExtent,
                          ", but one is ", v);
      }
    }
    if (w.in[d] < 0 || w.in[d] > (int64_t{1} << 31)) {
      return RejectNode(Rejection::kUnsupportedShape, node, "input dimension ",
                        w.in[d], " is too large");
    }
    const int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      w.out[d] = (w.in[d] + w.stride[d] - 1) / w.stride[d];
      const int64_t need =
          std::max<int64_t>(0, (w.out[d] - 1) * w.stride[d] + extent - w.in[d]);
      const int64_t half = need / 2;
      w.pad_begin[d] = mode == "SAME_UPPER" ? half : need - half;
      w.pad_end[d] = need - w.pad_begin[d];
      continue;
    }
    if (mode != "VALID") {
      w.pad_begin[d] = pads[i];
      w.pad_end[d] = pads[rank + i];
    }
    const int64_t room = w.in[d] + w.pad_begin[d] + w.pad_end[d] - extent;
    if (room < 0) {
      return RejectNode(Rejection::kMismatchingShape, node, "the kernel spans ",
                        extent, " elements, the padded input has only ",
                        room + extent);
    }
    w.out[d] = (ceil_mode ? (room + w.stride[d] - 1) / w.stride[d]
                          : room / w.stride[d]) +
               1;
    // A window that would start in the end padding does not count.
    if (ceil_mode && (w.out[d] - 1) * w.stride[d] >= w.in[d] + w.pad_begin[d]) {
      --w.out[d];
    }
  }
  return w;
}

}  // namespace heddle::compiler
