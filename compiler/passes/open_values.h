// SPDX-License-Identifier: Apache-2.0
// Tensors whose size a run decides (ops/bounded.h), as control flow takes them,
// whose values have a fixed shape: a tensor of the most that there may be, with
// zeros behind, and how much of it there is, int64[1]. On one axis.
#ifndef HEDDLE_COMPILER_PASSES_OPEN_VALUES_H_
#define HEDDLE_COMPILER_PASSES_OPEN_VALUES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/importer.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/bounded.h"

namespace heddle::compiler {

struct OpenTensor {
  TensorId id = kNoTensor;
  size_t axis = 0;
  int64_t most = 0;  // on that axis
  ValueType type;    // with the most
};
struct Filled {
  TensorId values = kNoTensor;
  TensorId size = kNoTensor;
};

// The one axis of `shape` that is not as in `other`, or that the set has; none
// if there are none or more.
std::optional<size_t> OneAxis(const Shape& shape, const Shape& other);
std::optional<size_t> OneAxis(AxisSet axes);

// Appends nodes of opset 13, in the name of `owner`, to a list. Constants of
// the size of a tensor are nodes, too: whoever folds them counts how large they
// are.
class OpenValues {
 public:
  OpenValues(const Node& owner, Graph* graph, std::vector<Node>* nodes)
      : owner_(owner), graph_(graph), nodes_(nodes) {}

  TensorId Number(int64_t value);                     // int64[]
  TensorId List(const std::vector<int64_t>& values);  // int64[n]
  TensorId Zeros(const ValueType& type);
  TensorId Add(const char* op, std::vector<TensorId> inputs, ValueType type,
               std::map<std::string, Attribute> attributes = {},
               TensorId output = kNoTensor);
  // `value`, or the end of the run if it is more; `what` names it there.
  TensorId AtMost(TensorId value, Shape shape, int64_t most,
                  const std::string& what);

  // `id` stands for the tensor: int64[1].
  TensorId SizeOf(const OpenTensor& open, TensorId id);
  // Zeros behind `id`, which may be of any size up to the most.
  TensorId Fill(const OpenTensor& open, TensorId id);
  // `open.id`, which is bounded or of a fixed size.
  Filled Close(const OpenTensor& open, const BoundedTensors& bounded);
  // As much of it as there is, as `id`.
  void Take(const OpenTensor& open, const Filled& filled, TensorId id);

 private:
  TensorId Constant(TensorData data);
  TensorId Places(int64_t count);  // 0, 1, ...

  const Node& owner_;
  Graph* const graph_;
  std::vector<Node>* const nodes_;
};

// A node of control flow that takes the place of one with such tensors.
struct Sized {
  std::vector<Node> before, behind;
  Node node;
  Subgraphs graphs;
};

// Lets the graphs of a node of control flow read bounded tensors of the graph
// around it. `ids`, what they read, become what the node reads instead;
// `before` goes before the node, `inside` to the start of each of its graphs,
// where it makes what was read before. kUnsupportedShape: of one of them more
// than one axis is open.
absl::Status CloseCaptures(const Node& node, const BoundedTensors& bounded,
                           Graph* graph, std::vector<TensorId>* ids,
                           std::vector<Node>* before,
                           std::vector<Node>* inside);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_OPEN_VALUES_H_
