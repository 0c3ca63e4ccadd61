// SPDX-License-Identifier: Apache-2.0
// Rows of a table by indices that are computed at run time.
#ifndef HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_
#define HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

// Appends the operation that makes row i of `result` row index[i] of `table`, a
// dense value of shape [rows, row]. `index` holds int32 from 0 on, any shape.
void AddGather(Lowering* lowering, const Node& node, int table, int index,
               int result);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_
