// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax whose rows do not fit SRAM: the maxima, the sums and
// the results in a pass of their own each, between which a row lies in device
// memory. The order of operations is that of compiler/ops/softmax.cc.
#ifndef HEDDLE_COMPILER_LOWERING_SOFTMAX_PASSES_H_
#define HEDDLE_COMPILER_LOWERING_SOFTMAX_PASSES_H_

#include "compiler/device_ops/lowering.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {

// Whether one row of operand and result, with `element_bytes` of each together,
// is too much for one operation.
bool NeedsPasses(const ReduceStage& stage, int64_t element_bytes,
                 uint64_t sram_bytes);

absl::Status LowerSoftmaxInPasses(Lowering* lowering, const Node& node,
                                  const ReduceStage& stage, bool log);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_SOFTMAX_PASSES_H_
