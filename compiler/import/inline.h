// SPDX-License-Identifier: Apache-2.0
// Graphs inside of graphs, put in place before import:
//
//   If          with a condition that is an initializer or a Constant: the
//               nodes of its branch
//   functions   a call of one of the model's own functions: the function's
//   nodes
//
// Names that belong to the inner graph get the prefix "<first output>/", its
// nodes "<node>/". An If with another condition stays, as Loops and Scans do,
// and their graphs with them (Subgraph of importer.h); calls of functions
// inside of those are put in place nowhere, and are refused. A function is
// named by its domain, its name and, since IR version 10, its overload.
#ifndef HEDDLE_COMPILER_IMPORT_INLINE_H_
#define HEDDLE_COMPILER_IMPORT_INLINE_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/wire_check.h"

namespace heddle::compiler {

// The operator sets that the nodes of the graph are written in.
struct PlacedGraphs {
  using Imports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;
  std::vector<Imports> imports;  // of functions that have been put in place
  // For each node its place in `imports`, -1 for the model's own. Nodes beyond
  // are the model's.
  std::vector<int> import_of_node;
  // Why sequences are left (sequences.h); empty: they are not.
  std::string sequences;

  // The version of `domain` that the function says from which the graph's node
  // at `index` comes; 0 if it comes from none, or that does not say.
  int64_t InnerOpset(const std::string& domain, size_t index) const;
};

// Rejections: kInvalidModel (a branch or function that contradicts its use, a
// function that calls itself), kNoSystemMemory (functions that grow beyond all
// measure). `raw`: where the raw_data of the model's tensors is.
absl::StatusOr<PlacedGraphs> InlineGraphs(onnx::ModelProto* model,
                                          const TakenBytes& raw);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_INLINE_H_
