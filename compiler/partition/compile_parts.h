// SPDX-License-Identifier: Apache-2.0
// A package of segments (package/segments.h) for a graph that does not run
// wholly on the card.
#ifndef HEDDLE_COMPILER_PARTITION_COMPILE_PARTS_H_
#define HEDDLE_COMPILER_PARTITION_COMPILE_PARTS_H_

#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/base/report.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::compiler {

struct SplitResult {
  package::Package package;
  CompileReport report;
};

// How a graph is analysed that card and host share: what only the card needs is
// done in each part of the card, not before. That is the composition of
// operators (passes/fuse_elementwise.h) and the expansion of nodes that are one
// for the host (IsForEither, passes/expand.h), which has ONNX's operators
// alone.
CompileOptions SharedOptions(const CompileOptions& options);

// Asks SupportOf, and compiles each part of the card by itself, and each body
// of control flow, as a package that the card takes as a whole or as one of
// segments again. All of them are on the card at once, so each may take of
// options.device_memory_bytes what those before it have left.
absl::StatusOr<SplitResult> CompileParts(const Graph& graph,
                                         const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_COMPILE_PARTS_H_
