// SPDX-License-Identifier: Apache-2.0
// A graph that the host evaluates with the reference semantics of its
// operators (by compiler/direct, those that have the same bytes sooner): a host
// segment of a package. The graph may come from anybody: Make
// checks every node as the importer does, infers types and shapes again and
// refuses what differs from what the graph states, so that nothing is evaluated
// whose sizes are not known.
#ifndef HEDDLE_COMPILER_HOST_HOST_FUNCTION_H_
#define HEDDLE_COMPILER_HOST_HOST_FUNCTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/pace.h"
#include "compiler/direct/direct.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"

namespace heddle::compiler {

// OK if the host may evaluate the node: an operator of ONNX (not one that
// passes make: no file may have those) whose definition accepts it, and makes
// of it what the graph says. Inputs must be known by type and shape. `scratch`
// is a copy of the graph, whose outputs of the node it may change. `bounded`
// knows the node's inputs, and then its outputs; shapes of those may be less
// than what the definition says.
absl::Status CheckHostNode(const Graph& graph, const Node& node, Graph* scratch,
                           BoundedTensors* bounded);

class HostFunction {
 public:
  // The graph is Verify()ed and all its shapes are known. `inputs`: of which
  // the shape is an upper bound.
  static absl::StatusOr<HostFunction> Make(Graph graph,
                                           BoundedTensors inputs = {});

  const Graph& graph() const { return graph_; }
  // Tensors of the graph whose shape is an upper bound.
  const BoundedTensors& bounded() const { return bounded_; }
  // The most bytes of tensors that a run computes and still needs. What an
  // operator keeps for itself is not counted: while it computes, copies of its
  // operands and a result, for those of float16; between runs, turned matrices
  // of recurrent ones.
  uint64_t working_bytes() const { return working_bytes_; }

  // `inputs` and `outputs` in the graph's order, dense, aligned to their
  // elements. `stop` is asked before each node and every some milliseconds
  // inside (compiler/base/pace.h); its error ends the run, after which outputs
  // may be written in part. Errors are those of `stop` or of an operator (an
  // index outside of its tensor, more elements than the graph states).
  // `interval` is for tests. `input_shapes`: of the inputs, where they are less
  // than the graph states (bytes lie dense at the beginning of a tensor); null:
  // none is. `output_shapes` receives those of the outputs.
  absl::Status Run(const std::vector<const uint8_t*>& inputs,
                   const std::vector<uint8_t*>& outputs,
                   const std::function<absl::Status()>& stop,
                   int64_t interval = kPaceInterval,
                   const std::vector<Shape>* input_shapes = nullptr,
                   std::vector<Shape>* output_shapes = nullptr) const;

 private:
  absl::Status Evaluate(const std::vector<const uint8_t*>& inputs,
                        const std::vector<uint8_t*>& outputs,
                        const std::function<absl::Status()>& stop,
                        const std::vector<Shape>* input_shapes,
                        std::vector<Shape>* output_shapes) const;
  explicit HostFunction(Graph graph) : graph_(std::move(graph)) {}
  // `inferred`: the graph with the largest shapes that its values may have.
  void FindLastReaders(const Graph& inferred);

  Graph graph_;
  BoundedTensors bounded_;
  // For each node the computed tensors that nobody needs behind it.
  std::vector<std::vector<TensorId>> done_;
  // For each node its kernel; null: the reference evaluates it.
  std::vector<std::shared_ptr<const DirectKernel>> direct_;
  uint64_t working_bytes_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_HOST_HOST_FUNCTION_H_
