// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/deduce.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

using Values = std::optional<std::vector<int64_t>>;

const Shape& In(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).shape;
}
const Shape& Out(const Graph& graph, const Node& node) {
  return graph.tensors[node.outputs[0]].shape;
}

// Dimension `axis` of the first output.
Values DimensionAt(const Graph& graph, const Node& node, int64_t fallback) {
  const Shape& out = Out(graph, node);
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", fallback), out.size(), &axis)) {
    return std::nullopt;
  }
  return std::vector<int64_t>{out[axis]};
}
Values LastByDefault(const Graph& graph, const Node& node) {
  return DimensionAt(graph, node, -1);
}

Values SizesOf(const Graph& graph, const Node& node) {
  if (node.StringAttribute("keep_aspect_ratio_policy", "stretch") !=
      "stretch") {
    return std::nullopt;
  }
  const Shape& out = Out(graph, node);
  if (node.attributes.count("axes") == 0) return Values(out);
  std::vector<int64_t> sizes;
  for (int64_t given : node.IntsAttribute("axes", {})) {
    size_t axis = 0;
    if (!NormalizeAxis(given, out.size(), &axis)) return std::nullopt;
    sizes.push_back(out[axis]);
  }
  return Values(sizes);
}

Values PartsOf(const Graph& graph, const Node& node) {
  std::vector<int64_t> parts;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) return std::nullopt;
    const Shape& shape = graph.tensors[id].shape;
    size_t axis = 0;
    if (!NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
      return std::nullopt;
    }
    parts.push_back(shape[axis]);
  }
  return Values(parts);
}

Values RepeatsOf(const Graph& graph, const Node& node) {
  const Shape &in = In(graph, node), &out = Out(graph, node);
  if (in.size() != out.size()) return std::nullopt;
  std::vector<int64_t> repeats;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 0 || out[i] % in[i] != 0) return std::nullopt;
    repeats.push_back(out[i] / in[i]);
  }
  return Values(repeats);
}

Values ShapeOf(const Graph& graph, const Node& node) {
  return Values(Out(graph, node));
}

// The axes that lead from one shape to the other, if all sets that do agree
// about dimensions that are not 1.
Values AxesOf(const Graph& graph, const Node& node) {
  constexpr size_t kMostAxes = 10;  // of which all sets are tried
  const Shape &in = In(graph, node), &out = Out(graph, node);
  const bool keep = node.IntAttribute("keepdims", 1) != 0;
  if (in.size() > kMostAxes) return std::nullopt;
  Values found;
  uint64_t counted = 0;
  for (uint64_t set = 1; set < (uint64_t{1} << in.size()); ++set) {
    Shape shape;
    std::vector<int64_t> axes;
    uint64_t counts = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      if (((set >> i) & 1) == 0) {
        shape.push_back(in[i]);
        continue;
      }
      if (keep) shape.push_back(1);
      axes.push_back(static_cast<int64_t>(i));
      if (in[i] != 1) counts |= uint64_t{1} << i;
    }
    if (shape != out) continue;
    if (found && counts != counted) return std::nullopt;
    if (!found) {
      found = axes;
      counted = counts;
    }
  }
  // No axes at all may mean another function.
  if (counted == 0) return std::nullopt;
  return found;
}

struct Row {
  const char* op;
  size_t input;
  Values (*values)(const Graph&, const Node&);
};
constexpr Row kRows[] = {
    {"ConstantOfShape", 0, ShapeOf}, {"OneHot", 1, LastByDefault},
    {"ReduceL1", 1, AxesOf},         {"ReduceL2", 1, AxesOf},
    {"ReduceLogSum", 1, AxesOf},     {"ReduceLogSumExp", 1, AxesOf},
    {"ReduceMax", 1, AxesOf},        {"ReduceMean", 1, AxesOf},
    {"ReduceMin", 1, AxesOf},        {"ReduceProd", 1, AxesOf},
    {"ReduceSum", 1, AxesOf},        {"ReduceSumSquare", 1, AxesOf},
    {"Resize", 3, SizesOf},          {"Split", 1, PartsOf},
    {"Tile", 1, RepeatsOf},          {"TopK", 1, LastByDefault},
};

// A constant in the place of operand i; false if its shape or type does not
// hold the values.
bool Replace(Graph* graph, Node* node, size_t i,
             const std::vector<int64_t>& values) {
  const Tensor given = graph->tensors[node->inputs[i]];
  TensorData data = TensorData::Zeros(given.type, given.shape);
  if (data.count() != static_cast<int64_t>(values.size())) return false;
  for (size_t k = 0; k < values.size(); ++k) {
    switch (given.type) {
      case DataType::kInt64:
        data.as<int64_t>()[k] = values[k];
        break;
      case DataType::kInt32:
        data.as<int32_t>()[k] = static_cast<int32_t>(values[k]);
        break;
      case DataType::kFloat:
        data.as<float>()[k] = static_cast<float>(values[k]);
        break;
      default:
        return false;
    }
  }
  const TensorId id =
      graph->AddTemporary(given.name + "/deduced", data.type, data.shape);
  graph->tensors[id].constant =
      std::make_shared<const TensorData>(std::move(data));
  node->inputs[i] = id;
  return true;
}

}  // namespace

bool DeduceEmpty(Graph* graph, Node* node) {
  bool any = false;
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    if (!HasInput(*node, i)) continue;
    const Tensor& t = InputOf(*graph, *node, i);
    if (t.is_constant() || !t.shape_known || ElementCount(t.shape) != 0) {
      continue;
    }
    any = Replace(graph, node, i, {}) || any;
  }
  return any;
}

bool DeduceParameters(Graph* graph, Node* node) {
  if (!node->domain.empty()) return false;
  for (const Row& row : kRows) {
    if (node->op != row.op || !HasInput(*node, row.input) ||
        InputOf(*graph, *node, row.input).is_constant()) {
      continue;
    }
    const Values values = row.values(*graph, *node);
    return values.has_value() && Replace(graph, node, row.input, *values);
  }
  return false;
}

}  // namespace heddle::compiler
