// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/rewriter.h"

#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

Rewriter::Rewriter(Graph* graph)
    : graph_(graph),
      alive_(graph->nodes.size(), true),
      outputs_(graph->outputs.begin(), graph->outputs.end()) {
  for (const Tensor& tensor : graph->tensors) names_.insert(tensor.name);
  Grow();
  for (int n = 0; n < size(); ++n) Link(n);
}

void Rewriter::Grow() {
  producer_.resize(graph_->tensors.size(), -1);
  consumers_.resize(graph_->tensors.size());
}

void Rewriter::Link(int n) {
  for (TensorId id : node(n).inputs) {
    if (id != kNoTensor) consumers_[id].insert(n);
  }
  for (TensorId id : node(n).outputs) {
    if (id != kNoTensor) producer_[id] = n;
  }
}

void Rewriter::Unlink(int n) {
  for (TensorId id : node(n).inputs) {
    if (id != kNoTensor) consumers_[id].erase(n);
  }
  for (TensorId id : node(n).outputs) {
    if (id != kNoTensor && producer_[id] == n) producer_[id] = -1;
  }
}

bool Rewriter::OnlyUse(TensorId id) const {
  return consumers_[id].size() == 1 && outputs_.count(id) == 0;
}

void Rewriter::AddReshape(TensorId from, TensorId to) {
  constexpr int kOpset = 13;
  const Tensor t = tensor(to);
  TensorData shape = TensorData::Zeros(DataType::kInt64,
                                       {static_cast<int64_t>(t.shape.size())});
  std::copy(t.shape.begin(), t.shape.end(), shape.as<int64_t>());
  Node node;
  node.op = "Reshape";
  node.name = t.name;
  node.opset = kOpset;
  node.inputs = {from, NewConstant(t.name + "/shape", std::move(shape))};
  node.outputs = {to};
  Add(std::move(node));
}

int Rewriter::Add(Node node) {
  graph_->nodes.push_back(std::move(node));
  alive_.push_back(true);
  Grow();
  Link(size() - 1);
  return size() - 1;
}

void Rewriter::Remove(int n) {
  Unlink(n);
  alive_[n] = false;
}

bool Rewriter::Replace(const std::set<int>& nodes, Node by) {
  for (int n : nodes) {
    const std::vector<std::string>& sources = node(n).sources;
    by.sources.insert(by.sources.end(), sources.begin(), sources.end());
  }
  if (!CheckNode(*graph_, by).ok()) return false;
  for (int n : nodes) Remove(n);
  Add(std::move(by));
  return true;
}

void Rewriter::SetInput(int n, size_t i, TensorId id) {
  Grow();
  Unlink(n);
  graph_->nodes[n].inputs[i] = id;
  Link(n);
}

std::string Rewriter::UniqueName(const std::string& hint) {
  std::string name = hint;
  for (int suffix = 1; !names_.insert(name).second; ++suffix) {
    name = absl::StrCat(hint, "_", suffix);
  }
  return name;
}

TensorId Rewriter::NewTensor(const std::string& hint, DataType type,
                             const Shape& shape) {
  Tensor tensor;
  tensor.name = UniqueName(hint);
  tensor.type = type;
  tensor.shape = shape;
  tensor.shape_known = true;
  const TensorId id = graph_->AddTensor(std::move(tensor));
  Grow();
  return id;
}

TensorId Rewriter::NewConstant(const std::string& hint, TensorData data) {
  const TensorId id = graph_->AddConstant(UniqueName(hint), std::move(data));
  Grow();
  return id;
}

absl::Status Rewriter::Finish() {
  std::vector<int> waiting(size(), 0);
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  int total = 0;
  for (int n = 0; n < size(); ++n) {
    if (!alive_[n]) continue;
    ++total;
    std::set<int> before;
    for (TensorId id : node(n).inputs) {
      if (Producer(id) >= 0) before.insert(Producer(id));
    }
    waiting[n] = static_cast<int>(before.size());
    if (before.empty()) ready.push(n);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    order.push_back(n);
    std::set<int> after;
    for (TensorId id : node(n).outputs) {
      if (id == kNoTensor) continue;
      after.insert(consumers_[id].begin(), consumers_[id].end());
    }
    for (int reader : after) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (static_cast<int>(order.size()) != total) {
    return absl::InternalError("rewriting made a cycle");
  }
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (int n : order) sorted.push_back(std::move(graph_->nodes[n]));
  graph_->nodes = std::move(sorted);
  graph_->RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace heddle::compiler
