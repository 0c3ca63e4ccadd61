// SPDX-License-Identifier: Apache-2.0
// Operators whose meaning is a microprogram (ops/program_operator.h): each step
// is one elementwise operation with the same instructions.
#include "compiler/lowering/lower_unary.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

// Input i as a stream of `rank` dimensions.
absl::StatusOr<Operand> StepOperand(Lowering* l, const Node& node, int i,
                                    size_t rank) {
  const Tensor& tensor = l->tensor(node.inputs[i]);
  isa::ElementType element;
  if (LaneType(tensor.type, &element) ||
      (tensor.type == DataType::kInt64 && SelectsInt64(node.domain, node.op))) {
    return DenseOperand(l, node, static_cast<size_t>(i), rank);
  }
  if (!tensor.is_constant()) {
    return RejectNode(Rejection::kUnsupportedDatatype, node, "input '",
                      tensor.name, "' is computed and has type ",
                      DataTypeName(tensor.type),
                      ", which the card does not compute with");
  }
  return Operand::Constant(
      std::make_shared<TensorData>(LaneData(*tensor.constant)));
}

}  // namespace

absl::Status LowerSteps(Lowering* l, const Node& node) {
  ASSIGN_OR_RETURN(auto steps, StepsOf(l->graph(), node));
  const Tensor& output = l->tensor(node.outputs[0]);
  const size_t rank = output.shape.size();
  isa::ElementType element = isa::ElementType::kF32;
  LaneType(output.type, &element);
  const bool half = element == isa::ElementType::kF16;
  int previous = -1;
  Shape shape(rank, 1);
  for (size_t i = 0; i < steps.size(); ++i) {
    const ElementwiseStep& step = steps[i];
    std::vector<Operand> operands;
    for (int k : step.operands) {
      if (k == ElementwiseStep::kPrevious) {
        operands.push_back(Operand::Of(previous));
        continue;
      }
      ASSIGN_OR_RETURN(auto operand, StepOperand(l, node, k, rank));
      operands.push_back(operand);
      const Shape before = shape;
      BroadcastShapes(before, l->tensor(node.inputs[k]).shape, &shape);
    }
    previous = i + 1 == steps.size()
                   ? l->NewValue(node.outputs[0], Layout::kDense)
                   : l->NewTemporary(absl::StrCat(output.name, "/step", i),
                                     half ? DataType::kFloat : output.type,
                                     shape, Layout::kDense);
    AddElementwise(l, node, step.program, step.arguments, operands, previous);
  }
  return absl::OkStatus();
}

namespace {

const ProgramLoweringRegistration kLowering(LowerSteps);

}  // namespace
}  // namespace heddle::compiler
