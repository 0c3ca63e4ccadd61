// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/index_map.h"

#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "compiler/base/pace.h"

namespace heddle::compiler {

Shape IndexMap::to() const {
  Shape shape;
  for (const auto& axis : axes) {
    shape.push_back(static_cast<int64_t>(axis.size()));
  }
  return shape;
}

IndexMap IdentityMap(const Shape& shape) {
  IndexMap map;
  map.from = shape;
  for (int64_t n : shape) {
    map.axes.emplace_back(n);
    std::iota(map.axes.back().begin(), map.axes.back().end(), 0);
  }
  return map;
}

TensorData TakeElements(const TensorData& x, const IndexMap& map) {
  const Shape shape = map.to();
  const size_t rank = shape.size(), element = ElementBytes(x.type);
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * map.from[i];
  TensorData y = TensorData::Zeros(x.type, shape);
  const int64_t count = y.count();
  std::vector<size_t> position(rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    int64_t source = 0;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t index = map.axes[d][position[d]];
      inside = inside && index >= 0;
      source += index * strides[d];
    }
    if (inside) {
      std::memcpy(&y.bytes[i * element], &x.bytes[source * element], element);
    } else if (!map.constant.empty()) {
      std::memcpy(&y.bytes[i * element], map.constant.data(), element);
    }
    for (size_t d = rank; d-- > 0;) {
      if (++position[d] < map.axes[d].size()) break;
      position[d] = 0;
    }
  }
  return y;
}

BoundNode BindInputs(const Graph& graph, const Node& node,
                     const std::vector<const TensorData*>& inputs) {
  BoundNode bound;
  bound.node = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor || inputs[i] == nullptr) {
      bound.node.inputs[i] = kNoTensor;
      continue;
    }
    Tensor tensor;
    tensor.name = graph.tensors[node.inputs[i]].name;
    tensor.type = inputs[i]->type;
    tensor.shape = inputs[i]->shape;
    tensor.shape_known = true;
    if (i > 0) tensor.constant = std::make_shared<TensorData>(*inputs[i]);
    bound.node.inputs[i] = bound.graph.AddTensor(std::move(tensor));
  }
  for (TensorId& id : bound.node.outputs) {
    if (id == kNoTensor) continue;
    Tensor tensor = graph.tensors[id];
    tensor.constant = nullptr;
    id = bound.graph.AddTensor(std::move(tensor));
  }
  return bound;
}

}  // namespace heddle::compiler
