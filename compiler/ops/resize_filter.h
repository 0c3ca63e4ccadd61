// SPDX-License-Identifier: Apache-2.0
// Resize by filters: mode cubic, antialias, and what computes in fp32 on
// float16. Axis by axis, the last first, the elements along an axis are a
// product with a constant matrix, whose rows are the weights of one result, in
// fp32; of the weights only the window counts that has all that are not zero,
// where it is much smaller than the axis:
//   linear  1 - |d|, d the distance to the coordinate, within 1
//   cubic   Keys' kernel with cubic_coeff_a, within 2
// antialias stretches the filter along an axis that shrinks, and divides by the
// sum of weights. Elements beyond the ends are those at the ends, or with
// exclude_outside there are none and the other weights are divided by their
// sum. What tf_crop_and_resize takes from outside is extrapolation_value at the
// end. An infinity or NaN makes all results NaN whose windows it is in.
#ifndef HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_
#define HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_

#include <cstdint>
#include <vector>

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

bool IsResizedByFilter(const Graph& graph, const Node& node);
absl::Status ExpandResize(Expansion* e);

// Those whose scales, or a roi that counts, are computed (resize_computed.cc).
bool IsComputedResize(const Graph& graph, const Node& node);
absl::Status ExpandComputedResize(Expansion* e);

// x with its axis `axis` multiplied by `weights`, [to, from].
TensorId MultiplyAlong(Expansion* e, TensorId x, size_t axis, TensorId weights);

// heddle.Filter: planes [..., rows, columns] of fp32 whose elements are sums of
// neighbours with constant weights, the columns first, then the rows. An
// element of an axis is the chain
//   acc = fma(x[start + t], weight[t], acc), t = 0, 1, ..., from +0.
//
//   inputs      x, then the weights [to, taps] of each axis that is filtered,
//               rows before columns
//   attributes  rows, columns: the start of each element of the axis' result,
//               absent for an axis that stays
struct FilteredAxis {
  std::vector<int64_t> start;  // empty: the axis stays
  int64_t taps = 0;
  std::vector<float> weight;  // [to, taps]
};
struct FilterPlan {
  FilteredAxis rows, columns;
};
// Of a checked node.
FilterPlan FilterPlanOf(const Graph& graph, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_RESIZE_FILTER_H_
