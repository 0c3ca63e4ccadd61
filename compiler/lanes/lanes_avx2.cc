// SPDX-License-Identifier: Apache-2.0
// Compiled with its instructions enabled; nothing here runs before Avx2Lanes()
// has asked the CPU.
#include "compiler/lanes/lanes.h"

#if defined(__AVX2__) && defined(__FMA__)
#define HEDDLE_LANES 8
#include "compiler/lanes/vector_loops.h"

namespace heddle::compiler {
namespace {
constexpr LaneKernels kAvx2 = {"avx2", Compute, FoldRows, FoldStep};
}  // namespace

const LaneKernels* Avx2Lanes() {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has ? &kAvx2 : nullptr;
}

}  // namespace heddle::compiler

#else
namespace heddle::compiler {
const LaneKernels* Avx2Lanes() { return nullptr; }
}  // namespace heddle::compiler
#endif
