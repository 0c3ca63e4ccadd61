// SPDX-License-Identifier: Apache-2.0
// Equal, Less, LessOrEqual, Greater, GreaterOrEqual, and Mod. int64 is int32 on
// the card, and compared as such.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/vector_math.h"

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

absl::Status LowerFmod(Lowering* l, const Node& node) {
  const Tensor& y = l->tensor(node.outputs[0]);
  const size_t rank = y.shape.size();
  const Operand a = DenseOperand(l, node, 0, rank);
  const Operand b = DenseOperand(l, node, 1, rank);
  ProgramBuilder first, rest;
  first.Out(FmodFirst(&first, first.A(), first.B()));
  rest.Out(FmodRest(&rest, rest.A(), rest.B(), rest.C()));
  ASSIGN_OR_RETURN(auto first_program, first.Finish());
  ASSIGN_OR_RETURN(auto rest_program, rest.Finish());
  const int left = l->NewTemporary(absl::StrCat(y.name, "/left"),
                                   DataType::kFloat, y.shape, Layout::kDense);
  AddElementwise(l, node, first_program, {}, {a, b}, left);
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, rest_program, {}, {Operand::Of(left), a, b}, result);
  return absl::OkStatus();
}

absl::Status LowerMod(Lowering* l, const Node& node) {
  if (OrderOf(l->tensor(node.inputs[0]).type) == Order::kReal) {
    return LowerFmod(l, node);
  }
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
