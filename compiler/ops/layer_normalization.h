// SPDX-License-Identifier: Apache-2.0
// LayerNormalization of fp32: of every row of D elements, with sums in 16 lanes
// as in reduce.h, but never cut into pieces,
//   m = f32(sum of x / D), v = f32(sum of fma(d, d, .) / D), d = f32(x - m)
//   r = f32(1 / f32(sqrt(f32(v + epsilon))))
//   y = fma(f32(d * r), scale, bias), bias +0 where there is none
// The second output is m, the third r.
#ifndef HEDDLE_COMPILER_OPS_LAYER_NORMALIZATION_H_
#define HEDDLE_COMPILER_OPS_LAYER_NORMALIZATION_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {

// The rows of a checked node: [outer, count, 1].
ReduceStage RowsToNormalize(const Node& node, const Shape& shape);

// Scale or bias of every element of a row; null: `absent` for all.
std::vector<float> PerElement(const TensorData* data, int64_t count,
                              float absent);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_LAYER_NORMALIZATION_H_
