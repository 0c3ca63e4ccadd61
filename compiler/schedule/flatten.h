// SPDX-License-Identifier: Apache-2.0
// Shapes in which an elementwise operation can be cut into rows.
#ifndef HEDDLE_COMPILER_SCHEDULE_FLATTEN_H_
#define HEDDLE_COMPILER_SCHEDULE_FLATTEN_H_

#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Dense operands of `operands` shapes broadcast to `result`, in other words:
// dimensions that all operands have, or repeat, together are joined, and what
// is left is split such that rows (the last dimension but one) are short. All
// shapes are replaced by ones of equal rank and elements in equal order. False,
// and nothing changed, if that has no or more than three dimensions, or cannot
// be split.
bool Flatten(Shape* result, std::vector<Shape>* operands);

// Whether these are too many dimensions for Flatten: more than three are left
// when those that all operands have, or repeat, together are joined.
bool HasManyDims(const Shape& result, const std::vector<Shape>& operands);

// Elements of one row of all channels of a dense tensor: the smallest tile.
int64_t RowElements(const Shape& shape);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_FLATTEN_H_
