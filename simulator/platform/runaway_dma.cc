// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/runaway_dma.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rtl/spec/generated/isa.h"

namespace heddle::platform {
namespace {

constexpr uint32_t kPattern = 0xdeadd0a5;
constexpr uint64_t kPiece = isa::kPageBytes;
// A few tens of MiB per second: enough to hit whatever is there, and the host's
// processor hardly notices.
constexpr uint32_t kTurnMs = 1;
constexpr uint32_t kPiecesPerTurn = 32;

}  // namespace

void RunawayDma::Start(std::vector<desc::SgEntry> list) {
  list_ = std::move(list);
  entry_ = 0;
  offset_ = 0;
  Turn(++generation_);
}

void RunawayDma::Turn(uint64_t generation) {
  if (generation != generation_) return;
  uint32_t piece[kPiece / sizeof(uint32_t)];
  std::fill(std::begin(piece), std::end(piece), kPattern);
  for (uint32_t i = 0; i < kPiecesPerTurn; ++i) {
    const desc::SgEntry& entry = list_[entry_];
    const uint64_t iova = entry.iova + offset_;
    const uint64_t bytes =
        std::min(kPiece - iova % kPiece, entry.length - offset_);
    write_(iova, piece, bytes);
    offset_ += bytes;
    if (offset_ < entry.length) continue;
    offset_ = 0;
    entry_ = (entry_ + 1) % list_.size();
  }
  later_(kTurnMs, [this, generation] { Turn(generation); });
}

}  // namespace heddle::platform
