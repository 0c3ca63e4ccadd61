// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/traffic.h"

#include <algorithm>
#include <tuple>

#include "compiler/schedule/device_graph.h"
#include "compiler/stream/access.h"
#include "simulator/timing/command_cost.h"

namespace heddle::compiler {
namespace {

// What one command encloses of a region, and how much of that it moves.
struct Piece {
  int region = 0;
  uint64_t begin = 0, end = 0, bytes = 0;
};

}  // namespace

uint64_t LeastTraffic(const std::vector<uint32_t>& words,
                      const isa::Config& config) {
  std::vector<Piece> pieces;
  for (size_t at = 0; at < words.size();) {
    const auto decoded = isa::DecodeAny(&words[at], words.size() - at);
    if (!decoded.ok()) break;
    at += isa::WordsOf(*decoded);
    for (const Access& access : AccessesOf(*decoded, config)) {
      if (access.space != kWeightRegion && access.space != kIoRegion) continue;
      pieces.push_back({access.space, access.begin, access.end,
                        timing::DramBytesOf(*decoded)});
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.region, a.begin) < std::tie(b.region, b.begin);
  });
  // Pieces that overlap are one tensor, or parts of one.
  uint64_t sum = 0;
  for (size_t i = 0; i < pieces.size();) {
    Piece whole = pieces[i];
    for (++i; i < pieces.size() && pieces[i].region == whole.region &&
              pieces[i].begin < whole.end;
         ++i) {
      whole.end = std::max(whole.end, pieces[i].end);
      whole.bytes += pieces[i].bytes;
    }
    sum += std::min(whole.end - whole.begin, whole.bytes);
  }
  return sum;
}

}  // namespace heddle::compiler
