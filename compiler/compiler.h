// SPDX-License-Identifier: Apache-2.0
// The compiler: turns ONNX bytes into a package (.hpk).
//
//   auto result = CompileOnnx(bytes, {.config = "h256"});
//   if (!result.ok()) { /* RejectionOf(result.status()) is the kind */ }
//   WriteFile("model.hpk", result->package);
//
// Deterministic: equal input and options give equal bytes, whatever the locale,
// time or number of threads.
#ifndef HEDDLE_COMPILER_COMPILER_H_
#define HEDDLE_COMPILER_COMPILER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/options.h"
#include "compiler/base/report.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct CompileResult {
  std::string package;
  CompileReport report;
};

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options);

// The owner of bytes that the caller keeps for as long as he has the graph.
inline std::shared_ptr<const void> KeptByCaller(absl::string_view bytes) {
  return {std::shared_ptr<const void>(), bytes.data()};
}

// Import, shape inference, folding and quantization fusion only: the graph that
// the backend would lower, checked against the constraints of every operator.
// Weights may be absent. `owner` keeps the model's bytes, of which large
// constants of the graph then are views; without it they are copies.
absl::StatusOr<Graph> AnalyseOnnx(absl::string_view model,
                                  const CompileOptions& options,
                                  std::shared_ptr<const void> owner = nullptr);

// What CompileOnnx does with the graph that AnalyseOnnx has made of the model
// with these options.
absl::StatusOr<CompileResult> CompileAnalysed(const Graph& graph,
                                              absl::string_view model,
                                              const CompileOptions& options);

// The same without the model. If card and host share the graph, what passes
// have composed or expanded stays on the card.
absl::StatusOr<CompileResult> CompileGraph(const Graph& graph,
                                           const CompileOptions& options);

// Whether CompileGraph succeeds: its rejection, or whether some of the nodes
// would run on the host. Several times as fast, as no schedule is searched for.
// `share` makes the graph that CompileAnalysed has card and host share; with it
// the question is whether that succeeds.
absl::StatusOr<bool> CheckGraph(
    const Graph& graph, const CompileOptions& options,
    const std::function<absl::StatusOr<Graph>()>& share = nullptr);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_COMPILER_H_
