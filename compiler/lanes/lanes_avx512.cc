// SPDX-License-Identifier: Apache-2.0
// Compiled with its instructions enabled; nothing here runs before
// Avx512Lanes() has asked the CPU.
#include "compiler/lanes/lanes.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__AVX512F__) && \
    defined(__AVX512BW__) && defined(__AVX512DQ__)
#define HEDDLE_LANES 16
#include "compiler/lanes/vector_loops.h"

namespace heddle::compiler {
namespace {
constexpr LaneKernels kAvx512 = {"avx512", Compute, FoldRows, FoldStep};
}  // namespace

const LaneKernels* Avx512Lanes() {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq");
  return has ? &kAvx512 : nullptr;
}

}  // namespace heddle::compiler

#else
namespace heddle::compiler {
const LaneKernels* Avx512Lanes() { return nullptr; }
}  // namespace heddle::compiler
#endif
