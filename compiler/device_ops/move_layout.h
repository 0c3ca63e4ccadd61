// SPDX-License-Identifier: Apache-2.0
// In which layout an operator moves its tensors: 8-bit tensors whose channels
// fill whole blocks stay blocked, everything else is dense.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_MOVE_LAYOUT_H_
#define HEDDLE_COMPILER_DEVICE_OPS_MOVE_LAYOUT_H_

#include <vector>

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

// Blocked if all operands that are computed lie so and every tensor of
// `tensors` (operands and results) has whole blocks of channels.
Layout MoveLayout(Lowering* lowering, const std::vector<TensorId>& operands,
                  const std::vector<TensorId>& tensors);

// The shape in the elements that a MoveBox counts: blocks instead of channels
// in the blocked layout.
Shape MoveShape(Shape shape, Layout layout);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_MOVE_LAYOUT_H_
