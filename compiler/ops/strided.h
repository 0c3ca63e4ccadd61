// SPDX-License-Identifier: Apache-2.0
// Elements that move without being looked at, in loops that follow memory: of
// Transpose, DepthToSpace and whatever else is an order of axes.
#ifndef HEDDLE_COMPILER_OPS_STRIDED_H_
#define HEDDLE_COMPILER_OPS_STRIDED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Element (i0, i1, ...) of `y`, which is dense and has that shape, becomes the
// element i0 * strides[0] + i1 * strides[1] + ... of `x`. `element`: bytes, 1,
// 2, 4 or 8.
void CopyStrided(const Shape& shape, const std::vector<int64_t>& strides,
                 size_t element, const uint8_t* x, uint8_t* y);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_STRIDED_H_
