// SPDX-License-Identifier: Apache-2.0
// Where a network leaves another computation of the same tensors, and how far:
// the reference semantics, or floating point on dequantized values.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tools/heddle-run/compare.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-run/quality.h"

namespace heddle::run {

// A tensor that differs, and the node that computes it.
struct LayerDifference {
  std::string tensor, node, op;
  std::vector<std::string> sources;  // ONNX nodes that the node stands for
  compiler::Shape shape;
  Comparison bytes;  // of the tensor, byte for byte
  Quality quality;   // nothing if `bytes` has a problem
};

struct LayerCheck {
  size_t compared = 0;                       // tensors
  std::vector<LayerDifference> differences;  // in the order of the graph
};

// Compares tensors of the card, byte for byte, in the order in which the graph
// computes them. `values` are all tensors of the graph (EvaluateGraph). Tensors
// that the graph does not compute are left out.
LayerCheck CompareLayers(const compiler::Graph& graph,
                         const std::vector<compiler::TensorData>& values,
                         const std::vector<NamedTensor>& card);

// The same for `graph` with all quantization nodes, of which a tensor of the
// same name may have another type: such tensors are left out, too.
LayerCheck CompareLayersInFloat(const compiler::Graph& graph,
                                const std::vector<compiler::TensorData>& values,
                                const std::vector<NamedTensor>& card);

// Sentences for people, and a table of the layers that differ most.
std::string Describe(const LayerCheck& check);
std::string DescribeInFloat(const LayerCheck& check);

// {"compared", "differing", "first", "layers"} of result.h.
nlohmann::ordered_json LayerCheckJson(const LayerCheck& check);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_LAYER_CHECK_H_
