// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/suppose.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {
namespace {

// Inputs that are tried as the only one that is no weight.
constexpr size_t kMostAlone = 8;
// Inputs at the beginning that are tried as all that are no weights.
constexpr size_t kMostData = 5;

template <typename T>
void Fill(T value, TensorData* data) {
  for (size_t i = 0; i + sizeof(T) <= data->bytes.size(); i += sizeof(T)) {
    std::memcpy(&data->bytes[i], &value, sizeof(T));
  }
}

// Adds the inputs of the graph from whose values `id` is computed.
void AddSources(const Graph& graph, const std::vector<int>& producers,
                TensorId id, std::set<TensorId>* seen,
                std::set<TensorId>* sources) {
  std::vector<TensorId> todo = {id};
  while (!todo.empty()) {
    const TensorId next = todo.back();
    todo.pop_back();
    if (next == kNoTensor || !seen->insert(next).second) continue;
    if (producers[next] >= 0) {
      const Node& node = graph.nodes[producers[next]];
      if (node.op == "Shape" || node.op == "Size") continue;
      todo.insert(todo.end(), node.inputs.begin(), node.inputs.end());
    } else if (!graph.tensors[next].is_constant()) {
      sources->insert(next);
    }
  }
}

// The node whose name the message quotes first.
const Node* NodeOf(const Graph& graph, absl::string_view message) {
  const size_t begin = message.find('\'');
  const size_t end = message.find('\'', begin + 1);
  if (begin == message.npos || end == message.npos) return nullptr;
  absl::string_view name = message.substr(begin + 1, end - begin - 1);
  for (const Node& node : graph.nodes) {
    // Passes derive names from it.
    if (name == node.name || absl::StartsWith(name, node.name + "/")) {
      return &node;
    }
  }
  return nullptr;
}

}  // namespace

TensorData StandIn(DataType type, Shape shape) {
  TensorData data = TensorData::Zeros(type, std::move(shape));
  switch (type) {
    case DataType::kFloat:
      Fill(1.0f, &data);
      break;
    case DataType::kDouble:
      Fill(1.0, &data);
      break;
    case DataType::kFloat16:
      Fill(uint16_t{0x3c00}, &data);
      break;
    case DataType::kBfloat16:
      Fill(uint16_t{0x3f80}, &data);
      break;
    default:
      break;
  }
  return data;
}

std::vector<std::set<TensorId>> WeightGuesses(const Graph& graph) {
  // Where each input is read first: node, operand.
  std::map<TensorId, std::pair<size_t, size_t>> reads;
  std::set<TensorId> parameters(graph.inputs.begin(), graph.inputs.end());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      reads.emplace(node.inputs[i], std::make_pair(n, i));
      if (i == 0) parameters.erase(node.inputs[i]);
    }
  }
  std::vector<std::set<TensorId>> guesses;
  const auto add = [&](std::set<TensorId> guess) {
    if (guess.empty() || guess.size() == graph.inputs.size() ||
        std::count(guesses.begin(), guesses.end(), guess) != 0) {
      return;
    }
    guesses.push_back(std::move(guess));
  };
  add(parameters);
  std::vector<TensorId> order = graph.inputs;
  const auto place = [&](TensorId id) {
    const auto found = reads.find(id);
    return found == reads.end() ? std::make_pair(graph.nodes.size(), size_t{0})
                                : found->second;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](TensorId a, TensorId b) { return place(a) < place(b); });
  // By convention data come before weights.
  for (size_t data = 1; data <= kMostData && data < graph.inputs.size();
       ++data) {
    add({graph.inputs.begin() + static_cast<ptrdiff_t>(data),
         graph.inputs.end()});
  }
  for (size_t i = 0; i < order.size() && i < kMostAlone; ++i) {
    std::set<TensorId> guess(graph.inputs.begin(), graph.inputs.end());
    guess.erase(order[i]);
    add(std::move(guess));
  }
  return guesses;
}

std::set<TensorId> MoreWeights(const Graph& graph,
                               const absl::Status& rejection,
                               const std::set<TensorId>& weights) {
  const Node* node = NodeOf(graph, rejection.message());
  if (node == nullptr) return {};
  const std::vector<int> producers = graph.Producers();
  std::set<TensorId> seen, more;
  const auto add = [&](size_t first, size_t last) {
    for (size_t i = first; i < last && i < node->inputs.size(); ++i) {
      AddSources(graph, producers, node->inputs[i], &seen, &more);
    }
    for (TensorId id : weights) more.erase(id);
  };
  add(1, node->inputs.size());
  if (more.empty()) add(0, 1);
  if (more.size() + weights.size() >= graph.inputs.size()) return {};
  return more;
}

void Suppose(const std::set<TensorId>& weights, Graph* graph) {
  for (TensorId id : weights) {
    Tensor& tensor = graph->tensors[id];
    tensor.constant =
        std::make_shared<const TensorData>(StandIn(tensor.type, tensor.shape));
  }
  auto& inputs = graph->inputs;
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(),
                     [&](TensorId id) { return weights.count(id) != 0; }),
      inputs.end());
}

}  // namespace heddle::compiler
