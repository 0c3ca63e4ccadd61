// SPDX-License-Identifier: Apache-2.0
// Of each operator that the host runs on tensors whose size a run decides:
// which axes of its result may come out smaller (bounded.h).
#ifndef HEDDLE_COMPILER_OPS_BOUNDED_RULES_H_
#define HEDDLE_COMPILER_OPS_BOUNDED_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

inline AxisSet AxisBit(size_t axis) { return AxisSet{1} << axis; }

// A node with what is known of its operands.
struct BoundedReader {
  const Graph& graph;
  const Node& node;
  const BoundedTensors& bounded;

  AxisSet input(size_t i) const { return bounded.of(node.input(i)); }
  const Shape& shape(size_t i) const {
    return graph.tensors[node.inputs[i]].shape;
  }
  size_t output_rank() const {
    return graph.tensors[node.outputs[0]].shape.size();
  }
  // None but this one.
  bool Only(size_t only) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != only && input(i) != 0) return false;
    }
    return true;
  }
  bool Ints(size_t i, std::vector<int64_t>* values) const {
    const TensorId id = node.input(i);
    if (id == kNoTensor) return false;
    // (A list of sizes is given as a constant where shapes are inferred.)
    if (bounded.sizes(id) != nullptr || !graph.tensors[id].is_constant()) {
      return false;
    }
    const TensorData& data = *graph.tensors[id].constant;
    if (data.type != DataType::kInt64) return false;
    *values = ToInts(data);
    return true;
  }
  const OpenSizes* sizes(size_t i) const {
    return bounded.sizes(node.input(i));
  }
};

// Sets the axes of output 0 (others: see BoundedTensors::Add), which are 0
// before; false: it cannot follow. No tensor of the node has more than 63 axes.
using BoundedRule = bool (*)(const BoundedReader& reader, AxisSet* output);

// Whether values decide the size of the node's result (NonZero and others).
bool DecidesSizes(const Node& node);
// Null: it cannot follow.
BoundedRule FindBoundedRule(const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_BOUNDED_RULES_H_
