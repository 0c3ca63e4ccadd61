// SPDX-License-Identifier: Apache-2.0
// ONNX bytes to a Graph: parsing under limits, and every structural rule of the
// format. Operators are not looked at; that is the work of inference.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORTER_H_
#define HEDDLE_COMPILER_IMPORT_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/import/value_info.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

inline constexpr int kMinIrVersion = 1;
inline constexpr int kMaxIrVersion = 13;
inline constexpr int kMinOpset = 1;
inline constexpr int kMicrosoftOpset = 1;  // of com.microsoft

struct ImportOptions {
  // See CompileOptions.
  std::map<std::string, Shape> input_shapes;
  std::map<std::string, TensorData> weights;
  std::string data_folder;
  bool open_dimensions_are_one = false;
  std::map<std::string, int64_t> bounds = {};
  // Keeps the model's bytes; null: nobody does, and all constants are copied.
  std::shared_ptr<const void> owner = nullptr;
};

// A graph inside of a node; its nodes read and write tensors of the model's
// graph. `inputs`, of a Loop's or Scan's body, nothing writes: who puts the
// body in place reads something else there.
struct Subgraph {
  std::vector<TensorId> inputs;
  std::vector<Node> nodes;
  std::vector<TensorId> outputs;
  absl::Status refusal;  // why it cannot be taken: a node that is not supported
};
struct Subgraphs {
  Subgraph then_branch, else_branch;  // of an If
  Subgraph body;                      // of a Loop or Scan
  size_t own_inputs =
      0;  // of the node; what its graphs take from outside follows
};
// By the first output of the node.
using SubgraphMap = std::map<TensorId, Subgraphs>;

bool IsIf(const Node& node);
bool IsLoop(const Node& node);  // a Loop or a Scan
// kNoTensor if it has none.
TensorId FirstOutputOf(const Node& node);

struct ImportedModel {
  Graph graph;  // nodes in the model's order, which is topological
  std::map<TensorId, Declaration> declared;  // value_info and graph outputs
  bool has_initializers = false;
  // Of all Ifs, Loops and Scans, which read their own inputs and behind those
  // what their graphs take from outside; also of those inside of graphs.
  SubgraphMap subgraphs;
};

// Run-time inputs are the graph inputs without initializer and without a
// weight in the options; their symbolic dimensions are bound to the options'
// input_shapes (one name, one value). Those that remain open are 1 where the
// options say so, and notes of the graph name them; otherwise kUnsupportedShape
// with the names of all.
absl::StatusOr<ImportedModel> ImportOnnx(absl::string_view bytes,
                                         const ImportOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_IMPORTER_H_
