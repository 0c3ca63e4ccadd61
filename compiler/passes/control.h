// SPDX-License-Identifier: Apache-2.0
// Ifs, Loops and Scans that stay, because a run decides which branch is taken
// or how often a body is: nodes whose bodies are graphs of their own
// (ops/control_flow.h).
#ifndef HEDDLE_COMPILER_PASSES_CONTROL_H_
#define HEDDLE_COMPILER_PASSES_CONTROL_H_

#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/importer.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"
#include "compiler/passes/suppose.h"
#include "compiler/passes/unroll.h"

namespace heddle::compiler {

// What stays of an If, Loop or Scan.
struct LeftToRun {
  const Node& node;  // as imported
  const SubgraphMap& subgraphs;
  absl::Status why;  // for whoever has no host
  const std::map<TensorId, Declaration>& declared;
  const Supposed* supposed;  // or null
  const BoundedTensors& bounded;
  Unroller* unroller;  // is charged
  // InferAndFold for a body: what is bounded in it.
  std::function<absl::StatusOr<BoundedTensors>(
      Graph* body, const SubgraphMap& subgraphs, Supposed* supposed)>
      infer;
  // By loop_sizes.h or branch_shapes.h; a second time does not help.
  bool sized = false;
};

// The nodes that take its place: one of control flow, of a Scan those that turn
// its sequences and results, of an If those of branch_shapes.h, of a Loop those
// of loop_sizes.h. Their results
// have types and shapes. None if what only weights say decides a shape inside.
// Rejections: kInvalidModel; kMismatchingDatatype, kUnsupportedShape (a value
// that changes type or shape from one iteration to the next, or type or rank
// from one branch to the other; results of iterations whose number nothing
// bounds); what a body has that is not supported.
absl::StatusOr<std::vector<Node>> LeaveToRun(const LeftToRun& left,
                                             Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_CONTROL_H_
