// SPDX-License-Identifier: Apache-2.0
// How Pad and Tile enlarge each axis.
#ifndef HEDDLE_COMPILER_OPS_PAD_H_
#define HEDDLE_COMPILER_OPS_PAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct Padding {
  std::string mode;
  std::vector<int64_t> before, after;  // per axis; negative ones crop
};

// Attributes (opset < 11) or constant inputs (opset 18: of the axes named);
// within +-2^31, and no result
// dimension is negative or without an element to repeat.
absl::StatusOr<Padding> PaddingOf(const Graph& graph, const Node& node);

// Bytes of the element that mode constant fills with.
absl::StatusOr<std::vector<uint8_t>> PadConstant(const Graph& graph,
                                                 const Node& node);

// Repetitions of each axis: not negative, at most 2^31.
absl::StatusOr<std::vector<int64_t>> RepeatsOf(const Graph& graph,
                                               const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_PAD_H_
