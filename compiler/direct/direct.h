// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others (ops/expanded.h) and that the host computes
// as one node: the same operations on floats in the same order as their
// expansion, hence its bytes, without its tensors. The expansion, evaluated by
// the reference, stays the definition.
//
//   const auto kernel = MakeDirect(graph, node);  // once
//   if (kernel != nullptr) return kernel->Run(inputs);
#ifndef HEDDLE_COMPILER_DIRECT_DIRECT_H_
#define HEDDLE_COMPILER_DIRECT_DIRECT_H_

#include <memory>

#include "compiler/ir/graph.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

// A node of known shapes, prepared for any number of runs by any threads. What
// can be prepared of constant inputs is: they are not copied otherwise.
class DirectKernel {
 public:
  virtual ~DirectKernel() = default;
  // As EvaluateNode. Inputs have the shapes that the graph states.
  virtual Results Run(const Inputs& inputs) const = 0;
};

// Whether a node that its operator's inference accepts has such a kernel: LSTM,
// GRU, RNN and GridSample of ONNX in float or float16, if there is anything to
// compute.
bool IsDirect(const Graph& graph, const Node& node);

// Null: it has none.
std::unique_ptr<DirectKernel> MakeDirect(const Graph& graph, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DIRECT_DIRECT_H_
