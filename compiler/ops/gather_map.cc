// SPDX-License-Identifier: Apache-2.0
// Index map of Gather with constant indices.
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"

namespace heddle::compiler {

absl::StatusOr<IndexMap> GatherMap(const Graph& graph, const Node& node,
                                   size_t) {
  const Tensor& x = InputOf(graph, node, 0);
  const Tensor& indices = InputOf(graph, node, 1);
  size_t axis = 0;
  if (!indices.is_constant() ||
      !NormalizeAxis(node.IntAttribute("axis", 0), x.shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": no constant indices");
  }
  IndexMap map = IdentityMap(x.shape);
  map.axes[axis].clear();
  const int64_t size = x.shape[axis];
  for (int64_t pick : ToInts(*indices.constant)) {
    if (pick < -size || pick >= size) {
      return RejectNode(Rejection::kInvalidModel, node, "index ", pick,
                        " lies outside a dimension of size ", size);
    }
    map.axes[axis].push_back(pick < 0 ? pick + size : pick);
  }
  return map;
}

}  // namespace heddle::compiler
