// SPDX-License-Identifier: Apache-2.0
// Resize by filters: mode cubic, antialias, and what computes in fp32 on
// float16. Axis by axis, the last first, the elements along an axis are a
// product with a constant matrix, whose rows are the weights of one result, in
// fp32:
//   linear  1 - |d|, d the distance to the coordinate, within 1
//   cubic   Keys' kernel with cubic_coeff_a, within 2
// antialias stretches the filter along an axis that shrinks, and divides by the
// sum of weights. Elements beyond the ends are those at the ends, or with
// exclude_outside there are none and the other weights are divided by their
// sum. What tf_crop_and_resize takes from outside is extrapolation_value at the
// end. An infinity or NaN makes all results along its axes NaN.
#ifndef HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_
#define HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

bool IsResizedByFilter(const Graph& graph, const Node& node);
absl::Status ExpandResize(Expansion* e);

// Those whose scales, or a roi that counts, are computed (resize_computed.cc).
bool IsComputedResize(const Graph& graph, const Node& node);
absl::Status ExpandComputedResize(Expansion* e);

// x with its axis `axis` multiplied by `weights`, [to, from].
TensorId MultiplyAlong(Expansion* e, TensorId x, size_t axis, TensorId weights);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_
