// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements axis by axis: element (i0, i1, ...) of the
// result is element (axes[0][i0], axes[1][i1], ...) of the operand, or a
// constant where one of these is -1. Slice, Split, Pad, Tile, Expand, Gather
// and Resize (nearest) are of this kind; reference semantics and lowering share
// the map.
#ifndef HEDDLE_COMPILER_OPS_INDEX_MAP_H_
#define HEDDLE_COMPILER_OPS_INDEX_MAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct IndexMap {
  Shape from;  // the operand's shape in the rank of the map
  std::vector<std::vector<int64_t>> axes;
  // Bytes of the constant, one element; zeros if empty.
  std::vector<uint8_t> constant;

  Shape to() const;
};

// Keeps all axes.
IndexMap IdentityMap(const Shape& shape);

// The reference semantics. The result has the shape map.to().
TensorData TakeElements(const TensorData& x, const IndexMap& map);

// `node` with its inputs alone, those after the first as constants: for an
// evaluation whose inputs the graph does not know yet.
struct BoundNode {
  Graph graph;
  Node node;
};
BoundNode BindInputs(const Graph& graph, const Node& node,
                     const std::vector<const TensorData*>& inputs);

// Maps of the operators; the node's shapes are inferred, the inputs that decide
// are constants. `output` is the index of the result (Split).
absl::StatusOr<IndexMap> SliceMap(const Graph& graph, const Node& node,
                                  size_t output);
absl::StatusOr<IndexMap> SplitMap(const Graph& graph, const Node& node,
                                  size_t output);
absl::StatusOr<IndexMap> PadMap(const Graph& graph, const Node& node,
                                size_t output);
absl::StatusOr<IndexMap> TileMap(const Graph& graph, const Node& node,
                                 size_t output);
absl::StatusOr<IndexMap> ExpandMap(const Graph& graph, const Node& node,
                                   size_t output);
// The map's rank is that of the operand: indices count as one axis.
absl::StatusOr<IndexMap> GatherMap(const Graph& graph, const Node& node,
                                   size_t output);
// Nearest mode.
absl::StatusOr<IndexMap> ResizeMap(const Graph& graph, const Node& node,
                                   size_t output);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_INDEX_MAP_H_
