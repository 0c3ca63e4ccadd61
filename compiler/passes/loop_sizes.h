// SPDX-License-Identifier: Apache-2.0
// Loops that carry what grows (a list of tokens, a cache) or has a size that a
// run decides, or collect a row from each of a number of iterations that a run
// decides. Control flow has values of fixed shape only (ir/control_flow.h), so
// such a Loop becomes one with:
//
//   what grows or has an open size   two values (open_values.h). The body takes
//   (on one axis)                    what there is with Compress and fills up
//                                    what it makes
//   results with a row each          a carried tensor of as many rows as there
//                                    may be iterations, into which ScatterND
//                                    writes, and their number
//
// Behind the Loop a Compress takes what there is. What turns out to be more
// than its most ends the run (heddle.Bound).
#ifndef HEDDLE_COMPILER_PASSES_LOOP_SIZES_H_
#define HEDDLE_COMPILER_PASSES_LOOP_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/importer.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"
#include "compiler/passes/open_values.h"

namespace heddle::compiler {

// The most iterations that an ONNX Loop makes: by its trip count, if that is a
// constant or has a bound, or by what the user says (import/bounds.h); -1 if
// nothing says it.
int64_t MostIterations(const Node& loop, const Graph& graph,
                       const BoundedTensors& bounded);

// How the user says it.
std::string BoundOption(const Node& loop, const Graph& graph);

struct LoopToSize {
  const Node& loop;
  const Subgraphs& graphs;
  const BoundedTensors& bounded;  // of the graph around it
  // What an iteration gives that gets the first values, and which axes of it
  // are open: carried, then rows.
  const std::vector<ValueType>& results;
  const std::vector<AxisSet>& open_results;
  int64_t iterations = -1;  // MostIterations()
  bool collects = false;    // rows, whose number a run decides
};

// None if it has fixed sizes as it is, or if this does not help: more than one
// axis changes, or the rank or the type does. kUnsupportedShape: nothing bounds
// its iterations.
absl::StatusOr<std::optional<Sized>> SizeLoop(const LoopToSize& to_size,
                                              Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_LOOP_SIZES_H_
