// SPDX-License-Identifier: Apache-2.0
// Shapes of Gemm and QGemm.
#ifndef HEDDLE_COMPILER_OPS_GEMM_H_
#define HEDDLE_COMPILER_OPS_GEMM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

struct GemmShape {
  int64_t m = 0, k = 0, n = 0;
  bool trans_a = false, trans_b = false;
};

// Refusals name the node.
absl::StatusOr<GemmShape> ResolveGemm(const Node& node, const Shape& a,
                                      const Shape& b);
// C must broadcast, in one direction, to [m,n].
absl::Status CheckGemmBias(const Node& node, const GemmShape& shape,
                           const Shape& c);

// A [rows, columns] copy of `data`, which is [columns, rows] if `transposed`.
template <typename T>
std::vector<T> Transposed(const T* data, int64_t rows, int64_t columns,
                          bool transposed) {
  std::vector<T> copy(data, data + rows * columns);
  if (!transposed) return copy;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      copy[r * columns + c] = data[c * rows + r];
    }
  }
  return copy;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_GEMM_H_
