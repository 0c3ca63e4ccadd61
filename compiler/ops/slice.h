// SPDX-License-Identifier: Apache-2.0
// What Slice and Split take of each axis.
#ifndef HEDDLE_COMPILER_OPS_SLICE_H_
#define HEDDLE_COMPILER_OPS_SLICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Elements start, start + step, ... (`count` of them).
struct AxisRange {
  int64_t start = 0, count = 0, step = 1;
};

// Of every axis; attributes (opset < 10) or constant inputs.
absl::StatusOr<std::vector<AxisRange>> SliceRanges(const Graph& graph,
                                                   const Node& node);

// Sizes of the parts along `axis`: attribute, constant input, or equal parts;
// with num_outputs (opset 18) the last one may be smaller.
absl::StatusOr<std::vector<int64_t>> SplitSizes(const Graph& graph,
                                                const Node& node, size_t* axis);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_SLICE_H_
