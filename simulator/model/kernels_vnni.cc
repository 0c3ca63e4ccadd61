// SPDX-License-Identifier: Apache-2.0
// Compiled with AVX-512 F, BW and VNNI enabled; nothing here runs before
// VnniKernels() has asked the CPU. VPDPWSSD takes the 9-bit operands as they
// are (16 x 16 bits, two products, a wrapping 32-bit sum), so no correction
// terms are needed for unsigned codes or zero points.
#include "simulator/model/kernels.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#include <immintrin.h>

#include "simulator/model/kernel_loops.h"
#include "simulator/model/kernels_x86.h"

namespace heddle::model {
namespace {

struct Vnni {
  using Acc = __m512i;
  using Weights = __m512i;
  static constexpr int kTile = 12;

  static Acc Load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static void Store(Acc a, int32_t* p) { _mm512_storeu_si512(p, a); }
  static Weights LoadWeights(const int16_t* p) { return _mm512_loadu_si512(p); }
  static Acc Mac(Acc a, const int16_t* pair, Weights w) {
    int32_t both;
    __builtin_memcpy(&both, pair, sizeof(both));
    return _mm512_dpwssd_epi32(a, _mm512_set1_epi32(both), w);
  }
  static Weights Zip(const int16_t* px, const int16_t* py) {
    // The maskz forms: gcc 12 warns about its own header with the plain ones.
    const __mmask16 all = 0xffff;
    const __m512i x = _mm512_maskz_cvtepu16_epi32(all, x86::Get(px));
    const __m512i y = _mm512_maskz_cvtepu16_epi32(all, x86::Get(py));
    return _mm512_or_si512(x, _mm512_maskz_slli_epi32(all, y, 16));
  }
  static Acc MacPairs(Acc a, Weights p, Weights w) {
    return _mm512_dpwssd_epi32(a, p, w);
  }
};

constexpr Kernels kVnni = {"avx512vnni",  x86::Convert,    x86::Pack,
                           Reduce<Vnni>,  Depthwise<Vnni>, x86::Requantise,
                           x86::Residual, x86::RunFmaTile, x86::FmaLanes,
                           x86::LaneOp};

}  // namespace

const Kernels* VnniKernels() {
  static const bool has = __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx2") &&
                          __builtin_cpu_supports("fma");
  return has ? &kVnni : nullptr;
}

}  // namespace heddle::model

#else
namespace heddle::model {
const Kernels* VnniKernels() { return nullptr; }
}  // namespace heddle::model
#endif
