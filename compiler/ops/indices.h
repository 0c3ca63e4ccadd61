// SPDX-License-Identifier: Apache-2.0
// Indices into a tensor: negative ones count from the end, those outside are
// refused where they are constant and an error where they are computed.
#ifndef HEDDLE_COMPILER_OPS_INDICES_H_
#define HEDDLE_COMPILER_OPS_INDICES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The attribute `axis` of a node whose input has `rank` dimensions.
absl::StatusOr<size_t> AxisOf(const Node& node, size_t rank, int64_t fallback);

// Constant indices are within their dimensions: the last dimension of `indices`
// goes through `sizes`, or all of them are of one size.
absl::Status CheckIndices(const Node& node, const Tensor& indices,
                          const Shape& sizes);

// An index counted from the beginning, or OUT_OF_RANGE.
absl::StatusOr<int64_t> PlaceOf(const Node& node, int64_t index, int64_t size);

// Places that an index of several dimensions tells apart: two of them, and what
// is none (-2^31), are no other place when they are added up as int32.
inline constexpr int64_t kMostPlaces = int64_t{1} << 30;

// [before, size, after] about an axis.
Shape AboutAxis(const Shape& shape, size_t axis);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_INDICES_H_
