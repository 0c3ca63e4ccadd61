// SPDX-License-Identifier: Apache-2.0
// What the compiler knows about one ONNX operator: constraints, shape
// inference and reference semantics. The lowering is registered in
// compiler/lowering.
//
// An operator is compiler/ops/<name>.cc with a static OperatorRegistration and
// compiler/lowering/lower_<family>.cc, with a test beside each. HACKING.md
// lists the test data and tables that also name it.
#ifndef HEDDLE_COMPILER_OPS_OPERATOR_H_
#define HEDDLE_COMPILER_OPS_OPERATOR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// A rule that a node must satisfy. `text` is at once the line of the support
// page ("dilations are 1 to 255") and the reason in the error message.
struct Constraint {
  Rejection kind;    // what a violation is
  const char* text;  // one clause, states the limit
  // True if satisfied. `detail` receives the offending value ("dilations =
  // [300,1]").
  bool (*check)(const Graph& graph, const Node& node, std::string* detail);
};

// Kinds of attribute values, in the order of the alternatives of Attribute.
enum class AttributeKind {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kTensor,
  kGraph
};

struct AttributeRule {
  const char* name;
  AttributeKind kind;
  bool required = false;
};

// A set of data types: bit number = value of DataType.
using TypeSet = uint32_t;

// Domain of the operators that passes make. No model may have them.
inline constexpr char kInternalDomain[] = "heddle";

struct OperatorInfo {
  const char* domain = "";  // "" or "com.microsoft"
  const char* op = "";
  int since_version = 1;   // lowest opset version of the definition handled
  int until_version = 1;   // highest
  const char* types = "";  // support page: "float, uint8, int8"
  // Inputs that may be given, and how many of the first must be present.
  int min_inputs = 0;
  int max_inputs = 0;
  // Bit i: input i may be absent although it stands before a required one.
  uint32_t optional_inputs = 0;
  int max_outputs = 1;
  // Types accepted at each input; the last entry holds for all further inputs.
  std::vector<TypeSet> input_types;
  // All attributes that the definition has; another one is refused.
  std::vector<AttributeRule> attributes;
  std::vector<Constraint> constraints;
  // For a form that only the front end knows: nodes of other forms that do the
  // same, in order, the last one with the node's outputs; empty if the node is
  // one that everybody knows. The node has been checked, the shapes of its
  // inputs are known; those of the tensors between the new nodes are not. Null:
  // the definition is known everywhere.
  absl::StatusOr<std::vector<Node>> (*convert)(Graph* graph,
                                               const Node& node) = nullptr;
  // Sets type and shape of the outputs from inputs, constants and attributes.
  absl::Status (*infer)(Graph* graph, const Node& node) = nullptr;
  // Reference semantics: the bytes that every engine and the host must give.
  // Inputs in the node's order, null for an absent one. fp32 reductions use the
  // accumulation order of ISA.md, so results equal the card's bytes.
  absl::StatusOr<std::vector<TensorData>> (*evaluate)(
      const Graph& graph, const Node& node,
      const std::vector<const TensorData*>& inputs) = nullptr;
};

// The registered operator for a node (by domain, op and opset), or null.
const OperatorInfo* FindOperator(const std::string& domain,
                                 const std::string& op, int opset);
// All operators, sorted by domain and name, for the support page.
std::vector<const OperatorInfo*> AllOperators();

// Checks a node whose inputs have known shapes: number and types of inputs,
// attributes, then the constraints; the first violation as a rejection that
// names the node, the rule and the value. Unknown operators:
// kUnsupportedOperator.
absl::Status CheckNode(const Graph& graph, const Node& node);

// Executes one node; its operator must be registered.
absl::StatusOr<std::vector<TensorData>> EvaluateNode(
    const Graph& graph, const Node& node,
    const std::vector<const TensorData*>& inputs);

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
