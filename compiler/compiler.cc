// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options) {
  ASSIGN_OR_RETURN(Graph graph,
                   AnalyseOnnx(model, options, KeptByCaller(model)));
  return CompileGraph(graph, options);
}

absl::StatusOr<CompileResult> CompileGraph(const Graph& graph,
                                           const CompileOptions& options) {
  ASSIGN_OR_RETURN(BackendResult made, GeneratePackage(graph, options));
  CompileResult result;
  for (const auto& file : graph.files) RETURN_IF_ERROR(file->Unchanged());
  result.package = package::Serialize(made.package, std::move(made.weights));
  result.report = std::move(made.report);
  result.report.notes = graph.notes;
  result.report.float_groups = graph.float_groups;
  return result;
}

absl::Status CheckGraph(const Graph& graph, const CompileOptions& options) {
  return CheckPackage(graph, options);
}

}  // namespace heddle::compiler
