// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/status_macros.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/support.h"

namespace heddle::compiler {

namespace {

bool PrefersHost(const CompileOptions& options) {
  // Taps are the card's, as in HostMayHelp.
  return options.host_nodes && options.placement == Placement::kHost &&
         !options.taps && !options.after_pass;
}

// `model`: what the graph was made of, or nothing.
absl::StatusOr<CompileResult> Compile(const Graph& graph,
                                      absl::string_view model,
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
  const auto split = [&](const Graph& shared) -> absl::Status {
    ASSIGN_OR_RETURN(SplitResult made, CompileParts(shared, options));
    for (const auto& file : shared.files) RETURN_IF_ERROR(file->Unchanged());
    result.package = package::Serialize(made.package);
    result.report = std::move(made.report);
    return absl::OkStatus();
  };
  if (model.empty()) {
    RETURN_IF_ERROR(split(graph));
    return result;
  }
  ASSIGN_OR_RETURN(
      const Graph shared,
      AnalyseOnnx(model, SharedOptions(options), KeptByCaller(model)));
  RETURN_IF_ERROR(split(shared));
  return result;
}

}  // namespace

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options) {
  ASSIGN_OR_RETURN(Graph graph,
                   AnalyseOnnx(model, options, KeptByCaller(model)));
  return CompileAnalysed(graph, model, options);
}

absl::StatusOr<CompileResult> CompileAnalysed(const Graph& graph,
                                              absl::string_view model,
                                              const CompileOptions& options) {
  ASSIGN_OR_RETURN(CompileResult result, Compile(graph, model, options));
  result.report.notes = graph.notes;
  result.report.float_groups = graph.float_groups;
  return result;
}

absl::StatusOr<CompileResult> CompileGraph(const Graph& graph,
                                           const CompileOptions& options) {
  return CompileAnalysed(graph, {}, options);
}

absl::StatusOr<bool> CheckGraph(
    const Graph& graph, const CompileOptions& options,
    const std::function<absl::StatusOr<Graph>()>& share) {
  if (!PrefersHost(options)) {
    const absl::Status card = CheckPackage(graph, options);
    if (card.ok()) return false;
    if (!HostMayHelp(card, options)) return card;
  }
  // What is refused does not depend on what is cheaper.
  CompileOptions quick = options;
  if (quick.placement == Placement::kCost) quick.placement = Placement::kCard;
  const auto check = [&](const Graph& shared) -> absl::Status {
    ASSIGN_OR_RETURN(const auto support, SupportOf(shared, quick));
    return RejectionOf(support);
  };
  if (share == nullptr) {
    RETURN_IF_ERROR(check(graph));
    return true;
  }
  ASSIGN_OR_RETURN(const Graph shared, share());
  RETURN_IF_ERROR(check(shared));
  return true;
}

}  // namespace heddle::compiler
