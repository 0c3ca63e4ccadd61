// SPDX-License-Identifier: Apache-2.0
// numpy's broadcasting.
#ifndef HEDDLE_COMPILER_OPS_BROADCAST_H_
#define HEDDLE_COMPILER_OPS_BROADCAST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The common shape of both; false if they do not fit.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result);

// Strides, in elements and in the rank of `to`, that walk data of shape `from`
// as if it had shape `to`: 0 along repeated dimensions.
std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to);

// Calls body(output index, index in a, index in b) for every element of
// `shape`, in row-major order, given strides in the rank of `shape`.
template <typename Body>
void ForEachBroadcast(const Shape& shape, const std::vector<int64_t>& a_strides,
                      const std::vector<int64_t>& b_strides, Body body) {
  const int64_t count = ElementCount(shape);
  std::vector<int64_t> position(shape.size(), 0);
  int64_t a = 0, b = 0;
  for (int64_t i = 0; i < count; ++i) {
    body(i, a, b);
    for (size_t d = shape.size(); d-- > 0;) {
      a += a_strides[d];
      b += b_strides[d];
      if (++position[d] < shape[d]) break;
      a -= a_strides[d] * shape[d];
      b -= b_strides[d] * shape[d];
      position[d] = 0;
    }
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_BROADCAST_H_
