// SPDX-License-Identifier: Apache-2.0
// Nodes of operators that are made of others (ops/expanded.h) give way to their
// expansions. Results keep their bits: they are defined so.
#ifndef HEDDLE_COMPILER_PASSES_EXPAND_H_
#define HEDDLE_COMPILER_PASSES_EXPAND_H_

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Whether there is anything to expand.
bool HasExpanded(const Graph& graph);

// Whether the node gives way to its expansion in a graph that the card takes,
// and is one node for the host: because that computes it sooner (compiler/
// direct), or because of its parts some are the card's alone.
bool IsForEither(const Graph& graph, const Node& node);

// Of a graph, that expansions may make: a few bytes of a model, of a recurrence
// for one, stand for thousands of nodes.
inline constexpr size_t kMostExpandedNodes = size_t{1} << 18;

// Rejections of the expansions, or NoSystemMemory beyond `most` nodes.
// `keep_direct`: but for those nodes.
absl::Status ExpandOperators(Graph* graph, size_t most = kMostExpandedNodes,
                             bool keep_direct = false);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_EXPAND_H_
