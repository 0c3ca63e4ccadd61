// SPDX-License-Identifier: Apache-2.0
// A rule of operators: how many dimensions the first input has.
//
//   .Rule(Rejection::kInvalidModel, "the input has rank 4", RankIs<4, 4>)
#ifndef HEDDLE_COMPILER_OPS_RANK_RULE_H_
#define HEDDLE_COMPILER_OPS_RANK_RULE_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

inline constexpr size_t kAnyRank = static_cast<size_t>(-1);

template <size_t least, size_t most = kAnyRank>
bool RankIs(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= least && shape.size() <= most;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_RANK_RULE_H_
