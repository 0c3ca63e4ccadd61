// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements axis by axis (compiler/ops/index_map.h): Slice,
// Split, Pad, Tile, Expand.
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

template <absl::StatusOr<IndexMap> (*map_of)(const Graph&, const Node&, size_t)>
absl::Status Lower(Lowering* l, const Node& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    ASSIGN_OR_RETURN(auto map, map_of(l->graph(), node, i));
    LowerIndexMap(l, node, std::move(map), node.outputs[i]);
  }
  return absl::OkStatus();
}

const LoweringRegistration kSlice("", "Slice", Lower<SliceMap>, true);
const LoweringRegistration kSplit("", "Split", Lower<SplitMap>, true);
const LoweringRegistration kPad("", "Pad", Lower<PadMap>, true);
const LoweringRegistration kTile("", "Tile", Lower<TileMap>, true);
const LoweringRegistration kExpand("", "Expand", Lower<ExpandMap>, true);

}  // namespace
}  // namespace heddle::compiler
