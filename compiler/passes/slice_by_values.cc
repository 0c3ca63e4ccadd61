// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/slice_by_values.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;  // of the nodes that it makes

TensorData IntsOfType(DataType type, Shape shape,
                      const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(type, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DataType::kInt32) {
      data.as<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else {
      data.as<int64_t>()[i] = values[i];
    }
  }
  return data;
}

class Maker {
 public:
  Maker(Graph* graph, const Node& slice) : graph_(graph), slice_(slice) {}

  TensorId Constant(TensorData data) {
    const TensorId id =
        graph_->AddTemporary(slice_.name, data.type, data.shape);
    graph_->tensors[id].constant =
        std::make_shared<const TensorData>(std::move(data));
    return id;
  }
  TensorId Add(const char* op, std::vector<TensorId> inputs,
               std::map<std::string, Attribute> attributes = {},
               TensorId output = kNoTensor) {
    if (output == kNoTensor) {
      output = graph_->AddTemporary(slice_.name, DataType::kUndefined, {});
      graph_->tensors[output].shape_known = false;
    }
    Node node;
    node.op = op;
    node.name = slice_.name;
    node.sources = slice_.sources;
    node.opset = kOpset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    nodes_.push_back(std::move(node));
    return output;
  }
  std::vector<Node> Take() { return std::move(nodes_); }

 private:
  Graph* const graph_;
  const Node& slice_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<Node> SliceByValues(Graph* graph, const Node& node,
                                const BoundedTensors& bounded) {
  if (!node.domain.empty() || node.op != "Slice" || node.outputs.size() != 1 ||
      node.outputs[0] == kNoTensor) {
    return {};
  }
  for (size_t i = 0; i < 3; ++i) {
    if (node.input(i) == kNoTensor) return {};
  }
  const Shape x = graph->tensors[node.inputs[0]].shape;
  const Tensor& starts = graph->tensors[node.inputs[1]];
  const Tensor& ends = graph->tensors[node.inputs[2]];
  const DataType type = starts.type;
  if ((starts.is_constant() && ends.is_constant()) ||
      starts.shape.size() != 1 || ends.shape != starts.shape ||
      ends.type != type ||
      (type != DataType::kInt32 && type != DataType::kInt64)) {
    return {};
  }
  const int64_t count = starts.shape[0];
  if (count < 1 || count > static_cast<int64_t>(x.size())) return {};
  std::vector<int64_t> axes;
  for (size_t i = 3; i < 5; ++i) {
    const TensorId id = node.input(i);
    if (id == kNoTensor) continue;
    if (!graph->tensors[id].is_constant()) return {};
    const std::vector<int64_t> values = ToInts(*graph->tensors[id].constant);
    if (static_cast<int64_t>(values.size()) != count) return {};
    if (i == 3) axes = values;
    if (i == 4 && std::count(values.begin(), values.end(), 1) != count) {
      return {};
    }
  }
  if (axes.empty()) {
    for (int64_t i = 0; i < count; ++i) axes.push_back(i);
  }
  for (int64_t axis : axes) {
    size_t normal = 0;
    if (!NormalizeAxis(axis, x.size(), &normal) || normal >= 64 ||
        (bounded.of(node.inputs[0]) >> normal & 1) != 0 ||
        (type == DataType::kInt32 &&
         x[normal] > std::numeric_limits<int32_t>::max())) {
      return {};
    }
  }
  Maker make(graph, node);
  const TensorId zero = make.Constant(IntsOfType(type, {}, {0})),
                 one = make.Constant(IntsOfType(type, {}, {1}));
  TensorId y = node.inputs[0];
  for (size_t k = 0; k < axes.size(); ++k) {
    size_t axis = 0;
    NormalizeAxis(axes[k], x.size(), &axis);
    const TensorId size = make.Constant(IntsOfType(type, {}, {x[axis]}));
    const TensorId at = make.Constant(
        IntsOfType(DataType::kInt64, {}, {static_cast<int64_t>(k)}));
    // (A node, so that what it takes is counted where constants are folded.)
    const TensorId index = make.Add("Range", {zero, size, one});
    const auto bound = [&](TensorId list) {
      const TensorId given =
          make.Add("Gather", {list, at}, {{"axis", int64_t{0}}});
      return make.Add("Where", {make.Add("Less", {given, zero}),
                                make.Add("Add", {given, size}), given});
    };
    const TensorId before = make.Add("Less", {index, bound(node.inputs[1])});
    const TensorId taken =
        make.Add("And", {make.Add("Not", {before}),
                         make.Add("Less", {index, bound(node.inputs[2])})});
    y = make.Add("Compress", {y, taken}, {{"axis", static_cast<int64_t>(axis)}},
                 k + 1 == axes.size() ? node.outputs[0] : kNoTensor);
  }
  return make.Take();
}

}  // namespace heddle::compiler
