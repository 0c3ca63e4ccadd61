// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/control_flow.h"

#include "compiler/ops/define.h"

namespace heddle::compiler {

bool IsControl(const Node& node) {
  return node.domain == kInternalDomain &&
         (node.op == "If" || node.op == "Loop");
}

ControlFlow ControlOf(const Node& node) {
  ControlFlow control;
  control.name = absl::StrCat(node.op, " '", node.name, "'");
  if (node.op == "If") {
    control.kind = ControlFlow::Kind::kIf;
    return control;
  }
  control.kind = ControlFlow::Kind::kLoop;
  control.has_trip_count = HasInput(node, 0);
  control.has_condition = HasInput(node, 1);
  control.conditional = node.IntAttribute("conditional", 0) != 0;
  control.carried = static_cast<uint32_t>(node.IntAttribute("carried", 0));
  control.sequences = static_cast<uint32_t>(node.IntAttribute("sequences", 0));
  control.trips = node.IntAttribute("trips", -1);
  return control;
}

std::vector<ControlBody> BodiesOf(const Node& node) {
  std::vector<ControlBody> bodies;
  for (const char* name : {"then_branch", "else_branch", "body"}) {
    const auto it = node.attributes.find(name);
    if (it == node.attributes.end()) continue;
    bodies.push_back(
        {name, std::get<std::shared_ptr<const Graph>>(it->second)});
  }
  return bodies;
}

std::vector<ValueType> TypesOf(const Graph& graph,
                               const std::vector<TensorId>& ids) {
  std::vector<ValueType> types;
  for (TensorId id : ids) {
    types.push_back({graph.tensors[id].type, graph.tensors[id].shape});
  }
  return types;
}

std::vector<ValueType> ControlInputs(const Graph& graph, const Node& node) {
  std::vector<TensorId> given;
  for (TensorId id : node.inputs) {
    if (id != kNoTensor) given.push_back(id);
  }
  return TypesOf(graph, given);
}

absl::Status WhyControl(const Node& node) {
  return Reject(static_cast<Rejection>(node.IntAttribute("kind", 0)),
                node.StringAttribute("why", ""));
}

}  // namespace heddle::compiler
