// SPDX-License-Identifier: Apache-2.0
// heddle.Elementwise; see fused_program.h.
#include "compiler/base/status_macros.h"
#include "compiler/ops/fused_program.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

bool HasProgram(const Graph&, const Node& node, std::string* why) {
  *why = std::string(FusedProgramOf(node).status().message());
  return why->empty();
}

absl::StatusOr<std::vector<ElementwiseStep>> FusedSteps(const Graph&,
                                                        const Node& node) {
  ASSIGN_OR_RETURN(auto fused, FusedProgramOf(node));
  ElementwiseStep step;
  step.program = std::move(fused.program);
  step.arguments = fused.arguments;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    step.operands.push_back(static_cast<int>(i));
  }
  return std::vector<ElementwiseStep>{std::move(step)};
}

absl::Status InferFused(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(InferBroadcast(graph, node));
  Tensor& result = graph->tensors[node.outputs[0]];
  result.type = static_cast<DataType>(
      node.IntAttribute("type", static_cast<int64_t>(result.type)));
  return absl::OkStatus();
}

constexpr TypeSet kLoadable =
    kReals | kQuantizedValues |
    Types(DataType::kBool, DataType::kInt16, DataType::kUint16,
          DataType::kInt32, DataType::kUint32, DataType::kBfloat16);

const ProgramOperator kElementwise(
    Define("Elementwise", 1, kMaxOpset)
        .Domain(kInternalDomain)
        .Inputs(1, 3, kLoadable)
        .Attr("program", AttributeKind::kTensor, true)
        .Attr("arguments", AttributeKind::kInts, true)
        .Attr("type", AttributeKind::kInt, true)
        .Attr("operators", AttributeKind::kStrings)
        .Rule(Rejection::kInvalidModel, "it has a program", HasProgram),
    InferFused, FusedSteps);

}  // namespace
}  // namespace heddle::compiler
