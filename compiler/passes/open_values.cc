// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/open_values.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;

TensorData Ints(Shape shape, const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64, std::move(shape));
  std::copy(values.begin(), values.end(), data.as<int64_t>());
  return data;
}

std::map<std::string, Attribute> Along(const OpenTensor& open) {
  return {{"axis", static_cast<int64_t>(open.axis)}};
}

}  // namespace

std::optional<size_t> OneAxis(const Shape& shape, const Shape& other) {
  if (shape.size() != other.size()) return std::nullopt;
  std::optional<size_t> axis;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == other[i]) continue;
    if (axis.has_value()) return std::nullopt;
    axis = i;
  }
  return axis;
}
std::optional<size_t> OneAxis(AxisSet axes) {
  if (axes == 0 || (axes & (axes - 1)) != 0) return std::nullopt;
  size_t axis = 0;
  while ((axes >> axis & 1) == 0) ++axis;
  return axis;
}

TensorId OpenValues::Constant(TensorData data) {
  const TensorId id =
      graph_->AddTemporary(owner_.name + "/constant", data.type, data.shape);
  graph_->tensors[id].constant =
      std::make_shared<const TensorData>(std::move(data));
  return id;
}
TensorId OpenValues::Number(int64_t value) {
  return Constant(Ints({}, {value}));
}
TensorId OpenValues::List(const std::vector<int64_t>& values) {
  return Constant(Ints({static_cast<int64_t>(values.size())}, values));
}
TensorId OpenValues::Zeros(const ValueType& type) {
  return Add("Expand",
             {Constant(TensorData::Zeros(type.type, {})), List(type.shape)},
             type);
}
TensorId OpenValues::Places(int64_t count) {
  return Add("Range", {Number(0), Number(count), Number(1)},
             {DataType::kInt64, {count}});
}

TensorId OpenValues::Add(const char* op, std::vector<TensorId> inputs,
                         ValueType type,
                         std::map<std::string, Attribute> attributes,
                         TensorId output) {
  if (output == kNoTensor) {
    output = graph_->AddTemporary(owner_.name + "/sized", type.type,
                                  std::move(type.shape));
  }
  Node node;
  node.op = op;
  node.name = owner_.name;
  node.sources = owner_.sources;
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attributes = std::move(attributes);
  nodes_->push_back(std::move(node));
  return output;
}

TensorId OpenValues::AtMost(TensorId value, Shape shape, int64_t most,
                            const std::string& what) {
  const TensorId id =
      Add(kBoundOp, {value}, {DataType::kInt64, std::move(shape)},
          {{"most", most}});
  nodes_->back().domain = kInternalDomain;
  nodes_->back().opset = 1;
  nodes_->back().name = what;
  return id;
}

TensorId OpenValues::SizeOf(const OpenTensor& open, TensorId id) {
  const auto rank = static_cast<int64_t>(open.type.shape.size());
  const auto axis = static_cast<int64_t>(open.axis);
  const TensorId shape = Add("Shape", {id}, {DataType::kInt64, {rank}});
  return Add("Slice", {shape, List({axis}), List({axis + 1})},
             {DataType::kInt64, {1}});
}

TensorId OpenValues::Fill(const OpenTensor& open, TensorId id) {
  ValueType longer = open.type;
  longer.shape[open.axis] *= 2;
  const TensorId both =
      Add("Concat", {id, Zeros(open.type)}, longer, Along(open));
  return Add("Gather", {both, Places(open.most)}, open.type, Along(open));
}

Filled OpenValues::Close(const OpenTensor& open,
                         const BoundedTensors& bounded) {
  if (bounded.of(open.id) != 0) {
    return {Fill(open, open.id), SizeOf(open, open.id)};
  }
  const int64_t size = graph_->tensors[open.id].shape[open.axis];
  return {size == open.most ? open.id : Fill(open, open.id), List({size})};
}

void OpenValues::Take(const OpenTensor& open, const Filled& filled,
                      TensorId id) {
  const TensorId there = Add("Less", {Places(open.most), filled.size},
                             {DataType::kBool, {open.most}});
  Add("Compress", {filled.values, there}, {}, Along(open), id);
}

absl::Status CloseCaptures(const Node& node, const BoundedTensors& bounded,
                           Graph* graph, std::vector<TensorId>* ids,
                           std::vector<Node>* before,
                           std::vector<Node>* inside) {
  OpenValues outside(node, graph, before), taken(node, graph, inside);
  std::vector<TensorId> closed;
  for (TensorId id : *ids) {
    if (bounded.of(id) == 0) {
      closed.push_back(id);
      continue;
    }
    const auto axis = OneAxis(bounded.of(id));
    if (!axis.has_value()) {
      return RejectNode(
          Rejection::kUnsupportedShape, node, "it reads '",
          graph->tensors[id].name,
          "', whose size is known only at run time on more than one "
          "axis; reduce the tensor to a fixed shape before it, or make the "
          "condition or trip count constant");
    }
    OpenTensor open;
    open.id = id;
    open.axis = *axis;
    open.type = {graph->tensors[id].type, graph->tensors[id].shape};
    open.most = open.type.shape[open.axis];
    const Filled filled = outside.Close(open, bounded);
    // (A graph's own copy of `id` is what the node there writes.)
    taken.Take(open, filled, id);
    closed.push_back(filled.values);
    closed.push_back(filled.size);
  }
  *ids = std::move(closed);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
