// SPDX-License-Identifier: Apache-2.0
// The exponentials of QLinearSoftmax, built by the compiler.
#ifndef HEDDLE_COMPILER_OPS_SOFTMAX_TABLE_H_
#define HEDDLE_COMPILER_OPS_SOFTMAX_TABLE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// E[i] = f32(exp((i - 255 + shift) * xs)), shift = max(0, logf(f32(FLT_MAX /
// f32(D))) - 5) / xs, in binary64: so that sums of D of them stay finite.
inline std::vector<float> SoftmaxTable(int64_t d, float xs) {
  const float largest =
      std::numeric_limits<float>::max() / static_cast<float>(d);
  const double room = static_cast<double>(std::log(largest)) - 5.0;
  const double shift = std::max(0.0, room) / static_cast<double>(xs);
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i) {
    table[i] = static_cast<float>(
        std::exp((i - 255 + shift) * static_cast<double>(xs)));
  }
  return table;
}

// A tensor as [outer, d, inner] around the normalised dimensions: one of them,
// before opset 13 all from `axis` on.
struct SoftmaxShape {
  int64_t outer = 1, d = 1, inner = 1;
};
inline SoftmaxShape ResolveSoftmaxRows(const Shape& shape, int64_t axis,
                                       int64_t opset) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis < 0) axis += rank;
  SoftmaxShape s;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t* part = i < axis                  ? &s.outer
                    : i == axis || opset < 13 ? &s.d
                                              : &s.inner;
    *part *= shape[i];
  }
  return s;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_SOFTMAX_TABLE_H_
