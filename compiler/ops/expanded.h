// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others: a node is expanded into nodes of operators
// that have a meaning and a lowering of their own. The reference evaluates the
// expansion, the compiler puts it in the node's place (passes/expand.h): both
// have the same bytes.
//
//   absl::Status ExpandReduceLogSum(Expansion* e) {
//     const TensorId x = e->Wide(e->In(0));
//     e->Return(0, e->Add("Log", {e->Add("ReduceSum", {x, axes})}));
//     return absl::OkStatus();
//   }
//   const ExpandedOperator kReduceLogSum(Define(..), ExpandReduceLogSum);
#ifndef HEDDLE_COMPILER_OPS_EXPANDED_H_
#define HEDDLE_COMPILER_OPS_EXPANDED_H_

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

// An expansion being written. After an error nothing is appended any more; who
// asked for the expansion gets it.
// Elements of a table that an expansion computes itself, such as a mask or a
// list of indices: shapes alone, a few bytes of a model, decide how many.
inline constexpr int64_t kMostTableElements = int64_t{1} << 26;

// OK, or UnsupportedShape: a table of `rows` * `columns` is too large.
absl::Status CheckTable(const Node& node, int64_t rows, int64_t columns);

class Expansion {
 public:
  Expansion(Graph* graph, const Node& node);

  const Graph& graph() const { return *graph_; }
  const Node& node() const { return node_; }
  bool HasIn(size_t i) const { return HasInput(node_, i); }
  TensorId In(size_t i) const { return node_.inputs[i]; }
  // The rejections of the operator's own inference.
  absl::Status Check(decltype(OperatorInfo::infer) infer) {
    return infer(graph_, node_);
  }
  // The shape of output i, where the model declares it; null: it does not.
  const Shape* DeclaredShape(size_t i) const {
    const Tensor& t = graph_->tensors[node_.outputs[i]];
    return t.shape_known ? &t.shape : nullptr;
  }
  bool HasOut(size_t i) const {
    return i < node_.outputs.size() && node_.outputs[i] != kNoTensor;
  }
  const Tensor& T(TensorId id) const { return graph_->tensors[id]; }

  TensorId Constant(TensorData data);
  TensorId Ints(const std::vector<int64_t>& values);
  // One element of rank 0, of a type of fixed size.
  TensorId Scalar(DataType type, double value);
  // What the expansion computes in: fp32, or double where an input is that.
  DataType Real() const;
  // One number of Real(), and a tensor of them.
  TensorId Number(double value) { return Scalar(Real(), value); }
  TensorId Numbers(const Shape& shape, const std::vector<double>& values);
  // The result of a node of ONNX's operator at opset 13, or at another.
  TensorId Add(const std::string& op, const std::vector<TensorId>& inputs,
               const std::map<std::string, Attribute>& attributes = {},
               int opset = 13);
  // All of its first `count` results.
  std::vector<TensorId> AddAll(
      size_t count, const std::string& op, const std::vector<TensorId>& inputs,
      const std::map<std::string, Attribute>& attributes, int opset);
  TensorId Cast(TensorId x, DataType to);  // x itself if it has the type
  TensorId Reshape(TensorId x, Shape shape);
  // float16 (and fp32) as Real(): expansions round once, at the end.
  TensorId Wide(TensorId x);
  // `x`, cast to `type`, is the node's output i; an absent one is no error.
  void Return(size_t i, TensorId x, DataType type);

  const absl::Status& status() const { return status_; }
  // The nodes, the last of each output writing the node's own tensors.
  std::vector<Node> Take();

 private:
  // A tensor named after the node's first output.
  TensorId NewTensor(DataType type, Shape shape);

  Graph* graph_;
  const Node& node_;
  std::vector<Node> nodes_;
  absl::Status status_;
  std::string hint_;  // for names
  int suffix_ = 0;    // names up to this one are taken
  std::unordered_set<std::string> taken_;
  std::map<TensorId, TensorId> returned_;  // under the node's own names
};

using ExpandFunction = absl::Status (*)(Expansion* e);

class ExpandedOperator {
 public:
  // `applies`: whether a node, the shapes of whose inputs are known, is
  // expanded; others of the operator have `infer`, `evaluate` and a lowering as
  // usual. Null: all are.
  ExpandedOperator(Define define, ExpandFunction expand);
  ExpandedOperator(Define define, ExpandFunction expand,
                   bool (*applies)(const Graph& graph, const Node& node),
                   decltype(OperatorInfo::infer) infer,
                   decltype(OperatorInfo::evaluate) evaluate);
};

// Whether nodes of the operator may be expanded, and whether this one is.
bool MayBeExpanded(const std::string& domain, const std::string& op);
bool IsExpanded(const Graph& graph, const Node& node);

// Of a node that is expanded: whether some of what it is made of are the
// compiler's own operators, which no file may have. Looks no deeper: parts that
// are expanded in their turn have their own answer.
bool HasInternalParts(const Graph& graph, const Node& node);

// The nodes of its expansion in topological order; new tensors are added to the
// graph. They may be expanded themselves. UnsupportedShape where one of its
// tensors takes more than 4 GiB.
absl::StatusOr<std::vector<Node>> ExpandNode(Graph* graph, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_EXPANDED_H_
