// SPDX-License-Identifier: Apache-2.0
// heddle.If and heddle.Loop; see control_flow.h.
#include <cstring>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr int kMostOperands = 1 << 20;
// Units of Pace() that an iteration takes at least.
constexpr int64_t kIterationPace = 1000;

absl::Status InferControl(Graph* graph, const Node& node) {
  const ControlFlow control = ControlOf(node);
  const std::vector<ValueType> inputs = ControlInputs(*graph, node);
  const std::vector<ValueType> slots = SlotTypes(control, inputs);
  std::vector<std::vector<ValueType>> results;
  for (const ControlBody& body : BodiesOf(node)) {
    if (TypesOf(*body.graph, body.graph->inputs) != slots) {
      return RejectNode(Rejection::kMismatchingShape, node, body.name,
                        " reads other tensors than it is given");
    }
    results.push_back(TypesOf(*body.graph, body.graph->outputs));
  }
  if (results.empty()) return InferNothing(graph, node);
  std::vector<ValueType> outputs = results[0];
  if (control.kind == ControlFlow::Kind::kLoop) {
    if (control.conditional && !outputs.empty()) outputs.erase(outputs.begin());
    for (size_t i = control.carried; i < outputs.size(); ++i) {
      outputs[i].shape.insert(outputs[i].shape.begin(), control.trips);
    }
  }
  const std::string wrong =
      WhatIsWrongWithControl(control, inputs, outputs, results);
  if (!wrong.empty()) {
    return RejectNode(Rejection::kUnsupportedShape, node, wrong);
  }
  for (size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
    RETURN_IF_ERROR(
        SetOutput(graph, node, i, outputs[i].type, outputs[i].shape));
  }
  return absl::OkStatus();
}

Results EvaluateControl(const Graph& graph, const Node& node,
                        const Inputs& inputs) {
  const std::vector<ControlBody> bodies = BodiesOf(node);
  std::vector<const uint8_t*> from;
  for (const TensorData* data : inputs) {
    if (data != nullptr) from.push_back(data->bytes.data());
  }
  std::vector<TensorData> made;
  std::vector<uint8_t*> to;
  for (TensorId id : node.outputs) {
    const Tensor& tensor = graph.tensors[id];
    made.push_back(TensorData::Zeros(tensor.type, tensor.shape));
  }
  for (TensorData& data : made) to.push_back(data.bytes.data());
  const auto run = [&](size_t body, const std::vector<const uint8_t*>& slots,
                       const std::vector<uint8_t*>& results) -> absl::Status {
    const Graph& own = *bodies[body].graph;
    std::vector<TensorData> arguments;
    for (size_t i = 0; i < slots.size(); ++i) {
      const Tensor& tensor = own.tensors[own.inputs[i]];
      TensorData data;
      data.type = tensor.type;
      data.shape = tensor.shape;
      const uint64_t bytes =
          static_cast<uint64_t>(data.count()) * ElementBytes(data.type);
      data.bytes = TensorBytes::View(slots[i], bytes, nullptr);
      arguments.push_back(std::move(data));
    }
    ASSIGN_OR_RETURN(const auto values, EvaluateGraph(own, arguments));
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorBytes& bytes = values[own.outputs[i]].bytes;
      if (!bytes.empty()) {
        std::memcpy(results[i], bytes.data(), bytes.size());
      }
    }
    return absl::OkStatus();
  };
  const auto pace = [] {
    Pace(kIterationPace);  // which throws when it is time to stop
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(Drive(ControlOf(node), ControlInputs(graph, node),
                        TypesOf(graph, node.outputs), from, to, run, pace));
  return made;
}

const OperatorRegistration kIf(
    Define("If", 1, kMaxOpset)
        .Domain(kInternalDomain)
        .Inputs(1, kMostOperands, Types(DataType::kBool), kMovable)
        .Outputs(kMostOperands)
        .Attr("then_branch", AttributeKind::kGraph, true)
        .Attr("else_branch", AttributeKind::kGraph, true)
        .Attr("kind", AttributeKind::kInt, true)
        .Attr("why", AttributeKind::kString, true)
        .Run(InferControl, EvaluateControl));

const OperatorRegistration kLoop(
    Define("Loop", 1, kMaxOpset)
        .Domain(kInternalDomain)
        .Inputs(2, kMostOperands, kInt64s, Types(DataType::kBool), kMovable)
        .Optional(0, 1)
        .Outputs(kMostOperands)
        .Attr("body", AttributeKind::kGraph, true)
        .Attr("carried", AttributeKind::kInt, true)
        .Attr("sequences", AttributeKind::kInt, true)
        .Attr("conditional", AttributeKind::kInt, true)
        .Attr("trips", AttributeKind::kInt, true)
        .Attr("kind", AttributeKind::kInt, true)
        .Attr("why", AttributeKind::kString, true)
        .Run(InferControl, EvaluateControl));

}  // namespace
}  // namespace heddle::compiler
