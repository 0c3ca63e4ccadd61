// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/bounds.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/importer.h"
#include "compiler/import/quote.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

constexpr char kBoundKey[] = "heddle.bound.";

// What was `id` is what the node makes of the new tensor, so that nobody who
// reads it has to change.
absl::Status InsertBound(TensorId id, int64_t most, Graph* graph) {
  const std::string name = graph->tensors[id].name;
  Tensor tensor = graph->tensors[id];
  Node node;
  node.op = kBoundOp;
  node.domain = kInternalDomain;
  node.opset = 1;
  node.name = name;
  node.attributes["most"] = most;
  node.outputs = {id};
  const auto input = std::find(graph->inputs.begin(), graph->inputs.end(), id);
  if (input != graph->inputs.end()) {
    // The input keeps the name that the user gives it.
    graph->tensors[id].name = absl::StrCat(name, "/bounded");
    graph->tensors[id].shape_known = false;
    const TensorId own = graph->AddTensor(std::move(tensor));
    *std::find(graph->inputs.begin(), graph->inputs.end(), id) = own;
    node.inputs = {own};
    graph->nodes.insert(graph->nodes.begin(), std::move(node));
    return absl::OkStatus();
  }
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    auto& outputs = graph->nodes[i].outputs;
    const auto output = std::find(outputs.begin(), outputs.end(), id);
    if (output == outputs.end()) continue;
    tensor.name = absl::StrCat(name, "/unbounded");
    *output = graph->AddTensor(std::move(tensor));
    node.inputs = {*output};
    node.sources = graph->nodes[i].sources;
    graph->nodes.insert(graph->nodes.begin() + static_cast<int64_t>(i) + 1,
                        std::move(node));
    return absl::OkStatus();
  }
  return Reject(Rejection::kUnsupportedAttribute,
                absl::StrCat("a bound is given for tensor ", Quote(name),
                             ", which is a constant"));
}

// Whether it is the name of a Loop, which makes so many iterations at most.
bool SetIterations(const std::string& name, int64_t most, Graph* graph) {
  bool found = false;
  for (Node& node : graph->nodes) {
    if (most < 0 || !IsLoop(node) || node.name != name) continue;
    node.attributes[kIterationsAttribute] = most;
    found = true;
  }
  return found;
}

}  // namespace

absl::StatusOr<std::map<std::string, int64_t>> BoundsOf(
    const onnx::ModelProto& model,
    const std::map<std::string, int64_t>& given) {
  std::map<std::string, int64_t> bounds = given;
  for (const auto& entry : model.metadata_props()) {
    absl::string_view name = entry.key();
    if (!absl::ConsumePrefix(&name, kBoundKey)) continue;
    int64_t most = 0;
    if (!absl::SimpleAtoi(entry.value(), &most)) {
      return Reject(Rejection::kInvalidModel,
                    absl::StrCat("metadata ", Quote(entry.key()), " is ",
                                 Quote(entry.value()), ", not a number"));
    }
    bounds.emplace(std::string(name), most);
  }
  return bounds;
}

absl::Status InsertBounds(const std::map<std::string, int64_t>& bounds,
                          Graph* graph) {
  for (const auto& [name, most] : bounds) {
    if (SetIterations(name, most, graph)) continue;
    const TensorId id = graph->FindTensor(name);
    if (id == kNoTensor) {
      return Reject(Rejection::kUnsupportedAttribute,
                    absl::StrCat("a bound is given for tensor ", Quote(name),
                                 ", which the model does not have"));
    }
    if (most < 0) {
      return Reject(
          Rejection::kUnsupportedAttribute,
          absl::StrCat("the bound of tensor ", Quote(name), " is ", most,
                       "; it is the most that its elements "
                       "may be"));
    }
    RETURN_IF_ERROR(InsertBound(id, most, graph));
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
