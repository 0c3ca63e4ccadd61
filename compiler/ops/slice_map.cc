// SPDX-License-Identifier: Apache-2.0
// Index maps of Slice and Split.
#include <algorithm>
#include <numeric>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/slice.h"

namespace heddle::compiler {

absl::StatusOr<std::vector<AxisRange>> SliceRanges(const Graph& graph,
                                                   const Node& node) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  ASSIGN_OR_RETURN(auto starts, IntsOf(graph, node, "starts", 1, {}));
  ASSIGN_OR_RETURN(auto ends, IntsOf(graph, node, "ends", 2, {}));
  std::vector<int64_t> all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  ASSIGN_OR_RETURN(auto axes, IntsOf(graph, node, "axes", 3, all));
  ASSIGN_OR_RETURN(auto steps, IntsOf(graph, node, "steps", 4,
                                      std::vector<int64_t>(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return RejectNode(Rejection::kInvalidModel, node, "it has ", starts.size(),
                      " starts, ", ends.size(), " ends, ", axes.size(),
                      " axes and ", steps.size(), " steps");
  }
  std::vector<AxisRange> ranges;
  for (int64_t n : shape) ranges.push_back({0, n, 1});
  std::vector<bool> seen(shape.size(), false);
  for (size_t i = 0; i < starts.size(); ++i) {
    size_t axis = 0;
    if (!NormalizeAxis(axes[i], shape.size(), &axis) || seen[axis]) {
      return RejectNode(
          Rejection::kInvalidModel, node, "axes ", ShapeToString(axes),
          " repeat or lie outside an input of rank ", shape.size());
    }
    seen[axis] = true;
    const int64_t n = shape[axis];
    // A step beyond the dimension takes one element, whatever it is.
    const int64_t most = std::max<int64_t>(n, 1);
    const int64_t step = std::clamp(steps[i], -most, most);
    if (step == 0) {
      return RejectNode(Rejection::kInvalidModel, node, "steps[", i, "] is 0");
    }
    auto from_end = [&](int64_t v) { return v < 0 ? v + n : v; };
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const int64_t start =
        std::clamp(from_end(starts[i]), std::min<int64_t>(0, high), high);
    const int64_t end = std::clamp(from_end(ends[i]), low, std::max(low, high));
    const int64_t span = step > 0 ? end - start : start - end;
    const int64_t size = step > 0 ? step : -step;
    ranges[axis] = {start, n == 0 || span <= 0 ? 0 : (span + size - 1) / size,
                    step};
  }
  return ranges;
}

absl::StatusOr<std::vector<int64_t>> SplitSizes(const Graph& graph,
                                                const Node& node,
                                                size_t* axis) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  const int64_t given = node.IntAttribute("axis", 0);
  if (!NormalizeAxis(given, shape.size(), axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", given,
                      " lies outside an input of rank ", shape.size());
  }
  ASSIGN_OR_RETURN(auto sizes, IntsOf(graph, node, "split", 1, {}));
  const auto count = static_cast<int64_t>(node.outputs.size());
  const int64_t n = shape[*axis];
  if (node.attributes.count("num_outputs") != 0 && count > 0) {
    // Equal parts, rounded up; what remains is the last one.
    const int64_t part = n / count + (n % count != 0);
    if (part * (count - 1) > n) {
      return RejectNode(Rejection::kMismatchingShape, node, "dimension ", n,
                        " does not split into ", count, " parts of ", part,
                        " and a rest");
    }
    sizes.assign(count, part);
    sizes.back() = n - part * (count - 1);
    return sizes;
  }
  if (sizes.empty()) {
    if (count == 0 || n % count != 0) {
      return RejectNode(Rejection::kMismatchingShape, node, "dimension ", n,
                        " does not split into ", count, " equal parts");
    }
    return std::vector<int64_t>(count, n / count);
  }
  int64_t left = n;
  for (int64_t size : sizes) {
    if (size < 0 || size > left) {
      left = -1;
      break;
    }
    left -= size;
  }
  if (left != 0 || static_cast<int64_t>(sizes.size()) != count) {
    return RejectNode(Rejection::kMismatchingShape, node, "split ",
                      ShapeToString(sizes), " does not cut dimension ", n,
                      " into ", count, " parts");
  }
  return sizes;
}

absl::StatusOr<IndexMap> SliceMap(const Graph& graph, const Node& node,
                                  size_t) {
  ASSIGN_OR_RETURN(auto ranges, SliceRanges(graph, node));
  IndexMap map = IdentityMap(InputOf(graph, node, 0).shape);
  for (size_t i = 0; i < map.axes.size(); ++i) {
    const AxisRange& r = ranges[i];
    map.axes[i].resize(r.count);
    for (int64_t k = 0; k < r.count; ++k) {
      map.axes[i][k] = r.start + k * r.step;
    }
  }
  return map;
}

absl::StatusOr<IndexMap> SplitMap(const Graph& graph, const Node& node,
                                  size_t output) {
  size_t axis = 0;
  ASSIGN_OR_RETURN(auto sizes, SplitSizes(graph, node, &axis));
  IndexMap map = IdentityMap(InputOf(graph, node, 0).shape);
  int64_t at = 0;
  for (size_t i = 0; i < output; ++i) at += sizes[i];
  map.axes[axis].resize(sizes[output]);
  std::iota(map.axes[axis].begin(), map.axes[axis].end(), at);
  return map;
}

}  // namespace heddle::compiler
