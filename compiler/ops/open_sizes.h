// SPDX-License-Identifier: Apache-2.0
// Lists of sizes of which only the run's values say what they are: what Shape
// and Size tell of bounded tensors (bounded.h), or values of which the user
// says the most (heddle.Bound), and what exporters compute of that to give to
// Reshape, Expand and the like. Known is the most that each
// element may be, and which elements are no less in any run.
#ifndef HEDDLE_COMPILER_OPS_OPEN_SIZES_H_
#define HEDDLE_COMPILER_OPS_OPEN_SIZES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Elements of a list of sizes, at most.
inline constexpr int64_t kMostSizes = 64;

struct OpenSizes {
  TensorData most;           // of int64, int32 or bool
  std::vector<bool> varies;  // by element
};

// Of tensors that have such values; others have none.
using FindSizes = std::function<const OpenSizes*(TensorId)>;

// What an operator makes of them, if larger sizes make a larger result and the
// other operands are constants; none otherwise. For Shape and Size,
// `is_bounded` says which axes of their operand are.
std::optional<OpenSizes> FollowSizes(
    const Graph& graph, const Node& node, const FindSizes& find,
    const std::function<bool(size_t axis)>& is_bounded);

// The operand of a node whose values are the sizes of its result; kNoTensor for
// operators that are not followed there.
TensorId SizesOperand(const Node& node);

// Makes that operand a constant, of the most that it may be, while it lives:
// inference then gives the most that the results may be.
class SizesAsConstants {
 public:
  SizesAsConstants(const Node& node, const FindSizes& find, Graph* graph);
  ~SizesAsConstants();
  SizesAsConstants(const SizesAsConstants&) = delete;
  SizesAsConstants& operator=(const SizesAsConstants&) = delete;

 private:
  Graph* const graph_;
  TensorId changed_ = kNoTensor;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_OPEN_SIZES_H_
