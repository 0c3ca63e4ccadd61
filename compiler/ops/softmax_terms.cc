// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/define.h"
#include "compiler/ops/softmax.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {

absl::StatusOr<ReduceStage> ResolveSoftmax(const Node& node,
                                           const Shape& shape) {
  const bool flat = node.opset < 13;
  const int64_t axis = node.IntAttribute("axis", flat ? 1 : -1);
  const auto rank = static_cast<int64_t>(shape.size());
  size_t at = 0;
  if (flat && axis == rank) {
    at = shape.size();  // rows of one element
  } else if (!NormalizeAxis(axis, shape.size(), &at)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", axis,
                      " lies outside an input of rank ", rank);
  }
  ReduceStage s;
  s.outer = ElementCount(Shape(shape.begin(), shape.begin() + at));
  const Shape rest(shape.begin() + at, shape.end());
  if (flat) {
    s.count = ElementCount(rest);
  } else {
    s.count = rest[0];
    s.inner = ElementCount(Shape(rest.begin() + 1, rest.end()));
  }
  return s;
}

Term ExpTerm(ProgramBuilder* b, Term x, Term m) { return Exp(b, b->Sub(x, m)); }

Term RowTerm(ProgramBuilder* b, bool log, Term sum) {
  return log ? Log(b, sum) : b->Div(b->Imm(1.0f), sum);
}

Term SoftmaxTerm(ProgramBuilder* b, bool log, Term x, Term m, Term r) {
  return log ? b->Sub(b->Sub(x, m), r) : b->Mul(ExpTerm(b, x, m), r);
}

}  // namespace heddle::compiler
