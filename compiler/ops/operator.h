// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of one ONNX operator, in one place: constraints,
// shape inference and reference semantics. The lowering of an operator is
// registered beside it in compiler/backend.
//
// Adding an operator: write compiler/ops/<name>.cc with a static
// OperatorRegistration, its lowering in compiler/backend/lower_<family>.cc, and
// the test beside each. Nothing else names the operator.
#ifndef HEDDLE_COMPILER_OPS_OPERATOR_H_
#define HEDDLE_COMPILER_OPS_OPERATOR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/diagnostic.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// A rule that a node must satisfy. `text` is at once the line of the support
// page ("dilations are 1 to 255") and the reason in the error message.
struct Constraint {
  Refusal kind;       // what a violation is
  const char* text;   // one clause, states the limit
  // True if satisfied. `detail` receives the offending value ("dilations = [300,1]").
  bool (*check)(const Graph& graph, const Node& node, std::string* detail);
};

struct OperatorInfo {
  const char* domain;      // "" or "com.microsoft"
  const char* op;
  int since_version;       // lowest opset version of the definition handled
  int until_version;       // highest
  const char* types;       // support page: "float, uint8, int8"
  std::vector<Constraint> constraints;
  // Sets type and shape of the outputs from inputs, constants and attributes.
  absl::Status (*infer)(Graph* graph, const Node& node);
  // Reference semantics: the bytes that every engine and the host must give.
  // Inputs in the node's order, null for an absent one. fp32 reductions use the
  // accumulation order of ISA.md, so results equal the card's bytes.
  absl::StatusOr<std::vector<TensorData>> (*evaluate)(
      const Graph& graph, const Node& node,
      const std::vector<const TensorData*>& inputs);
};

// The registered operator for a node (by domain, op and opset), or null.
const OperatorInfo* FindOperator(const std::string& domain, const std::string& op,
                                 int opset);
// All operators, sorted by domain and name, for the support page.
std::vector<const OperatorInfo*> AllOperators();

// Runs a node's constraints; the first violation as a refusal that names the
// node, the rule and the value. Unknown operators: kUnsupportedOperator.
absl::Status CheckNode(const Graph& graph, const Node& node);

// Executes the whole graph with the reference semantics. `inputs` in the order
// of graph.inputs; the result holds every tensor (constants included), indexed
// by TensorId.
absl::StatusOr<std::vector<TensorData>> EvaluateGraph(
    const Graph& graph, const std::vector<TensorData>& inputs);

class OperatorRegistration {
 public:
  explicit OperatorRegistration(OperatorInfo info);
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_OPERATOR_H_
