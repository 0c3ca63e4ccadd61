// SPDX-License-Identifier: Apache-2.0
// Geometry of convolutions and poolings: kernel, strides, dilations and
// padding of a node, with auto_pad and ceil_mode resolved.
//
// Everything is two-dimensional; a 1-D operator has height 1.
#ifndef HEDDLE_COMPILER_OPS_WINDOW_H_
#define HEDDLE_COMPILER_OPS_WINDOW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

struct Window {
  int rank = 2;  // spatial dimensions of the node: 1 or 2
  int64_t in[2] = {1, 1};
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  int64_t pad_begin[2] = {0, 0};
  int64_t pad_end[2] = {0, 0};
  int64_t out[2] = {1, 1};

  bool HasPadding() const {
    return pad_begin[0] | pad_begin[1] | pad_end[0] | pad_end[1];
  }
  // [n, channels, out...] in the node's rank.
  Shape OutputShape(int64_t n, int64_t channels) const;
};

// `input` is [N,C,H,W] or [N,C,W], `kernel` the spatial kernel. Errors
// (kInvalidModel, kMismatchingShape, kUnsupportedShape) name the node.
absl::StatusOr<Window> ResolveWindow(const Node& node, const Shape& input,
                                     const Shape& kernel);

// Rules shared by convolutions and poolings.
std::vector<Constraint> WindowRules();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_WINDOW_H_
