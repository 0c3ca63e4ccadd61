// SPDX-License-Identifier: Apache-2.0
#include "compiler/other_shapes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/import/importer.h"
#include "compiler/import/input_declaration.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/infer.h"

namespace heddle::compiler {
namespace {

// Sizes of all open dimensions at once, to see where inference ends.
constexpr int64_t kTrials[] = {1, 5, 64, 224};
// Combinations that are tried at one node.
constexpr size_t kMostCombinations = 20000;

// Where inference ended: the shapes up to there, and the node.
struct Refused {
  Graph graph;
  size_t node = 0;
};

// Nothing if the model is not refused, or not by a node's inference.
std::optional<Refused> Try(absl::string_view model,
                           const CompileOptions& options, int64_t size) {
  ImportOptions import{options.input_shapes, options.weights,
                       options.data_folder};
  import.bounds = options.bounds;
  for (const InputDeclaration& input : DeclaredInputs(model)) {
    if (options.weights.count(input.name) != 0 || !input.has_shape) continue;
    Shape shape = input.shape;
    std::replace(shape.begin(), shape.end(), int64_t{-1}, size);
    import.input_shapes.emplace(input.name, shape);
  }
  auto imported = ImportOnnx(model, import);
  if (!imported.ok()) return std::nullopt;
  Refused refused;
  refused.graph = std::move(imported->graph);
  Graph& graph = refused.graph;
  const absl::Status status =
      InferAndFold(&graph, imported->declared, nullptr, imported->subgraphs);
  if (status.ok()) return std::nullopt;
  const auto known = [&graph](TensorId id) {
    return id == kNoTensor || graph.tensors[id].shape_known;
  };
  while (refused.node < graph.nodes.size() &&
         std::all_of(graph.nodes[refused.node].outputs.begin(),
                     graph.nodes[refused.node].outputs.end(), known)) {
    ++refused.node;
  }
  // Otherwise it was no node's inference: a size, a declaration.
  if (refused.node == graph.nodes.size() ||
      !absl::StrContains(status.message(),
                         graph.nodes[refused.node].Describe())) {
    return std::nullopt;
  }
  return refused;
}

// Shapes have to be equal, or large enough; no product of sizes decides.
bool HasSimpleRules(const Node& node) {
  if (!node.domain.empty()) return false;
  for (const char* op : {"MatMul", "Gemm", "Conv", "Add", "Sub", "Mul", "Div",
                         "Concat", "BatchNormalization"}) {
    if (node.op == op) return true;
  }
  return false;
}

struct Dimension {
  TensorId tensor = kNoTensor;
  size_t axis = 0;
};

// Sizes that can matter to the node: those it has beside the open ones.
std::vector<int64_t> Candidates(const Graph& graph, const Node& node,
                                const std::vector<Dimension>& open) {
  std::set<int64_t> sizes = {1, 2, 1000};
  const int64_t group = node.IntAttribute("group", 1);
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    const Shape& shape = graph.tensors[id].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool varies = std::any_of(
          open.begin(), open.end(),
          [&](const Dimension& d) { return d.tensor == id && d.axis == i; });
      if (varies || shape[i] < 1 || shape[i] > 1 << 30) continue;
      sizes.insert(shape[i]);
      if (group > 1 && group < 1 << 20) sizes.insert(shape[i] * group);
    }
  }
  return {sizes.begin(), sizes.end()};
}

bool IsAccepted(const Graph& graph, const Node& node) {
  Graph trial = graph;
  if (!CheckNode(trial, node).ok()) return false;
  return FindOperator(node.domain, node.op, node.opset)
      ->infer(&trial, node)
      .ok();
}

// Whether the node accepts some sizes of its open dimensions.
bool SomeSizeHelps(const Graph& graph, const Node& node,
                   const std::vector<Dimension>& open) {
  // Only what the node sees, so that a trial costs little.
  Graph small;
  Node copy = node;
  std::vector<Dimension> dims;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    copy.inputs[i] = small.AddTensor(graph.tensors[node.inputs[i]]);
    for (const Dimension& d : open) {
      if (d.tensor == node.inputs[i]) dims.push_back({copy.inputs[i], d.axis});
    }
  }
  for (TensorId& id : copy.outputs) {
    if (id != kNoTensor) id = small.AddTensor(graph.tensors[id]);
  }
  const std::vector<int64_t> sizes = Candidates(small, copy, dims);
  size_t combinations = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    combinations *= sizes.size();
    if (combinations > kMostCombinations) return true;
  }
  for (size_t k = 0; k < combinations; ++k) {
    size_t rest = k;
    for (const Dimension& d : dims) {
      small.tensors[d.tensor].shape[d.axis] = sizes[rest % sizes.size()];
      rest /= sizes.size();
    }
    if (IsAccepted(small, copy)) return true;
  }
  return false;
}

}  // namespace

bool OtherShapesMayHelp(absl::string_view model,
                        const CompileOptions& options) {
  std::optional<Refused> first;
  std::vector<Dimension> open;
  for (int64_t size : kTrials) {
    std::optional<Refused> now = Try(model, options, size);
    if (!now.has_value()) return true;
    if (!first.has_value()) {
      first = std::move(now);
      if (!HasSimpleRules(first->graph.nodes[first->node])) return true;
      continue;
    }
    if (now->node != first->node) return true;
    for (TensorId id : first->graph.nodes[first->node].inputs) {
      if (id == kNoTensor) continue;
      const Shape& a = first->graph.tensors[id].shape;
      const Shape& b = now->graph.tensors[id].shape;
      if (a.size() != b.size()) return true;
      for (size_t i = 0; i < a.size(); ++i) {
        const bool listed = std::any_of(
            open.begin(), open.end(),
            [&](const Dimension& d) { return d.tensor == id && d.axis == i; });
        if (a[i] != b[i] && !listed) open.push_back({id, i});
      }
    }
  }
  return SomeSizeHelps(first->graph, first->graph.nodes[first->node], open);
}

}  // namespace heddle::compiler
