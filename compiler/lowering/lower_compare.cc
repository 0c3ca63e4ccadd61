// SPDX-License-Identifier: Apache-2.0
// Equal, Less, LessOrEqual, Greater, GreaterOrEqual, and Mod of integers. int64
// is int32 on the card, and compared as such.
#include <string>

#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/ordered.h"

namespace heddle::compiler {
namespace {

absl::Status LowerOrdered(Lowering* l, const Node& node,
                          const Microprogram& program) {
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  const std::vector<Operand> operands = {DenseOperand(l, node, 0, rank),
                                         DenseOperand(l, node, 1, rank)};
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, program, {}, operands, result);
  return absl::OkStatus();
}

template <Comparison comparison>
absl::Status LowerComparison(Lowering* l, const Node& node) {
  return LowerOrdered(
      l, node,
      CompareProgram(comparison, OrderOf(l->tensor(node.inputs[0]).type)));
}

absl::Status LowerMod(Lowering* l, const Node& node) {
  return LowerOrdered(l, node,
                      RemainderProgram(OrderOf(l->tensor(node.inputs[0]).type),
                                       node.IntAttribute("fmod", 0) != 0));
}

const LoweringRegistration kLowerings[] = {
    {"", "Equal", LowerComparison<Comparison::kEqual>, true},
    {"", "Less", LowerComparison<Comparison::kLess>, true},
    {"", "LessOrEqual", LowerComparison<Comparison::kLessOrEqual>, true},
    {"", "Greater", LowerComparison<Comparison::kGreater>, true},
    {"", "GreaterOrEqual", LowerComparison<Comparison::kGreaterOrEqual>, true},
    {"", "Mod", LowerMod, true},
};

}  // namespace
}  // namespace heddle::compiler
