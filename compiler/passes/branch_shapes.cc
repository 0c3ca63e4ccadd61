// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/branch_shapes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;        // of the nodes that it makes
constexpr size_t kMostAxes = 63;  // of a bounded tensor

TensorData Ints(Shape shape, const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64, std::move(shape));
  std::copy(values.begin(), values.end(), data.as<int64_t>());
  return data;
}

Node Plain(const Node& owner, const char* op, std::vector<TensorId> inputs,
           TensorId output, std::map<std::string, Attribute> attributes = {}) {
  Node node;
  node.op = op;
  node.name = owner.name;
  node.sources = owner.sources;
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attributes = std::move(attributes);
  return node;
}

TensorId AddConstant(const std::string& hint, TensorData data, Graph* graph) {
  const TensorId id = graph->AddTemporary(hint, data.type, data.shape);
  graph->tensors[id].constant =
      std::make_shared<const TensorData>(std::move(data));
  return id;
}

// Output `i` of the branch, with zeros behind it. Of a result without elements
// nothing is left.
void PadOutput(const Node& owner, size_t i, const Shape& most, Graph* branch) {
  const Tensor tensor = branch->tensors[branch->outputs[i]];
  if (tensor.shape == most) return;
  if (ElementCount(tensor.shape) == 0) {
    branch->outputs[i] =
        AddConstant(tensor.name, TensorData::Zeros(tensor.type, most), branch);
    return;
  }
  std::vector<int64_t> pads(most.size(), 0);
  for (size_t axis = 0; axis < most.size(); ++axis) {
    pads.push_back(most[axis] - tensor.shape[axis]);
  }
  const TensorId by =
      AddConstant(tensor.name + "/pads",
                  Ints({static_cast<int64_t>(pads.size())}, pads), branch);
  const TensorId padded =
      branch->AddTemporary(tensor.name + "/padded", tensor.type, most);
  branch->nodes.push_back(
      Plain(owner, "Pad", {branch->outputs[i], by}, padded));
  branch->outputs[i] = padded;
}

}  // namespace

bool CanBeOneShape(const Shape& a, const Shape& b) {
  return a != b && a.size() == b.size() && a.size() <= kMostAxes;
}

std::vector<Node> MakeOneShape(size_t i, const std::array<Graph*, 2>& branches,
                               Node* branch, Graph* graph) {
  std::array<Shape, 2> shapes;
  for (size_t b = 0; b < 2; ++b) {
    shapes[b] = branches[b]->tensors[branches[b]->outputs[i]].shape;
  }
  Shape most = shapes[0];
  for (size_t axis = 0; axis < most.size(); ++axis) {
    most[axis] = std::max(most[axis], shapes[1][axis]);
  }
  const TensorId result = branch->outputs[i];
  const std::string name = graph->tensors[result].name;
  const DataType type = branches[0]->tensors[branches[0]->outputs[i]].type;
  for (Graph* own : branches) PadOutput(*branch, i, most, own);
  TensorId y = graph->AddTemporary(name + "/padded", type, most);
  branch->outputs[i] = y;
  const auto constant = [&](int64_t value) {
    return AddConstant(name + "/constant", Ints({}, {value}), graph);
  };
  std::vector<Node> behind;
  const auto add = [&](const char* op, std::vector<TensorId> inputs,
                       std::map<std::string, Attribute> attributes = {}) {
    const TensorId id =
        graph->AddTemporary(name + "/taken", DataType::kUndefined, {});
    graph->tensors[id].shape_known = false;
    behind.push_back(Plain(*branch, op, std::move(inputs), id, attributes));
    return id;
  };
  for (size_t axis = 0; axis < most.size(); ++axis) {
    if (shapes[0][axis] == shapes[1][axis]) continue;
    for (size_t b = 0; b < 2; ++b) {
      branches[b]->outputs.push_back(AddConstant(
          name + "/size", Ints({1}, {shapes[b][axis]}), branches[b]));
    }
    const TensorId size =
        graph->AddTemporary(name + "/size", DataType::kInt64, {1});
    branch->outputs.push_back(size);
    // (A node, so that what it takes is counted where constants are folded.)
    const TensorId index =
        add("Range", {constant(0), constant(most[axis]), constant(1)});
    y = add("Compress", {y, add("Less", {index, size})},
            {{"axis", static_cast<int64_t>(axis)}});
  }
  behind.back().outputs = {result};
  return behind;
}

std::optional<Sized> SizeBranches(const Node& node, const Subgraphs& graphs,
                                  const std::vector<BranchResult>& results,
                                  Graph* graph) {
  Sized sized;
  sized.node = node;
  sized.graphs = graphs;
  for (Subgraph* branch :
       {&sized.graphs.then_branch, &sized.graphs.else_branch}) {
    branch->outputs.resize(results.size());  // those that the If has
  }
  OpenValues behind(node, graph, &sized.behind);
  bool any = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& [then, other] = results[i].types;
    const TensorId result = node.outputs[i];
    if (results[i].open == 0 || result == kNoTensor) continue;
    const auto axis = OneAxis(results[i].open);
    if (!axis.has_value() || then.type != other.type ||
        (then.shape != other.shape &&
         OneAxis(then.shape, other.shape) != axis)) {
      return std::nullopt;
    }
    any = true;
    OpenTensor open;
    open.axis = *axis;
    open.most = std::max(then.shape[*axis], other.shape[*axis]);
    open.type = then;
    open.type.shape[*axis] = open.most;
    for (Subgraph* branch :
         {&sized.graphs.then_branch, &sized.graphs.else_branch}) {
      OpenValues made(node, graph, &branch->nodes);
      const TensorId own = branch->outputs[i];
      branch->outputs[i] = made.Fill(open, own);
      branch->outputs.push_back(made.SizeOf(open, own));
    }
    const std::string name = graph->tensors[result].name;
    Filled filled;
    filled.values = graph->AddTemporary(name, open.type.type, open.type.shape);
    filled.size = graph->AddTemporary(name, DataType::kInt64, {1});
    sized.node.outputs[i] = filled.values;
    sized.node.outputs.push_back(filled.size);
    behind.Take(open, filled, result);
  }
  if (!any) return std::nullopt;
  return sized;
}

}  // namespace heddle::compiler
