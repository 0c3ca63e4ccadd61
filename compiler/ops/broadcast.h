// SPDX-License-Identifier: Apache-2.0
// numpy's broadcasting.
#ifndef HEDDLE_COMPILER_OPS_BROADCAST_H_
#define HEDDLE_COMPILER_OPS_BROADCAST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/pace.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The common shape of both; false if they do not fit.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result);

// Strides, in elements and in the rank of `to`, that walk data of shape `from`
// as if it had shape `to`: 0 along repeated dimensions.
std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to);

// Walks the elements of `shape` in row-major order and keeps the index of the
// element in both operands.
class BroadcastWalk {
 public:
  // Strides in the rank of `shape`; all three must outlive the walk.
  BroadcastWalk(const Shape& shape, const std::vector<int64_t>& a_strides,
                const std::vector<int64_t>& b_strides);
  ~BroadcastWalk();
  BroadcastWalk(const BroadcastWalk&) = delete;
  BroadcastWalk& operator=(const BroadcastWalk&) = delete;

  int64_t a() const { return a_; }
  int64_t b() const { return b_; }
  void Next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      a_ += a_strides_[d];
      b_ += b_strides_[d];
      if (++position_[d] < shape_[d]) return;
      a_ -= a_strides_[d] * shape_[d];
      b_ -= b_strides_[d] * shape_[d];
      position_[d] = 0;
    }
  }

 private:
  const Shape& shape_;
  const std::vector<int64_t>& a_strides_;
  const std::vector<int64_t>& b_strides_;
  std::vector<int64_t> position_;
  int64_t a_ = 0, b_ = 0;
};

// Calls body(output index, index in a, index in b) for every element of
// `shape`, in row-major order, given strides in the rank of `shape`.
template <typename Body>
void ForEachBroadcast(const Shape& shape, const std::vector<int64_t>& a_strides,
                      const std::vector<int64_t>& b_strides, Body body) {
  const int64_t count = ElementCount(shape);
  BroadcastWalk walk(shape, a_strides, b_strides);
  for (int64_t i = 0; i < count; ++i, walk.Next()) {
    PaceAt(i);
    body(i, walk.a(), walk.b());
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_BROADCAST_H_
