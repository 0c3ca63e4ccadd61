// SPDX-License-Identifier: Apache-2.0
// Fusion into the output stage of the matrix engine: a node that reads what a
// matrix operation makes, and that nobody else reads, becomes a stage of that
// operation instead of an operation of its own. QLinearAdd and QLinearMul with
// a second operand of the same shape, 8-bit functions of one operand (a table
// computed by the operator's reference semantics), MaxPool, and
// QLinearGlobalAveragePool, whose formula (compiler/ops/qlinear_pool.cc) is the
// hardware's `average` operation for operation.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_FUSE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_FUSE_H_

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

// True if the node has become a stage of an operation lowered before.
bool FuseIntoMatrix(Lowering* lowering, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_FUSE_H_
