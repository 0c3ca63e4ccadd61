// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/geometry.h"

#include <algorithm>

namespace heddle::model {

FoldPlan PlanFold(const isa::Conv& c, const isa::Config& config) {
  FoldPlan plan;
  const uint32_t length = c.kw * c.fold_channels;
  uint32_t r = 0, q = 0;
  while (r < c.kh) {
    uint32_t lane = 0;
    for (uint32_t rows = 0;
         rows < isa::kFoldRowsMax && r < c.kh && lane < config.lanes_in;
         ++rows) {
      const uint32_t n = std::min(length - q, config.lanes_in - lane);
      plan.pieces.push_back({plan.vectors, lane, r, q, n});
      lane += n;
      q += n;
      if (q == length) {
        q = 0;
        ++r;
      }
    }
    ++plan.vectors;
  }
  return plan;
}

uint64_t PackedWeightBytes(const isa::Conv& c, const isa::Config& config) {
  const uint64_t taps = uint64_t{c.kh} * c.kw;
  const uint64_t tile = uint64_t{config.lanes_in} * config.lanes_out;
  switch (c.mode) {
    case isa::MatrixMode::kConv:
      return CellBlocks(c, config) * taps * CeilDiv(c.ci, config.lanes_in) *
             tile;
    case isa::MatrixMode::kFold:
      return CellBlocks(c, config) * uint64_t{PlanFold(c, config).vectors} *
             tile;
    case isa::MatrixMode::kDepthwise:
      return OutBlocks(c) * taps * isa::kWordBytes;
    case isa::MatrixMode::kMaxpool:
      return 0;
  }
  return 0;
}

}  // namespace heddle::model
