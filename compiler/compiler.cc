// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/backend/lowering.h"

namespace heddle::compiler {

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options) {
  absl::StatusOr<Graph> graph = AnalyseOnnx(model, options);
  if (!graph.ok()) return graph.status();
  absl::StatusOr<BackendResult> made = GeneratePackage(*graph, options);
  if (!made.ok()) return made.status();
  CompileResult result;
  result.package = package::Serialize(made->package);
  result.report = std::move(made->report);
  result.report.notes = std::move(graph->notes);
  result.report.float_groups = std::move(graph->float_groups);
  return result;
}

absl::Status CheckGraph(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (absl::Status s = CheckLowering(node); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
