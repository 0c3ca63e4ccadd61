// SPDX-License-Identifier: Apache-2.0
// Attributes that are inputs in newer opsets.
#ifndef HEDDLE_COMPILER_OPS_LAYOUT_H_
#define HEDDLE_COMPILER_OPS_LAYOUT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Integers given as attribute `name` or as constant input `index`; `fallback`
// when neither is there. kUnsupportedShape if the input is not constant.
absl::StatusOr<std::vector<int64_t>> IntsOf(const Graph& graph,
                                            const Node& node, const char* name,
                                            size_t index,
                                            std::vector<int64_t> fallback);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_LAYOUT_H_
