// SPDX-License-Identifier: Apache-2.0
// Shape rules that Conv, ConvInteger and QLinearConv share.
#ifndef HEDDLE_COMPILER_OPS_CONV_H_
#define HEDDLE_COMPILER_OPS_CONV_H_

#include "absl/status/statusor.h"
#include "compiler/ops/window.h"

namespace heddle::compiler {

struct ConvShape {
  int64_t n = 0, channels = 0, maps = 0, group = 1;
  Window window;
};

// Checks that input [N,C,...], weights [M,C/group,...], group and kernel_shape
// agree; the rejection names the node and the two figures that differ.
absl::StatusOr<ConvShape> ResolveConv(const Node& node, const Shape& x,
                                      const Shape& w);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_CONV_H_
