// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/share_subexpressions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/passes/elementwise_parts.h"

namespace heddle::compiler {
namespace {

// Constants of more bytes are equal only if they are one: comparing weights
// would read all of a mapped model.
constexpr size_t kMostCompared = 4096;

// Text in which what is put in can be told apart.
class Key {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(const std::string& value) {
    Number(value.size());
    text_ += value;
  }
  template <typename T>
  void List(const std::vector<T>& values) {
    Number(values.size());
    for (const T& value : values) {
      if constexpr (std::is_same_v<T, std::string>) {
        Text(value);
      } else {
        Number(value);
      }
    }
  }
  void Data(const TensorData& data) {
    Number(static_cast<int32_t>(data.type));
    List(data.shape);
    Number(data.bytes.size());
    text_.append(reinterpret_cast<const char*>(data.bytes.data()),
                 data.bytes.size());
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// False for a graph.
bool Add(const Attribute& attribute, Key* key) {
  key->Number(attribute.index());
  return std::visit(
      [key](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::shared_ptr<const Graph>>) {
          return false;
        } else if constexpr (std::is_same_v<T, std::string>) {
          key->Text(value);
        } else if constexpr (std::is_arithmetic_v<T>) {
          key->Number(value);
        } else if constexpr (std::is_same_v<
                                 T, std::shared_ptr<const TensorData>>) {
          key->Data(*value);
        } else {
          key->List(value);
        }
        return true;
      },
      attribute);
}

// What a node computes, given a number for the value of each tensor.
std::optional<std::string> KeyOf(const Node& node,
                                 const std::vector<TensorId>& value) {
  Key key;
  key.Text(node.domain);
  key.Text(node.op);
  key.Number(node.opset);
  key.Number(node.attributes.size());
  for (const auto& [name, attribute] : node.attributes) {
    key.Text(name);
    if (!Add(attribute, &key)) return std::nullopt;
  }
  std::vector<TensorId> inputs;
  for (TensorId id : node.inputs) {
    inputs.push_back(id == kNoTensor ? kNoTensor : value[id]);
  }
  key.List(inputs);
  // An output that is there may decide what the others are.
  key.Number(node.outputs.size());
  for (TensorId id : node.outputs) key.Number(id != kNoTensor);
  return key.Take();
}

class Sharing {
 public:
  Sharing(Graph* graph, const Supposed* supposed)
      : graph_(graph), first_(graph->nodes.size(), -1) {
    std::unordered_map<std::string, TensorId> constants;
    value_.reserve(graph->tensors.size());
    for (TensorId id = 0; id < static_cast<TensorId>(graph->tensors.size());
         ++id) {
      value_.push_back(id);
      const Tensor& tensor = graph->tensors[id];
      if (!tensor.is_constant() ||
          tensor.constant->bytes.size() > kMostCompared ||
          (supposed != nullptr && supposed->constants.count(id) != 0)) {
        continue;
      }
      Key key;
      key.Data(*tensor.constant);
      value_[id] = constants.emplace(key.Take(), id).first->second;
    }
  }

  // For each node the first that computes the same, or -1.
  void Number() {
    std::unordered_map<std::string, int> nodes;
    for (int n = 0; n < static_cast<int>(graph_->nodes.size()); ++n) {
      const Node& node = graph_->nodes[n];
      auto key = KeyOf(node, value_);
      if (!key.has_value()) continue;
      const int first = nodes.emplace(std::move(*key), n).first->second;
      if (first == n) continue;
      first_[n] = first;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == kNoTensor) continue;
        value_[node.outputs[i]] = value_[graph_->nodes[first].outputs[i]];
      }
    }
  }

  void Share() {
    // From the end, so that it is known which readers go.
    const std::vector<std::vector<int>> consumers = graph_->Consumers();
    std::vector<bool> shared(graph_->nodes.size(), false);
    const auto stays_fused = [&](int n) {
      for (TensorId id : graph_->nodes[n].outputs) {
        if (id == kNoTensor) continue;
        for (int reader : consumers[id]) {
          if (!shared[reader] && Elementwise(reader)) return true;
        }
      }
      return false;
    };
    for (int n = static_cast<int>(graph_->nodes.size()) - 1; n >= 0; --n) {
      if (first_[n] < 0 || WritesOutput(n)) continue;
      shared[n] =
          !Elementwise(n) || (!stays_fused(n) && !stays_fused(first_[n]));
    }
    // An original is no duplicate itself: first_ is the first of all.
    std::vector<TensorId> alias(graph_->tensors.size());
    for (size_t i = 0; i < alias.size(); ++i) {
      alias[i] = static_cast<TensorId>(i);
    }
    for (size_t n = 0; n < graph_->nodes.size(); ++n) {
      Node& node = graph_->nodes[n];
      for (TensorId& id : node.inputs) {
        if (id != kNoTensor) id = alias[id];
      }
      if (!shared[n]) continue;
      Node& first = graph_->nodes[first_[n]];
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoTensor) {
          alias[node.outputs[i]] = first.outputs[i];
        }
      }
      first.sources.insert(first.sources.end(), node.sources.begin(),
                           node.sources.end());
    }
    size_t kept = 0;
    for (size_t n = 0; n < graph_->nodes.size(); ++n) {
      if (shared[n]) continue;
      if (kept != n) graph_->nodes[kept] = std::move(graph_->nodes[n]);
      ++kept;
    }
    graph_->nodes.resize(kept);
  }

 private:
  bool Elementwise(int n) const {
    return !ElementwiseParts(*graph_, graph_->nodes[n]).empty();
  }
  bool WritesOutput(int n) const {
    const std::vector<TensorId>& outputs = graph_->nodes[n].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [this](TensorId id) {
      return id != kNoTensor && graph_->IsOutput(id);
    });
  }

  Graph* graph_;
  std::vector<TensorId> value_;  // tensors of one value have one number
  std::vector<int> first_;
};

}  // namespace

absl::Status ShareSubexpressions(Graph* graph, const Supposed* supposed) {
  Sharing sharing(graph, supposed);
  sharing.Number();
  sharing.Share();
  graph->RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace heddle::compiler
