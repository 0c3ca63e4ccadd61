// SPDX-License-Identifier: Apache-2.0
#include "compiler/analyse.h"

#include <memory>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/import/importer.h"
#include "compiler/passes/registry.h"

namespace heddle::compiler {

absl::StatusOr<Graph> AnalyseOnnx(absl::string_view model,
                                  const CompileOptions& options,
                                  std::shared_ptr<const void> owner) {
  BeginPass(options, "import");
  ASSIGN_OR_RETURN(
      auto imported,
      ImportOnnx(model, ImportOptions{options.input_shapes, options.weights,
                                      options.data_folder,
                                      options.open_dimensions_are_one,
                                      options.bounds, std::move(owner)}));
  RETURN_IF_ERROR(
      EndPass(options, "import", [&] { return imported.graph.ToString(); }));
  return AnalyseImported(std::move(imported), options);
}

absl::StatusOr<Graph> AnalyseImported(ImportedModel imported,
                                      const CompileOptions& options,
                                      Supposed* supposed) {
  Graph graph = std::move(imported.graph);
  const PassContext context{
      std::move(imported.declared), supposed,
      options.fuse_quantization,    options.features.fuse_elementwise,
      options.keep_direct,          std::move(imported.subgraphs)};
  RETURN_IF_ERROR(RunGraphPasses(context, options, &graph));
  return graph;
}

}  // namespace heddle::compiler
