// SPDX-License-Identifier: Apache-2.0
// Pow where its microprogram (ops/math_binary.cc) does not do: of int32, by
// multiplication, which wraps, or for real exponents in fp32, toward zero; and
// of floats to an int64 power that is computed, which is int32 on the card.
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/lowering/lower_unary.h"
#include "compiler/ops/define.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

Term Int(uint32_t value) { return ProgramBuilder::ImmBits(value); }

// x to the power n, the low 32 bits; 1 / x^-n toward zero where n < 0.
Term IntegerPower(ProgramBuilder* b, Term x, Term n, bool has_sign) {
  Term power = b->Op(isa::MicroOp::kMov, Int(1));
  Term square = x;
  const int bits = has_sign ? 31 : 32;
  for (int k = 0; k < bits; ++k) {
    power = b->Select(b->And(n, Int(uint32_t{1} << k)), b->IMul(power, square),
                      power);
    if (k + 1 < bits) square = b->IMul(square, square);
  }
  if (!has_sign) return power;
  // Only 1 and -1 have an inverse; the parity of n is that of -n.
  const Term minus = b->IEqual(x, Int(~uint32_t{0}));
  const Term odd = b->Select(b->And(n, Int(1)), Int(~uint32_t{0}), Int(1));
  const Term inverse =
      b->Select(minus, odd, b->And(b->IEqual(x, Int(1)), Int(1)));
  return b->Select(b->ILess(n, Int(0)), inverse, power);
}

absl::Status LowerPow(Lowering* l, const Node& node) {
  const DataType base = l->tensor(node.inputs[0]).type;
  const Tensor& exponent = l->tensor(node.inputs[1]);
  const bool wide = exponent.type == DataType::kInt64;
  if (Contains(kReals, base) && (!wide || exponent.is_constant())) {
    return LowerSteps(l, node);
  }
  isa::ElementType element;
  if (!(Contains(kReals, base) || base == DataType::kInt32) ||
      !(wide || LaneType(exponent.type, &element))) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card does not compute ", DataTypeName(base),
                      " to the power of ", DataTypeName(exponent.type));
  }
  ProgramBuilder b;
  const Order order = OrderOf(exponent.type);
  if (Contains(kReals, base)) {
    b.Out(Pow(&b, b.A(), b.FromInt(b.B())));
  } else if (order == Order::kReal) {
    b.Out(b.Truncate(Pow(&b, b.FromInt(b.A()), b.B())));
  } else {
    b.Out(IntegerPower(&b, b.Op(isa::MicroOp::kMov, b.A()),
                       b.Op(isa::MicroOp::kMov, b.B()),
                       order == Order::kSigned));
  }
  ASSIGN_OR_RETURN(auto program, b.Finish());
  const size_t rank = l->tensor(node.outputs[0]).shape.size();
  const std::vector<Operand> operands = {DenseOperand(l, node, 0, rank),
                                         DenseOperand(l, node, 1, rank)};
  const int result = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, program, {}, operands, result);
  return absl::OkStatus();
}

const LoweringRegistration kPow("", "Pow", LowerPow, true);

}  // namespace
}  // namespace heddle::compiler
