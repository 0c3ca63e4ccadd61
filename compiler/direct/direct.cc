// SPDX-License-Identifier: Apache-2.0
#include "compiler/direct/direct.h"

#include <algorithm>

#include "compiler/direct/grid_sample.h"
#include "compiler/direct/recurrent.h"

namespace heddle::compiler {
namespace {

bool IsRecurrent(const Node& node) {
  return node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
}

bool IsReal(const Graph& graph, TensorId id) {
  return Contains(kReals, graph.tensors[id].type);
}

// Known, with elements.
bool HasElements(const Graph& graph, TensorId id) {
  return graph.tensors[id].shape_known &&
         ElementCount(graph.tensors[id].shape) > 0;
}

}  // namespace

bool IsDirect(const Graph& graph, const Node& node) {
  const bool recurrent = IsRecurrent(node);
  if (!node.domain.empty() || (!recurrent && node.op != "GridSample")) {
    return false;
  }
  constexpr size_t kLengths = 4;
  for (size_t i = 0; i < (recurrent ? 3 : 2); ++i) {
    if (!HasInput(node, i)) return false;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == kNoTensor) continue;
    if (!HasElements(graph, id)) return false;
    if (!(recurrent && i == kLengths) && !IsReal(graph, id)) return false;
  }
  // (A grid may be empty, and its result with it, or the image.)
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](TensorId y) {
    return y == kNoTensor || !graph.tensors[y].shape_known ||
           HasElements(graph, y);
  });
}

std::unique_ptr<DirectKernel> MakeDirect(const Graph& graph, const Node& node) {
  if (!IsDirect(graph, node)) return nullptr;
  return IsRecurrent(node) ? MakeRecurrent(graph, node)
                           : MakeGridSample(graph, node);
}

}  // namespace heddle::compiler
