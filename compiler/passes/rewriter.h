// SPDX-License-Identifier: Apache-2.0
// A graph under rewriting: nodes are added at the end and removed by marking;
// who writes and who reads a tensor is kept up to date. Finish() sorts.
#ifndef HEDDLE_COMPILER_PASSES_REWRITER_H_
#define HEDDLE_COMPILER_PASSES_REWRITER_H_

#include <cassert>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

class Rewriter {
 public:
  explicit Rewriter(Graph* graph);

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  int size() const { return static_cast<int>(graph_->nodes.size()); }
  bool alive(int n) const { return alive_[n]; }
  const Node& node(int n) const { return graph_->nodes[n]; }
  const Tensor& tensor(TensorId id) const {
    assert(id >= 0 && static_cast<size_t>(id) < graph_->tensors.size());
    return graph_->tensors[id];
  }

  // The node that writes `id`, or -1.
  int Producer(TensorId id) const {
    return id == kNoTensor ? -1 : producer_[id];
  }
  // The nodes that read `id`, in order of their index, each once.
  const std::set<int>& Consumers(TensorId id) const { return consumers_[id]; }
  bool IsOp(int n, const char* op) const {
    return n >= 0 && node(n).domain.empty() && node(n).op == op;
  }
  // True if exactly one node reads `id` and the caller does not.
  bool OnlyUse(TensorId id) const;

  int Add(Node node);
  // A Reshape of `from`, whose result is `to`.
  void AddReshape(TensorId from, TensorId to);
  void Remove(int n);
  // Puts `node` in the place of `nodes`, whose sources it takes over. False,
  // and nothing done, if it breaks a rule of its operator.
  bool Replace(const std::set<int>& nodes, Node node);
  // Makes input `i` of node n read `id` (which may be new).
  void SetInput(int n, size_t i, TensorId id);
  TensorId NewTensor(const std::string& hint, DataType type,
                     const Shape& shape);
  TensorId NewConstant(const std::string& hint, TensorData data);

  // Drops removed nodes and puts the rest in topological order, else by index.
  absl::Status Finish();

 private:
  std::string UniqueName(const std::string& hint);
  void Link(int n);
  void Unlink(int n);
  void Grow();

  Graph* graph_;
  std::vector<bool> alive_;
  std::vector<int> producer_;
  std::vector<std::set<int>> consumers_;
  std::unordered_set<std::string> names_;
  std::unordered_set<TensorId> outputs_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_REWRITER_H_
