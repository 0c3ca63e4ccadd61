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

// The same walk with as few axes as it has, the last one apart: `count`
// elements whose index in an operand grows by a step each.
struct BroadcastRows {
  BroadcastRows(const Shape& shape, const std::vector<int64_t>& a,
                const std::vector<int64_t>& b);
  ~BroadcastRows();  // not in line, see broadcast.cc

  int64_t rows = 0, count = 0;
  int64_t a_step = 0, b_step = 0;
  Shape outer;  // of the rows
  std::vector<int64_t> a_strides, b_strides;
};

// Calls body(output index, index in a, index in b) for every element of
// `shape`, in row-major order, given strides in the rank of `shape`. A body
// that has pointers and numbers by value becomes loops of SIMD.
template <typename Body>
void ForEachBroadcast(const Shape& shape, const std::vector<int64_t>& a_strides,
                      const std::vector<int64_t>& b_strides, Body body) {
  constexpr int64_t kPace = 4096;
  const BroadcastRows all(shape, a_strides, b_strides);
  BroadcastWalk walk(all.outer, all.a_strides, all.b_strides);
  int64_t i = 0;
  for (int64_t row = 0; row < all.rows; ++row, walk.Next()) {
    int64_t a = walk.a(), b = walk.b();
    for (int64_t left = all.count; left > 0; left -= kPace) {
      const int64_t n = left < kPace ? left : kPace;
      Pace(n);
      if (all.a_step == 1 && all.b_step == 1) {
        for (int64_t k = 0; k < n; ++k) body(i + k, a + k, b + k);
      } else if (all.a_step == 1 && all.b_step == 0) {
        for (int64_t k = 0; k < n; ++k) body(i + k, a + k, b);
      } else if (all.a_step == 0 && all.b_step == 1) {
        for (int64_t k = 0; k < n; ++k) body(i + k, a, b + k);
      } else {
        for (int64_t k = 0; k < n; ++k) {
          body(i + k, a + k * all.a_step, b + k * all.b_step);
        }
      }
      i += n;
      a += n * all.a_step;
      b += n * all.b_step;
    }
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_BROADCAST_H_
