// SPDX-License-Identifier: Apache-2.0
#ifndef HEDDLE_COMPILER_LOWERING_QSOFTMAX_PASSES_H_
#define HEDDLE_COMPILER_LOWERING_QSOFTMAX_PASSES_H_

#include "absl/status/status.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/softmax_table.h"

namespace heddle::compiler {

// A QLinearSoftmax whose rows do not fit SRAM: each of its steps is a pass
// through device memory. `n` is the number of codes that stand for 1.
absl::Status LowerQSoftmaxInPasses(Lowering* lowering, const Node& node,
                                   const SoftmaxShape& shape, float n);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_QSOFTMAX_PASSES_H_
