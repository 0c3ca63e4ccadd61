// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/pool.h"

namespace heddle::compiler {

absl::StatusOr<Window> ResolvePool(const Node& node, const Shape& x) {
  return ResolveWindow(node, x, node.IntsAttribute("kernel_shape", {}));
}

int64_t AverageCount(const Window& w, int64_t oy, int64_t ox,
                     bool count_include_pad) {
  const int64_t at[2] = {oy, ox};
  int64_t count = 1;
  for (int d = 0; d < 2; ++d) {
    // With count_include_pad the padding counts, what lies beyond it (the
    // overhang of ceil_mode) does not.
    const int64_t low = count_include_pad ? -w.pad_begin[d] : 0;
    const int64_t high = w.in[d] + (count_include_pad ? w.pad_end[d] : 0);
    int64_t inside = 0;
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t i =
          at[d] * w.stride[d] - w.pad_begin[d] + k * w.dilation[d];
      if (i >= low && i < high) ++inside;
    }
    count *= inside;
  }
  return count;
}

}  // namespace heddle::compiler
