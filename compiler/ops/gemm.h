// SPDX-License-Identifier: Apache-2.0
// Shapes of Gemm and QGemm.
#ifndef HEDDLE_COMPILER_OPS_GEMM_H_
#define HEDDLE_COMPILER_OPS_GEMM_H_

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

struct GemmShape {
  int64_t m = 0, k = 0, n = 0;
  bool trans_a = false, trans_b = false;
};

// Rejections name the node.
absl::StatusOr<GemmShape> ResolveGemm(const Node& node, const Shape& a,
                                      const Shape& b);
// C must broadcast, in one direction, to [m,n].
absl::Status CheckGemmBias(const Node& node, const GemmShape& shape,
                           const Shape& c);

// A [rows, columns] copy of `data`, which is [columns, rows] if `transposed`.
template <typename T>
std::vector<T> Transposed(const T* data, int64_t rows, int64_t columns,
                          bool transposed) {
  if (!transposed) return std::vector<T>(data, data + rows * columns);
  std::vector<T> copy(rows * columns);
  // In squares, so that the lines of both sides stay in the cache.
  constexpr int64_t kSide = 64;
  for (int64_t r0 = 0; r0 < rows; r0 += kSide) {
    const int64_t r1 = std::min(rows, r0 + kSide);
    for (int64_t c0 = 0; c0 < columns; c0 += kSide) {
      const int64_t c1 = std::min(columns, c0 + kSide);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) {
          copy[r * columns + c] = data[c * rows + r];
        }
      }
    }
  }
  return copy;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_GEMM_H_
