// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/transfer.h"

#include <algorithm>

namespace heddle::session {
namespace {

// A step of its own costs more than copying this many bytes.
constexpr uint64_t kSmallGap = 16384;

// Joins ranges whose gap is at most `gap`.
std::vector<Range> Join(const std::vector<Range>& sorted, uint64_t gap) {
  std::vector<Range> joined;
  for (const Range& range : sorted) {
    if (!joined.empty()) {
      Range& last = joined.back();
      const uint64_t end = last.offset + last.size;
      if (range.offset <= end || range.offset - end <= gap) {
        last.size = std::max(end, range.offset + range.size) - last.offset;
        continue;
      }
    }
    joined.push_back(range);
  }
  return joined;
}

}  // namespace

std::vector<Range> Merge(std::vector<Range> parts, size_t most) {
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [](const Range& r) { return r.size == 0; }),
              parts.end());
  std::sort(parts.begin(), parts.end(),
            [](const Range& a, const Range& b) { return a.offset < b.offset; });
  std::vector<Range> ranges = Join(parts, kSmallGap);
  if (ranges.size() <= most) return ranges;
  std::vector<uint64_t> gaps;
  for (size_t i = 1; i < ranges.size(); ++i) {
    gaps.push_back(ranges[i].offset - ranges[i - 1].offset -
                   ranges[i - 1].size);
  }
  std::sort(gaps.begin(), gaps.end());
  return Join(ranges, gaps[ranges.size() - std::max<size_t>(most, 1) - 1]);
}

}  // namespace heddle::session
