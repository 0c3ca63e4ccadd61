// SPDX-License-Identifier: Apache-2.0
// Shapes of matrix products with numpy's rules, shared by MatMul and the
// quantized forms.
#ifndef HEDDLE_COMPILER_OPS_MATMUL_H_
#define HEDDLE_COMPILER_OPS_MATMUL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

// A product of stacks of matrices. 1-D operands are vectors.
struct MatMulShape {
  int64_t m = 1, k = 1, n = 1;
  int64_t batches = 1;
  // Index of the matrix of a and of b that batch i multiplies.
  std::vector<int64_t> a_matrix, b_matrix;
  Shape output;
};

// Rejections name the node.
absl::StatusOr<MatMulShape> ResolveMatMul(const Node& node, const Shape& a,
                                          const Shape& b);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_MATMUL_H_
