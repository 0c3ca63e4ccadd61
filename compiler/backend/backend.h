// SPDX-License-Identifier: Apache-2.0
// From an analysed graph to a package: lowering, memory plan, schedule,
// synchronisation, encoding.
#ifndef HEDDLE_COMPILER_BACKEND_BACKEND_H_
#define HEDDLE_COMPILER_BACKEND_BACKEND_H_

#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/base/report.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::compiler {

struct BackendResult {
  package::Package package;  // but its weights
  package::PackedWeights weights;
  CompileReport report;
};

absl::StatusOr<BackendResult> GeneratePackage(const Graph& graph,
                                              const CompileOptions& options);

// OK if GeneratePackage succeeds, else its rejection: the same steps up to the
// commands, of the first schedule that works, without the timeline that only
// chooses among schedules.
absl::Status CheckPackage(const Graph& graph, const CompileOptions& options);

// What of CheckPackage a node can be asked alone, at no cost: the types of its
// tensors, and whether the card has the operator at all.
absl::Status CheckNodeOnCard(const Graph& graph, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_BACKEND_H_
