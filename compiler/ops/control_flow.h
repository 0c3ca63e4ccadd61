// SPDX-License-Identifier: Apache-2.0
// heddle.If and heddle.Loop: what the graph has for an If, Loop or Scan whose
// course only a run decides (ir/control_flow.h; passes/control.h makes them).
// Their bodies are graphs of their own, attributes of the node, each with all
// slots as its inputs.
//
//   heddle.If    condition, slots -> results; then_branch, else_branch
//   heddle.Loop  trip count or none, condition or none, carried, sequences,
//                others -> carried, scanned; body, carried, sequences,
//                conditional, trips
//
// Both have `kind` and `why`: the rejection for whoever has no host that could
// drive them.
#ifndef HEDDLE_COMPILER_OPS_CONTROL_FLOW_H_
#define HEDDLE_COMPILER_OPS_CONTROL_FLOW_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

bool IsControl(const Node& node);

ControlFlow ControlOf(const Node& node);

struct ControlBody {
  std::string name;  // of the attribute
  std::shared_ptr<const Graph> graph;
};
// In the order of ControlFlow: the then_branch is body 0.
std::vector<ControlBody> BodiesOf(const Node& node);

// The types of its inputs that are there, in order: what ControlFlow counts.
std::vector<ValueType> ControlInputs(const Graph& graph, const Node& node);
std::vector<ValueType> TypesOf(const Graph& graph,
                               const std::vector<TensorId>& ids);

// Why it cannot do without the host: a rejection that names the ONNX node.
absl::Status WhyControl(const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_CONTROL_FLOW_H_
