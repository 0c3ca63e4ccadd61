// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/operator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/define.h"
#include "compiler/ops/type_variables.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// What a node takes at least, in units of Pace().
constexpr int64_t kNodePace = 1000;

using Key = std::pair<std::string, std::string>;

// Filled by static objects before main; read-only afterwards. Never destroyed,
// so that no order of destruction matters.
std::map<Key, std::vector<OperatorInfo>>& Registry() {
  static auto* registry = new std::map<Key, std::vector<OperatorInfo>>;
  return *registry;
}

const char* KindName(size_t kind) {
  static constexpr const char* kNames[] = {
      "int", "float", "string", "ints", "floats", "strings", "tensor", "graph"};
  return kind < 8 ? kNames[kind] : "?";
}

absl::Status CheckAttributes(const OperatorInfo& info, const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    const auto rule = std::find_if(
        info.attributes.begin(), info.attributes.end(),
        [&name = name](const AttributeRule& r) { return name == r.name; });
    if (rule == info.attributes.end()) {
      // ONNX's own operators have no others; of another domain's definition
      // more may be known elsewhere.
      return RejectNode(node.domain.empty() ? Rejection::kInvalidModel
                                            : Rejection::kUnsupportedAttribute,
                        node, "attribute '", name,
                        "' is not one of this operator's at opset ", node.opset,
                        "; remove it");
    }
    if (value.index() != static_cast<size_t>(rule->kind)) {
      return RejectNode(Rejection::kInvalidModel, node, "attribute '", name,
                        "' has type ", KindName(value.index()),
                        ", must be of type ",
                        KindName(static_cast<size_t>(rule->kind)));
    }
  }
  for (const AttributeRule& rule : info.attributes) {
    if (rule.required && node.attributes.count(rule.name) == 0) {
      return RejectNode(Rejection::kInvalidModel, node, "attribute '",
                        rule.name, "' is missing");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInputs(const OperatorInfo& info, const Graph& graph,
                         const Node& node) {
  const auto given = static_cast<int>(node.inputs.size());
  if (given > info.max_inputs) {
    return RejectNode(Rejection::kInvalidModel, node, "has ", given,
                      " inputs, at most ", info.max_inputs, " are defined");
  }
  for (int i = 0; i < std::max(given, info.min_inputs); ++i) {
    if (!HasInput(node, i)) {
      if (i >= info.min_inputs ||
          (i < 32 && (info.optional_inputs >> i & 1) != 0)) {
        continue;
      }
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is missing");
    }
    const Tensor& input = InputOf(graph, node, i);
    const TypeSet accepted =
        info.input_types[std::min<size_t>(i, info.input_types.size() - 1)];
    if (!Contains(accepted, input.type)) {
      return RejectNode(Rejection::kUnsupportedDatatype, node, "input ", i,
                        " '", input.name, "' has type ",
                        DataTypeName(input.type), ", supported are ",
                        TypeSetToString(accepted));
    }
    if (!input.shape_known) {
      return RejectNode(Rejection::kUnsupportedShape, node, "input ", i, " '",
                        input.name, "' has no known shape");
    }
  }
  if (static_cast<int>(node.outputs.size()) > info.max_outputs) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "has ",
                      node.outputs.size(), " outputs, at most ",
                      info.max_outputs, " are supported");
  }
  if (node.outputs.empty()) {
    return RejectNode(Rejection::kInvalidModel, node, "has no output");
  }
  return absl::OkStatus();
}

}  // namespace

OperatorRegistration::OperatorRegistration(OperatorInfo info) {
  // A definition that begins after the last opset that is accepted.
  if (info.since_version > info.until_version) return;
  if (info.types[0] == '\0' && !info.input_types.empty()) {
    // Text of the support page; kept for the life of the process.
    static auto* texts = new std::deque<std::string>;
    texts->push_back(TypeSetToString(info.input_types[0]));
    info.types = texts->back().c_str();
  }
  if (info.domain[0] == '\0') {
    const char* inputs = TypeVariablesOf(info.op, info.since_version);
    if (inputs[0] != '\0' && info.max_inputs > 1) {
      info.constraints.insert(info.constraints.begin(), OneTypeRule(inputs));
    }
  }
  auto& versions = Registry()[{info.domain, info.op}];
  const auto at = std::find_if(
      versions.begin(), versions.end(), [&info](const OperatorInfo& other) {
        return info.since_version < other.since_version;
      });
  versions.insert(at, std::move(info));
}

const OperatorInfo* FindOperator(const std::string& domain,
                                 const std::string& op, int opset) {
  const auto it = Registry().find({domain, op});
  if (it == Registry().end()) return nullptr;
  for (const OperatorInfo& info : it->second) {
    if (info.since_version <= opset && opset <= info.until_version) {
      return &info;
    }
  }
  return nullptr;
}

std::vector<const OperatorInfo*> AllOperators() {
  std::vector<const OperatorInfo*> all;
  for (const auto& [key, versions] : Registry()) {
    for (const OperatorInfo& info : versions) all.push_back(&info);
  }
  return all;
}

absl::Status CheckNode(const Graph& graph, const Node& node) {
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info == nullptr) {
    return RejectNode(Rejection::kUnsupportedOperator, node, "operator ",
                      node.domain.empty() ? "ai.onnx" : node.domain, ".",
                      node.op, " at opset ", node.opset,
                      " is not supported; heddle-compile --supported-ops lists "
                      "those that are");
  }
  RETURN_IF_ERROR(CheckInputs(*info, graph, node));
  RETURN_IF_ERROR(CheckAttributes(*info, node));
  for (const Constraint& constraint : info->constraints) {
    std::string detail;
    if (!constraint.check(graph, node, &detail)) {
      return RejectNode(constraint.kind, node, constraint.text,
                        detail.empty() ? "" : ", but ", detail);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorData>> EvaluateNode(const Graph& graph,
                                                     const Node& node,
                                                     const Inputs& inputs) {
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info == nullptr || info->evaluate == nullptr) {
    return absl::InternalError(
        absl::StrCat(node.Describe(), " has no evaluation"));
  }
  Pace(kNodePace);
  const model::ScopedFpEnvironment environment;
  auto results = info->evaluate(graph, node, inputs);
  if (results.ok() && results->size() < node.outputs.size()) {
    return absl::InternalError(
        absl::StrCat(node.Describe(), " computed too few outputs"));
  }
  return results;
}

absl::StatusOr<std::vector<TensorData>> EvaluateGraph(
    const Graph& graph, const std::vector<TensorData>& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the graph has ", graph.inputs.size(), " inputs, ",
                     inputs.size(), " were given"));
  }
  std::vector<TensorData> values(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].is_constant()) values[i] = *graph.tensors[i].constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = graph.tensors[graph.inputs[i]];
    if (inputs[i].type != tensor.type || inputs[i].shape != tensor.shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", tensor.name, "' is ", DataTypeName(inputs[i].type),
          ShapeToString(inputs[i].shape), ", but the model expects ",
          DataTypeName(tensor.type), ShapeToString(tensor.shape)));
    }
    values[graph.inputs[i]] = inputs[i];
  }
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(graph));
  for (const Node& node : graph.nodes) {
    Inputs arguments;
    for (TensorId id : node.inputs) {
      arguments.push_back(id == kNoTensor ? nullptr : &values[id]);
    }
    ASSIGN_OR_RETURN(auto results, bounded.Touches(node)
                                       ? EvaluateActual(graph, node, arguments)
                                       : EvaluateNode(graph, node, arguments));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor) continue;
      const Tensor& expected = graph.tensors[id];
      if (expected.shape_known &&
          (results[i].type != expected.type ||
           !IsWithin(results[i].shape, expected.shape, bounded.of(id)))) {
        return absl::InternalError(absl::StrCat(
            node.Describe(), " computed ", DataTypeName(results[i].type),
            ShapeToString(results[i].shape), ", inferred was ",
            DataTypeName(expected.type), ShapeToString(expected.shape)));
      }
      values[id] = std::move(results[i]);
    }
  }
  return values;
}

}  // namespace heddle::compiler
