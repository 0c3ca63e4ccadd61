// SPDX-License-Identifier: Apache-2.0
// Elements of a tensor that an index map takes (compiler/ops/index_map.h).
#ifndef HEDDLE_COMPILER_DEVICE_OPS_TAKE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_TAKE_H_

#include "compiler/device_ops/lowering.h"
#include "compiler/ops/index_map.h"

namespace heddle::compiler {

// Binds `out` to the elements of input 0 of `node` that the map takes: a view
// where they are contiguous, else a move. The rank of the map may differ from
// the operand's and the result's; elements are in row-major order.
void LowerIndexMap(Lowering* lowering, const Node& node, IndexMap map,
                   TensorId out);

// The elements of a dense value of shape `map.from` that the map takes, as a
// view or a new value of shape map.to().
int TakeValue(Lowering* lowering, const Node& node, int value, IndexMap map);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_TAKE_H_
