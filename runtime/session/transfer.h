// SPDX-License-Identifier: Apache-2.0
// The bytes of region 2 to copy between host and card for a set of tensors.
#ifndef HEDDLE_RUNTIME_SESSION_TRANSFER_H_
#define HEDDLE_RUNTIME_SESSION_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::session {

struct Range {
  uint64_t offset = 0, size = 0;  // bytes
};

// Sorted, disjoint ranges that cover `parts`. Neighbours with a small gap
// become one, and so do the closest ones until there are at most `most` (at
// least 1). Empty parts are left out.
std::vector<Range> Merge(std::vector<Range> parts, size_t most);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_TRANSFER_H_
