// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/broadcast.h"

#include <algorithm>

namespace heddle::compiler {

bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result) {
  const size_t rank = std::max(a.size(), b.size());
  result->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return false;
    (*result)[rank - 1 - i] = da == 1 ? db : da;
  }
  return true;
}

std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to) {
  std::vector<int64_t> strides(to.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t dimension = from[from.size() - 1 - i];
    if (dimension != 1) strides[to.size() - 1 - i] = stride;
    stride *= dimension;
  }
  return strides;
}

// Out of line: gcc 12 at -O2 merges inlined copies of the vector's release and
// then warns, wrongly, that it frees what was not allocated.
BroadcastWalk::BroadcastWalk(const Shape& shape,
                             const std::vector<int64_t>& a_strides,
                             const std::vector<int64_t>& b_strides)
    : shape_(shape),
      a_strides_(a_strides),
      b_strides_(b_strides),
      position_(shape.size(), 0) {}

BroadcastWalk::~BroadcastWalk() = default;

BroadcastRows::BroadcastRows(const Shape& shape, const std::vector<int64_t>& a,
                             const std::vector<int64_t>& b) {
  rows = ElementCount(shape) == 0 ? 0 : 1;
  count = 1;
  bool row = true;  // nothing was put before it
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (count == 1) {
      count = shape[d];
      a_step = a[d];
      b_step = b[d];
      continue;
    }
    if (row && a[d] == a_step * count && b[d] == b_step * count) {
      count *= shape[d];
      continue;
    }
    row = false;
    rows *= shape[d];
    outer.insert(outer.begin(), shape[d]);
    a_strides.insert(a_strides.begin(), a[d]);
    b_strides.insert(b_strides.begin(), b[d]);
  }
}

BroadcastRows::~BroadcastRows() = default;

}  // namespace heddle::compiler
