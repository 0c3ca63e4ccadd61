// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/status_macros.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/support.h"

namespace heddle::compiler {

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options) {
  ASSIGN_OR_RETURN(Graph graph,
                   AnalyseOnnx(model, options, KeptByCaller(model)));
  return CompileGraph(graph, options);
}

namespace {

bool PrefersHost(const CompileOptions& options) {
  return options.host_nodes && options.placement == Placement::kHost;
}

absl::StatusOr<CompileResult> Compile(const Graph& graph,
                                      const CompileOptions& options) {
  CompileResult result;
  if (!PrefersHost(options)) {
    absl::StatusOr<BackendResult> made = GeneratePackage(graph, options);
    if (made.ok()) {
      for (const auto& file : graph.files) RETURN_IF_ERROR(file->Unchanged());
      result.package =
          package::Serialize(made->package, std::move(made->weights));
      result.report = std::move(made->report);
      return result;
    }
    if (!HostMayHelp(made.status(), options)) return made.status();
  }
  ASSIGN_OR_RETURN(SplitResult split, CompileParts(graph, options));
  for (const auto& file : graph.files) RETURN_IF_ERROR(file->Unchanged());
  result.package = package::Serialize(split.package);
  result.report = std::move(split.report);
  return result;
}

}  // namespace

absl::StatusOr<CompileResult> CompileGraph(const Graph& graph,
                                           const CompileOptions& options) {
  ASSIGN_OR_RETURN(CompileResult result, Compile(graph, options));
  result.report.notes = graph.notes;
  result.report.float_groups = graph.float_groups;
  return result;
}

absl::StatusOr<bool> CheckGraph(const Graph& graph,
                                const CompileOptions& options) {
  if (!PrefersHost(options)) {
    const absl::Status card = CheckPackage(graph, options);
    if (card.ok()) return false;
    if (!HostMayHelp(card, options)) return card;
  }
  ASSIGN_OR_RETURN(const auto support, SupportOf(graph, options));
  RETURN_IF_ERROR(RefusalOf(support));
  return true;
}

}  // namespace heddle::compiler
