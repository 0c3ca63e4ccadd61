// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax: what is computed along which elements.
#ifndef HEDDLE_COMPILER_OPS_SOFTMAX_H_
#define HEDDLE_COMPILER_OPS_SOFTMAX_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {

// The [outer, count, inner] that a node normalises along `count`: its axis, and
// below opset 13 all dimensions from the axis on. The rejection names the node.
absl::StatusOr<ReduceStage> ResolveSoftmax(const Node& node,
                                           const Shape& shape);

// The pieces of the definition in softmax.cc as instructions, used on both
// sides. m is the maximum, `r` what RowTerm made of the sum.
Term ExpTerm(ProgramBuilder* b, Term x, Term m);      // exp(x - m)
Term RowTerm(ProgramBuilder* b, bool log, Term sum);  // of one row
Term SoftmaxTerm(ProgramBuilder* b, bool log, Term x, Term m, Term r);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_SOFTMAX_H_
