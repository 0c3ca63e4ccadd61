// SPDX-License-Identifier: Apache-2.0
// Where a network first leaves the reference semantics.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "tools/heddle-run/compare.h"
#include "tools/heddle-run/data.h"

namespace heddle::run {

struct LayerCheck {
  size_t compared = 0;   // tensors
  size_t differing = 0;  // of these
  // The first one in the order of the graph, and the node that computes it.
  std::string tensor, node, op;
  std::vector<std::string> sources;  // ONNX nodes that the node stands for
  Comparison first;
};

// Runs `graph` with the reference semantics and compares tensors of the card,
// byte for byte, in the order in which the graph computes them. Tensors that
// the graph does not compute are left out.
absl::StatusOr<LayerCheck> CompareLayers(
    const compiler::Graph& graph,
    const std::vector<compiler::TensorData>& inputs,
    const std::vector<NamedTensor>& card);

// Sentences for people.
std::string Describe(const LayerCheck& check);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_
