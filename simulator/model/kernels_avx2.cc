// SPDX-License-Identifier: Apache-2.0
// Compiled with AVX2 and FMA enabled; nothing here runs before Avx2Kernels()
// has asked the CPU.
#include "simulator/model/kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#include "simulator/model/kernel_loops.h"
#include "simulator/model/kernels_x86.h"

namespace heddle::model {
namespace {

struct Avx2 {
  struct Acc {
    __m256i lo, hi;
  };
  using Weights = Acc;
  static constexpr int kTile = 6;

  static __m256i Get(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  static Acc Load(const int32_t* p) { return {Get(p), Get(p + 8)}; }
  static void Store(const Acc& a, int32_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.lo);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), a.hi);
  }
  static Weights LoadWeights(const int16_t* p) { return {Get(p), Get(p + 16)}; }
  static Acc Mac(const Acc& a, const int16_t* pair, const Weights& w) {
    int32_t both;
    __builtin_memcpy(&both, pair, sizeof(both));
    const __m256i x = _mm256_set1_epi32(both);
    return MacPairs(a, {x, x}, w);
  }
  static Weights Zip(const int16_t* px, const int16_t* py) {
    // unpack works on halves: put quarters 0 2 1 3 first.
    const __m256i x = _mm256_permute4x64_epi64(Get(px), 0xd8);
    const __m256i y = _mm256_permute4x64_epi64(Get(py), 0xd8);
    return {_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y)};
  }
  static Acc MacPairs(const Acc& a, const Weights& p, const Weights& w) {
    return {_mm256_add_epi32(a.lo, _mm256_madd_epi16(p.lo, w.lo)),
            _mm256_add_epi32(a.hi, _mm256_madd_epi16(p.hi, w.hi))};
  }
};

constexpr Kernels kAvx2 = {"avx2",        x86::Convert,    x86::Pack,
                           Reduce<Avx2>,  Depthwise<Avx2>, x86::Requantise,
                           x86::Residual, x86::RunFmaTile, x86::FmaLanes,
                           x86::LaneOp};

}  // namespace

const Kernels* Avx2Kernels() {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has ? &kAvx2 : nullptr;
}

}  // namespace heddle::model

#else
namespace heddle::model {
const Kernels* Avx2Kernels() { return nullptr; }
}  // namespace heddle::model
#endif
