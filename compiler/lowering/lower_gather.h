// SPDX-License-Identifier: Apache-2.0
// Elements and rows of a table by indices that are computed at run time.
#ifndef HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_
#define HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

// Appends the operation that makes row i of `result` row index[i] of `table`, a
// dense value of shape [rows, row]. `index` holds int32 from 0 on, any shape.
void AddGather(Lowering* lowering, const Node& node, int table, int index,
               int result);

// Appends the operation that makes result[b, p, a] = table[b, index, a], index
// that at [b, p, a], or at p if it has one for all b and a. All are dense
// values of shape [1, b, p, a]; the index is int32 and may count from the end.
absl::Status AddPick(Lowering* lowering, const Node& node, int table, int index,
                     int result);

// Rows [first, first + count) of a dense value of shape [before, size, after].
int RowsOf(Lowering* lowering, const Node& node, int value, const Shape& shape,
           const Slice& rows);
// `size` in pieces of at most `most`.
std::vector<Slice> PiecesOf(int64_t size, int64_t most);

// How many elements of an axis fit SRAM with ease.
int64_t EasyAxis(const Lowering& lowering, DataType type);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_LOWER_GATHER_H_
