// SPDX-License-Identifier: Apache-2.0
// Loops and Scans give way to their iterations, one body behind the other,
// where their number is known when compiling: a Loop's trip count and
// conditions are constants or follow from constants and shapes, a Scan's count
// is a dimension. What a run decides, or what takes too many nodes, is left to
// the run (control.h).
#ifndef HEDDLE_COMPILER_PASSES_UNROLL_H_
#define HEDDLE_COMPILER_PASSES_UNROLL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/importer.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Of a graph: a few bytes of a model stand for any number of iterations.
inline constexpr size_t kMostUnrolledNodes = size_t{1} << 18;
inline constexpr size_t kMostUnrolledBytes = size_t{1} << 30;

// Looked at in all attempts, whether they stay or not.
inline constexpr size_t kMostTriedNodes = 4 * kMostUnrolledNodes;

// Of a graph and its bodies together.
struct UnrollCharges {
  size_t nodes = 0, bytes = 0;
  size_t tried = 0;  // nodes; never taken back
  bool exceeded = false;
};

class Unroller {
 public:
  // `subgraphs`: of the graph's nodes; those of nodes in iterations are added.
  Unroller(Graph* graph, SubgraphMap subgraphs, UnrollCharges* charges)
      : graph_(graph), subgraphs_(std::move(subgraphs)), charges_(charges) {}

  const SubgraphMap& subgraphs() const { return subgraphs_; }

  // What takes the node's place: all iterations of a Scan, the next one of a
  // Loop and the Loop itself behind it, or the results of a Loop that is done.
  // What the nodes before it compute is known as far as it ever will be.
  // Rejections: kInvalidModel; kUnsupportedOperator (a number of iterations
  // that is computed at run time); kUnsupportedShape (too many, or none for a
  // result that is made of all); what the body has that is not supported.
  absl::StatusOr<std::vector<Node>> Next(const Node& node);
  // kInvalidModel if the inputs and outputs of a Loop do not fit its body.
  absl::Status CheckLoop(const Node& node) const;
  // Whether a run could do what Next() has just refused.
  bool LeftToRun() const { return left_to_run_; }
  // Forgets what was made of a Loop or Scan: all tensors of the graph from
  // `tensors` on, which go, and what was charged since `before`.
  void TakeBack(const Node& node, size_t tensors, const UnrollCharges& before);
  // A copy of `nodes` nodes that somebody makes otherwise.
  absl::Status ChargeCopy(const Node& owner, const std::vector<Node>& nodes);

  // The tensors whose values decide how often the node goes on from here; of a
  // Scan, whose shapes do.
  std::vector<TensorId> Deciders(const Node& node) const;

 private:
  struct Progress {
    int64_t iterations = 0;
    TensorId condition = kNoTensor;  // none: true
    std::vector<TensorId> carried;
    std::vector<std::vector<TensorId>> scanned;  // by result
  };
  using Replacements = std::map<TensorId, TensorId>;

  absl::StatusOr<std::vector<Node>> NextOfLoop(const Node& node);
  absl::StatusOr<std::vector<Node>> AllOfScan(const Node& node);

  // The subgraph with tensors of its own, reading what `known` says.
  absl::StatusOr<Subgraph> Copy(const Node& owner, const Subgraph& from,
                                Replacements known);
  // What is made is charged; too much of it is a rejection.
  void Charge(const Node& node);
  absl::Status CheckCharges(const Node& owner);
  absl::Status TooMuch(const Node& owner);
  TensorId NewTensor(const std::string& name);
  TensorId Constant(const Node& owner, TensorData data);
  // Appends a node to `nodes`, whose result it returns or `result`.
  TensorId Append(const Node& owner, const std::string& op,
                  std::vector<TensorId> inputs,
                  const std::map<std::string, Attribute>& attributes,
                  TensorId result, std::vector<Node>* nodes);
  // Tensors side by side along a new axis.
  absl::Status Stack(const Node& owner, const std::vector<TensorId>& parts,
                     int64_t axis, bool batch, TensorId result,
                     std::vector<Node>* nodes);

  Graph* const graph_;
  SubgraphMap subgraphs_;
  UnrollCharges* const charges_;
  std::map<TensorId, Progress> progress_;  // by the Loop's first output
  bool left_to_run_ = false;
  int names_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_UNROLL_H_
