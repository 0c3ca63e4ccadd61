// SPDX-License-Identifier: Apache-2.0
// Index maps of Pad, Tile and Expand.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/pad.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

// `pads` are those of the axes that input 3 names: zeros for the others.
absl::StatusOr<std::vector<int64_t>> PadsOfAllAxes(
    const Graph& graph, const Node& node, const std::vector<int64_t>& pads,
    size_t rank) {
  ASSIGN_OR_RETURN(auto axes, IntsOf(graph, node, "axes", 3, {}));
  const size_t count = axes.size();
  if (pads.size() != 2 * count) {
    return RejectNode(Rejection::kInvalidModel, node, "it has ", pads.size(),
                      " pads, ", count, " axes need ", 2 * count);
  }
  std::vector<int64_t> all(2 * rank, 0);
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < count; ++i) {
    size_t axis = 0;
    if (!NormalizeAxis(axes[i], rank, &axis) || seen[axis]) {
      return RejectNode(Rejection::kInvalidModel, node, "axes ",
                        ShapeToString(axes),
                        " repeat or lie outside an input of rank ", rank);
    }
    seen[axis] = true;
    all[axis] = pads[i];
    all[rank + axis] = pads[count + i];
  }
  return all;
}

// The whole number that input `index` is, a float or an int64.
absl::StatusOr<int64_t> WholeNumber(const Graph& graph, const Node& node,
                                    size_t index) {
  const Tensor& input = InputOf(graph, node, index);
  if (!input.is_constant()) {
    return RejectNode(Rejection::kUnsupportedShape, node, "input ", index, " '",
                      input.name,
                      "' is computed at run time, it must be known when "
                      "compiling");
  }
  float value = 0.5f;
  if (input.constant->count() == 1) {
    value = input.type == DataType::kInt64
                ? static_cast<float>(input.constant->as<int64_t>()[0])
                : input.constant->as<float>()[0];
  }
  if (!(value >= -float(kMost) && value <= float(kMost)) ||
      value != std::trunc(value)) {
    return RejectNode(Rejection::kInvalidModel, node, "input ", index, " '",
                      input.name, "' is not one whole number");
  }
  return static_cast<int64_t>(value);
}

// Tile as opset 1 has it: copies along one axis.
absl::StatusOr<std::vector<int64_t>> RepeatsOfTiles(const Graph& graph,
                                                    const Node& node,
                                                    size_t rank) {
  ASSIGN_OR_RETURN(const auto tiles, WholeNumber(graph, node, 1));
  ASSIGN_OR_RETURN(const auto given, WholeNumber(graph, node, 2));
  size_t axis = 0;
  if (!NormalizeAxis(given, rank, &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", given,
                      " lies outside an input of rank ", rank);
  }
  std::vector<int64_t> repeats(rank, 1);
  repeats[axis] = tiles;
  return repeats;
}

}  // namespace

absl::StatusOr<Padding> PaddingOf(const Graph& graph, const Node& node) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  Padding padding;
  padding.mode = node.StringAttribute("mode", "constant");
  ASSIGN_OR_RETURN(auto pads, IntsOf(graph, node, "pads", 1, {}));
  const size_t rank = shape.size();
  if (node.op == "Pad" && HasInput(node, 3)) {
    ASSIGN_OR_RETURN(auto all, PadsOfAllAxes(graph, node, pads, rank));
    pads = all;
  }
  if (pads.size() != 2 * rank) {
    return RejectNode(Rejection::kInvalidModel, node, "it has ", pads.size(),
                      " pads, an input of rank ", rank, " needs ", 2 * rank);
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t before = pads[i], after = pads[rank + i];
    if (before < -kMost || before > kMost || after < -kMost || after > kMost ||
        before + after + shape[i] < 0) {
      return RejectNode(Rejection::kInvalidModel, node, "pads ",
                        ShapeToString(pads), " do not fit an input of shape ",
                        ShapeToString(shape));
    }
    if (padding.mode != "constant" && shape[i] == 0 && before + after > 0) {
      return RejectNode(Rejection::kInvalidModel, node, "dimension ", i,
                        " has no element to repeat");
    }
    padding.before.push_back(before);
    padding.after.push_back(after);
  }
  return padding;
}

absl::StatusOr<std::vector<uint8_t>> PadConstant(const Graph& graph,
                                                 const Node& node) {
  const DataType type = InputOf(graph, node, 0).type;
  if (!HasInput(node, 2)) {
    std::vector<uint8_t> bytes(ElementBytes(type), 0);
    const float value = node.FloatAttribute("value", 0);
    if (type == DataType::kFloat) std::memcpy(bytes.data(), &value, 4);
    if (type == DataType::kFloat16) {
      const uint16_t half = model::F32ToF16(value);
      std::memcpy(bytes.data(), &half, 2);
    }
    return bytes;
  }
  const Tensor& value = InputOf(graph, node, 2);
  if (!value.is_constant()) {
    return RejectNode(Rejection::kUnsupportedShape, node, "constant_value '",
                      value.name,
                      "' is computed at run time, it must be known when "
                      "compiling");
  }
  if (value.type != type || value.constant->count() != 1) {
    return RejectNode(Rejection::kInvalidModel, node, "constant_value is ",
                      DataTypeName(value.type), ShapeToString(value.shape),
                      ", it must be one ", DataTypeName(type));
  }
  return value.constant->bytes.ToVector();
}

absl::StatusOr<std::vector<int64_t>> RepeatsOf(const Graph& graph,
                                               const Node& node) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  std::vector<int64_t> repeats;
  if (node.opset < 6) {
    ASSIGN_OR_RETURN(repeats, RepeatsOfTiles(graph, node, shape.size()));
  } else {
    ASSIGN_OR_RETURN(repeats, IntsOf(graph, node, "repeats", 1, {}));
  }
  bool fits = repeats.size() == shape.size();
  for (int64_t r : repeats) fits = fits && r >= 0 && r <= kMost;
  if (!fits) {
    return RejectNode(Rejection::kInvalidModel, node, "repeats ",
                      ShapeToString(repeats), " do not fit an input of shape ",
                      ShapeToString(shape));
  }
  return repeats;
}

absl::StatusOr<IndexMap> PadMap(const Graph& graph, const Node& node, size_t) {
  ASSIGN_OR_RETURN(auto padding, PaddingOf(graph, node));
  IndexMap map;
  map.from = InputOf(graph, node, 0).shape;
  if (padding.mode == "constant") {
    ASSIGN_OR_RETURN(auto constant, PadConstant(graph, node));
    map.constant = constant;
  }
  for (size_t i = 0; i < map.from.size(); ++i) {
    const int64_t n = map.from[i];
    std::vector<int64_t> axis;
    for (int64_t k = -padding.before[i]; k < n + padding.after[i]; ++k) {
      if (padding.mode == "edge") {
        axis.push_back(std::clamp<int64_t>(k, 0, n - 1));
      } else if (padding.mode == "wrap") {
        axis.push_back((k % n + n) % n);
      } else if (padding.mode == "reflect") {
        const int64_t period = std::max<int64_t>(1, 2 * (n - 1));
        const int64_t m = ((k % period) + period) % period;
        axis.push_back(m < n ? m : period - m);
      } else {
        axis.push_back(k >= 0 && k < n ? k : -1);
      }
    }
    map.axes.push_back(axis);
  }
  return map;
}

absl::StatusOr<IndexMap> TileMap(const Graph& graph, const Node& node, size_t) {
  ASSIGN_OR_RETURN(auto repeats, RepeatsOf(graph, node));
  IndexMap map = IdentityMap(InputOf(graph, node, 0).shape);
  for (size_t i = 0; i < map.axes.size(); ++i) {
    const std::vector<int64_t> once = map.axes[i];
    map.axes[i].clear();
    for (int64_t k = 0; k < repeats[i]; ++k) {
      map.axes[i].insert(map.axes[i].end(), once.begin(), once.end());
    }
  }
  return map;
}

absl::StatusOr<IndexMap> ExpandMap(const Graph& graph, const Node& node,
                                   size_t) {
  const Shape& to = graph.tensors[node.outputs[0]].shape;
  Shape from = InputOf(graph, node, 0).shape;
  from.insert(from.begin(), to.size() - from.size(), 1);
  IndexMap map = IdentityMap(from);
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i] == 1) map.axes[i].assign(to[i], 0);
  }
  return map;
}

}  // namespace heddle::compiler
