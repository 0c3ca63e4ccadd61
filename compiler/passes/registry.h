// SPDX-License-Identifier: Apache-2.0
// The passes of the compiler by name, in the order in which they run: from the
// ONNX bytes to a command stream whose times are known. A graph pass is one row
// here and its function; the stages of the back end call BeginPass and EndPass
// (compiler/base/options.h) with their names.
#ifndef HEDDLE_COMPILER_PASSES_REGISTRY_H_
#define HEDDLE_COMPILER_PASSES_REGISTRY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/import/importer.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {

// What passes need besides the graph.
struct PassContext {
  std::map<TensorId, Declaration> declared;  // by the model
  Supposed* supposed = nullptr;              // see InferAndFold
  bool fuse_quantization = true;             // see CompileOptions
  bool fuse_elementwise = true;              // see Features
  bool keep_direct = false;                  // see CompileOptions
  SubgraphMap subgraphs;                     // of its Ifs, Loops, Scans
  int64_t* folded = nullptr;                 // see FoldConstants
};

struct Pass {
  const char* name;
  const char* what;  // one line
  // Null: the import, or a stage of the back end.
  absl::Status (*run)(Graph* graph, const PassContext& context);
};

const std::vector<Pass>& Passes();

// The place of a pass in Passes(). InvalidArgument: there is none of that name;
// the message lists all, the nearest first.
absl::StatusOr<size_t> FindPass(const std::string& name);

// Runs all graph passes, each but the first two also on the bodies of nodes of
// control flow, which together may have kMostBodyNodes nodes.
inline constexpr size_t kMostBodyNodes = size_t{1} << 19;
absl::Status RunGraphPasses(const PassContext& context,
                            const CompileOptions& options, Graph* graph);

// Expands what an analysis with CompileOptions::keep_direct has kept, and runs
// the passes behind that up to the check of every node. Of a graph without such
// nodes nothing changes.
absl::Status ExpandKept(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_REGISTRY_H_
