// SPDX-License-Identifier: Apache-2.0
// heddle.Elementwise (ops/fused_program.h): one elementwise operation. Codes
// stay in the layout of the matrix engine where the operands allow it.
#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/fused_program.h"

namespace heddle::compiler {
namespace {

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

Shape Padded(Shape shape, size_t rank) {
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

// Whether every operand can be read along the loops of blocked layout:
// constants vary along channels only, and of more than four dimensions all are
// like the result's.
bool AllowsBlocked(const Lowering& l, const Node& node, const Shape& shape) {
  for (TensorId id : node.inputs) {
    const Tensor& t = l.tensor(id);
    if (shape.size() > 4 && (t.shape != shape || t.is_constant())) return false;
    if (!t.is_constant()) continue;
    const Shape padded = Padded(t.shape, shape.size());
    for (size_t i = 0; i < padded.size(); ++i) {
      if (padded[i] != 1 && !Operand::IsChannel(i, padded.size())) return false;
    }
  }
  return true;
}

Operand BlockedOperandOf(Lowering* l, const Node& node, TensorId id,
                         const Shape& shape) {
  const Tensor& t = l->tensor(id);
  if (t.is_constant()) {
    auto data = std::make_shared<TensorData>(*t.constant);
    data->shape = Padded(t.shape, shape.size());
    return Operand::Constant(data);
  }
  if (IsCode(t.type)) {
    if (t.shape.size() == shape.size()) {
      return Operand::Of(l->ValueOf(id, node));
    }
    return Operand::Of(BlockedOperand(l, node, id, shape));
  }
  const int value = l->ValueIn(id, Layout::kDense, node);
  return Operand::Of(t.shape.size() == shape.size()
                         ? value
                         : l->Reshaped(value, Padded(t.shape, shape.size())));
}

absl::Status LowerFused(Lowering* l, const Node& node) {
  ASSIGN_OR_RETURN(auto fused, FusedProgramOf(node));
  const TensorId out = node.outputs[0];
  const Shape shape = l->tensor(out).shape;
  const bool codes =
      IsCode(l->tensor(out).type) ||
      std::any_of(node.inputs.begin(), node.inputs.end(), [l](TensorId id) {
        return IsCode(l->tensor(id).type) && !l->tensor(id).is_constant();
      });
  const bool blocked = codes && AllowsBlocked(*l, node, shape);
  std::vector<Operand> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    operands.push_back(blocked
                           ? BlockedOperandOf(l, node, node.inputs[i], shape)
                           : DenseOperand(l, node, i, shape.size()));
  }
  const int result =
      l->NewValue(out, blocked ? l->LayoutFor(out) : Layout::kDense);
  AddElementwise(l, node, fused.program, fused.arguments, operands, result);
  return absl::OkStatus();
}

const LoweringRegistration kFused(kInternalDomain, "Elementwise", LowerFused);

}  // namespace
}  // namespace heddle::compiler
