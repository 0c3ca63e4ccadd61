// SPDX-License-Identifier: Apache-2.0
// Geometry of ConvTranspose, with auto_pad, output_padding and output_shape
// resolved. Everything is two-dimensional; a 1-D operator has height 1.
#ifndef HEDDLE_COMPILER_OPS_CONV_TRANSPOSE_H_
#define HEDDLE_COMPILER_OPS_CONV_TRANSPOSE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

// Results of one residue class modulo the stride, along one dimension. Result
// `first + j*stride` reads input `in_first + j + t*in_step` with tap
// `taps[t]`, t = 0 .. taps.size()-1; inputs outside of the image are 0.
struct TransposePhase {
  int64_t first = 0, count = 0;
  int64_t in_first = 0, in_step = 1;
  std::vector<int64_t> taps;  // decreasing kernel index, increasing input
};

struct ConvTransposeShape {
  int rank = 2;
  int64_t n = 0, channels = 0, maps = 0, group = 1;
  int64_t in[2] = {1, 1};
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  int64_t pad_begin[2] = {0, 0};
  int64_t out[2] = {1, 1};

  Shape OutputShape() const;
  // The phases along dimension d (0 rows, 1 columns), by increasing `first`.
  std::vector<TransposePhase> Phases(int d) const;
};

// Input [N,C,...], weights [C,M/group,...]. Rejections name the node.
absl::StatusOr<ConvTransposeShape> ResolveConvTranspose(const Node& node,
                                                        const Shape& x,
                                                        const Shape& w);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_CONV_TRANSPOSE_H_
