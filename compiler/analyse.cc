// SPDX-License-Identifier: Apache-2.0
#include "compiler/analyse.h"

#include <utility>

#include "compiler/compiler.h"
#include "compiler/import/importer.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/cancel_moves.h"
#include "compiler/passes/fold_affine.h"
#include "compiler/passes/fold_pad.h"
#include "compiler/passes/fold_table.h"
#include "compiler/passes/infer.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/simplify.h"

namespace heddle::compiler {

absl::StatusOr<Graph> AnalyseOnnx(absl::string_view model,
                                  const CompileOptions& options) {
  if (options.progress) options.progress("import");
  auto imported =
      ImportOnnx(model, ImportOptions{options.input_shapes, options.weights,
                                      options.data_folder,
                                      options.open_dimensions_are_one});
  if (!imported.ok()) return imported.status();
  return AnalyseImported(*std::move(imported), options);
}

absl::StatusOr<Graph> AnalyseImported(ImportedModel imported,
                                      const CompileOptions& options,
                                      Supposed* supposed) {
  const auto stage = [&options](const char* name) {
    if (options.progress) options.progress(name);
  };
  Graph graph = std::move(imported.graph);
  stage("shapes");
  if (auto s = InferAndFold(&graph, imported.declared, supposed); !s.ok()) {
    return s;
  }
  if (auto s = SimplifyIdentities(&graph); !s.ok()) return s;
  stage("quantization");
  if (options.fuse_quantization) {
    if (auto s = FuseQuantization(&graph); !s.ok()) return s;
    if (auto s = FoldTables(&graph); !s.ok()) return s;
  }
  stage("folding");
  if (auto s = FoldAffine(&graph); !s.ok()) return s;
  if (auto s = FoldPad(&graph); !s.ok()) return s;
  if (auto s = CancelMoves(&graph); !s.ok()) return s;
  if (auto s = FoldConstants(&graph, supposed); !s.ok()) return s;
  if (auto s = Simplify(&graph); !s.ok()) return s;
  for (const Node& node : graph.nodes) {
    if (auto s = CheckNode(graph, node); !s.ok()) return s;
  }
  if (auto s = graph.Verify(); !s.ok()) return s;
  return graph;
}

}  // namespace heddle::compiler
