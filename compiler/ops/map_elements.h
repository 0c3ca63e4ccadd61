// SPDX-License-Identifier: Apache-2.0
// A function of each element, in loops that compilers make several elements at
// once of: pointers, and work announced before each piece.
#ifndef HEDDLE_COMPILER_OPS_MAP_ELEMENTS_H_
#define HEDDLE_COMPILER_OPS_MAP_ELEMENTS_H_

#include <algorithm>
#include <cstdint>

#include "compiler/base/pace.h"

namespace heddle::compiler {

// to[i] = function(from[i]); `to` may be `from`.
template <typename From, typename To, typename Function>
void MapElements(const From* from, int64_t count, To* to, Function function) {
  constexpr int64_t kPiece = 4096;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = std::min(count, begin + kPiece);
    Pace(end - begin);
    for (int64_t i = begin; i < end; ++i) to[i] = function(from[i]);
  }
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_MAP_ELEMENTS_H_
