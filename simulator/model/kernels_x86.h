// SPDX-License-Identifier: Apache-2.0
// Kernels with 256-bit vectors that the AVX2 and AVX-512 variants share. Only
// for translation units that enable AVX2 and FMA; internal linkage on purpose,
// so that no other unit can get a copy it cannot run.
#ifndef HEDDLE_SIMULATOR_MODEL_KERNELS_X86_H_
#define HEDDLE_SIMULATOR_MODEL_KERNELS_X86_H_

#include <immintrin.h>

#include "simulator/model/kernels.h"

namespace heddle::model::x86 {

static inline __m256i Get(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
static inline void Put(__m256i v, void* p) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}
// 16 codes as 16-bit values.
static inline __m256i Widen(const uint8_t* from, bool is_signed) {
  const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return is_signed ? _mm256_cvtepi8_epi16(raw) : _mm256_cvtepu8_epi16(raw);
}

static inline void Convert(const uint8_t* from, ptrdiff_t from_step,
                           bool is_signed, int16_t za, int16_t* to,
                           ptrdiff_t to_step, size_t n) {
  const __m256i zero = _mm256_set1_epi16(za);
  for (size_t i = 0; i < n; ++i, from += from_step, to += to_step) {
    Put(_mm256_sub_epi16(Widen(from, is_signed), zero), to);
  }
}

// Two blocks of 8 channels: transpose 8 x 8 pairs.
static inline void Pack(const uint8_t* from, ptrdiff_t row_step, bool is_signed,
                        const int16_t* zeros, int16_t* to) {
  for (int half = 0; half < 16; half += 8) {
    __m256i r[8], s[8];
    for (int l = 0; l < 8; ++l) {
      r[l] = _mm256_sub_epi16(Widen(from + (half + l) * row_step, is_signed),
                              _mm256_set1_epi16(zeros[half + l]));
    }
    for (int l = 0; l < 8; l += 2) {
      s[l] = _mm256_unpacklo_epi32(r[l], r[l + 1]);
      s[l + 1] = _mm256_unpackhi_epi32(r[l], r[l + 1]);
    }
    for (int l = 0; l < 8; l += 4) {
      r[l] = _mm256_unpacklo_epi64(s[l], s[l + 2]);
      r[l + 1] = _mm256_unpackhi_epi64(s[l], s[l + 2]);
      r[l + 2] = _mm256_unpacklo_epi64(s[l + 1], s[l + 3]);
      r[l + 3] = _mm256_unpackhi_epi64(s[l + 1], s[l + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      Put(_mm256_permute2x128_si256(r[i], r[i + 4], 0x20),
          to + 32 * i + 2 * half);
      Put(_mm256_permute2x128_si256(r[i], r[i + 4], 0x31),
          to + 32 * (i + 4) + 2 * half);
    }
  }
}

static inline __m256i ClampI(__m256i v, int32_t low, int32_t high) {
  return _mm256_min_epi32(_mm256_max_epi32(v, _mm256_set1_epi32(low)),
                          _mm256_set1_epi32(high));
}

// max_ps gives the second operand when the first is a NaN, and cvtps -2^31 for
// what does not fit: just ClampRne.
static inline void Requantise(const RequantiseParams& p, const int32_t* acc,
                              int32_t* codes, size_t pixels) {
  const __m256 low = _mm256_set1_ps(p.low), high = _mm256_set1_ps(p.high);
  const __m256i zero = _mm256_set1_epi32(p.zero);
  for (int half = 0; half < 16; half += 8) {
    const __m256i bias = Get(p.bias + half);
    const __m256 scale = _mm256_loadu_ps(p.scale + half);
    for (size_t i = 0; i < pixels; ++i) {
      const __m256i sum = _mm256_add_epi32(Get(acc + 16 * i + half), bias);
      const __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
      const __m256 c = _mm256_min_ps(_mm256_max_ps(v, low), high);
      const __m256i q = _mm256_add_epi32(_mm256_cvtps_epi32(c), zero);
      Put(ClampI(q, p.qmin, p.qmax), codes + 16 * i + half);
    }
  }
}

static inline void Residual(const ResidualParams& p, const uint8_t* bytes,
                            int32_t* codes, size_t n) {
  const __m256 a = _mm256_set1_ps(p.a), b = _mm256_set1_ps(p.b),
               k = _mm256_set1_ps(p.k);
  for (size_t i = 0; i < n; i += 8) {
    const __m128i raw =
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i));
    const __m256i r = p.residual_signed ? _mm256_cvtepi8_epi32(raw)
                                        : _mm256_cvtepu8_epi32(raw);
    const __m256i x = Get(codes + i);
    __m256 v;
    if (p.multiply) {
      const __m256i product = _mm256_mullo_epi32(
          _mm256_sub_epi32(x, _mm256_set1_epi32(p.mid_zero)),
          _mm256_sub_epi32(r, _mm256_set1_epi32(p.res_zero)));
      v = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(product), a), k);
    } else {
      const __m256 first = _mm256_cvtepi32_ps(p.residual_first ? r : x);
      const __m256 second = _mm256_cvtepi32_ps(p.residual_first ? x : r);
      v = _mm256_fmadd_ps(first, a, _mm256_fmadd_ps(second, b, k));
    }
    const __m256i q = ClampI(_mm256_cvtps_epi32(v), -32768, 32767);
    Put(ClampI(ClampI(q, p.qmin, p.qmax), p.low, p.high), codes + i);
  }
}

// A NaN that the hardware makes or passes on may be any; what leaves is kNan.
static inline __m256 CanonicalPs(__m256 v) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
  return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

// kNan where a or b is a NaN, else v.
static inline __m256 OrNanPs(__m256 v, __m256 a, __m256 b) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
  return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

template <int kRows>
static inline void FmaRows(const FmaTile& t, uint32_t row, uint32_t vector) {
  __m256 acc[kRows][2];
  const float* a[kRows];
  for (int r = 0; r < kRows; ++r) {
    const float* p = t.acc + (row + r) * t.acc_stride + 16 * vector;
    acc[r][0] = _mm256_loadu_ps(p);
    acc[r][1] = _mm256_loadu_ps(p + 8);
    a[r] = t.a[row + r];
  }
  const float* b = t.b + 16 * vector;
  ptrdiff_t at = 0;
  for (uint32_t i = 0; i < t.n; ++i, at += t.a_step, b += t.b_step) {
    const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    for (int r = 0; r < kRows; ++r) {
      const __m256 x = _mm256_broadcast_ss(a[r] + at);
      acc[r][0] = _mm256_fmadd_ps(x, b0, acc[r][0]);
      acc[r][1] = _mm256_fmadd_ps(x, b1, acc[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* p = t.acc + (row + r) * t.acc_stride + 16 * vector;
    _mm256_storeu_ps(p, t.n > 0 ? CanonicalPs(acc[r][0]) : acc[r][0]);
    _mm256_storeu_ps(p + 8, t.n > 0 ? CanonicalPs(acc[r][1]) : acc[r][1]);
  }
}

static inline void RunFmaTile(const FmaTile& t) {
  for (uint32_t v = 0; v < t.vectors; ++v) {
    uint32_t r = 0;
    for (; r + 6 <= t.rows; r += 6) FmaRows<6>(t, r, v);
    for (; r + 2 <= t.rows; r += 2) FmaRows<2>(t, r, v);
    for (; r < t.rows; ++r) FmaRows<1>(t, r, v);
  }
}

static inline void FmaLanes(const float* a, const float* b, uint32_t n,
                            float* acc) {
  __m256 lo = _mm256_loadu_ps(acc), hi = _mm256_loadu_ps(acc + 8);
  for (uint32_t i = 0; i < n; ++i, a += 16, b += 16) {
    lo = _mm256_fmadd_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b), lo);
    hi = _mm256_fmadd_ps(_mm256_loadu_ps(a + 8), _mm256_loadu_ps(b + 8), hi);
  }
  _mm256_storeu_ps(acc, n > 0 ? CanonicalPs(lo) : lo);
  _mm256_storeu_ps(acc + 8, n > 0 ? CanonicalPs(hi) : hi);
}

// Applies f to 8 lanes at a time.
template <typename F>
static inline bool EachF(const uint32_t* a, const uint32_t* b,
                         const uint32_t* c, uint32_t* d, size_t n, F f) {
  for (size_t i = 0; i < n; i += 8) {
    const __m256 v =
        f(_mm256_castsi256_ps(Get(a + i)), _mm256_castsi256_ps(Get(b + i)),
          _mm256_castsi256_ps(Get(c + i)));
    Put(_mm256_castps_si256(v), d + i);
  }
  return true;
}
template <typename F>
static inline bool EachI(const uint32_t* a, const uint32_t* b,
                         const uint32_t* c, uint32_t* d, size_t n, F f) {
  for (size_t i = 0; i < n; i += 8) {
    Put(f(Get(a + i), Get(b + i), Get(c + i)), d + i);
  }
  return true;
}

// Each to the nearest number with 11 significant bits, or that is a multiple of
// 2^-24.
static inline __m256i RoundHalf(__m256i v) {
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i magnitude = _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
  const __m256i e = _mm256_srli_epi32(magnitude, 23);
  const __m256i low = _mm256_sub_epi32(_mm256_set1_epi32(126), e);
  // Bits that go.
  const __m256i n = _mm256_min_epi32(
      _mm256_max_epi32(low, _mm256_set1_epi32(13)), _mm256_set1_epi32(24));
  const __m256i hidden = _mm256_set1_epi32(0x800000);
  __m256i m = _mm256_or_si256(
      _mm256_and_si256(magnitude, _mm256_set1_epi32(0x7fffff)), hidden);
  const __m256i unit = _mm256_sllv_epi32(one, n);
  const __m256i odd = _mm256_and_si256(_mm256_srlv_epi32(m, n), one);
  m = _mm256_add_epi32(_mm256_add_epi32(m, _mm256_srli_epi32(unit, 1)),
                       _mm256_sub_epi32(odd, one));
  m = _mm256_andnot_si256(_mm256_sub_epi32(unit, one), m);
  __m256i r =
      _mm256_sub_epi32(_mm256_add_epi32(_mm256_slli_epi32(e, 23), m), hidden);
  const __m256i none =
      _mm256_or_si256(_mm256_cmpeq_epi32(m, _mm256_setzero_si256()),
                      _mm256_cmpgt_epi32(_mm256_set1_epi32(102), e));
  r = _mm256_andnot_si256(none, r);
  const __m256i infinity = _mm256_set1_epi32(0x7f800000);
  r = _mm256_blendv_epi8(r, infinity,
                         _mm256_cmpgt_epi32(r, _mm256_set1_epi32(0x477fffff)));
  r = _mm256_or_si256(r, _mm256_xor_si256(v, magnitude));
  return _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc00000),
                            _mm256_cmpgt_epi32(magnitude, infinity));
}

static inline __m256i RoundBf16(__m256i v) {
  const __m256i odd =
      _mm256_and_si256(_mm256_srli_epi32(v, 16), _mm256_set1_epi32(1));
  const __m256i r = _mm256_and_si256(
      _mm256_add_epi32(_mm256_add_epi32(v, _mm256_set1_epi32(0x7fff)), odd),
      _mm256_set1_epi32(-0x10000));
  const __m256i magnitude = _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
  return _mm256_blendv_epi8(
      r, _mm256_set1_epi32(0x7fc00000),
      _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000)));
}

static inline bool LaneOp(isa::MicroOp op, const uint32_t* a, const uint32_t* b,
                          const uint32_t* c, uint32_t* d, size_t n) {
  using F = __m256;
  using I = __m256i;
  const I count = _mm256_set1_epi32(31), sign = _mm256_set1_epi32(INT32_MIN);
#define HEDDLE_F(expression)                            \
  return EachF(a, b, c, d, n, [=](F x, F y, F z) -> F { \
    (void)y, (void)z;                                   \
    return expression;                                  \
  })
#define HEDDLE_I(expression)                            \
  return EachI(a, b, c, d, n, [=](I x, I y, I z) -> I { \
    (void)y, (void)z, (void)count, (void)sign;          \
    return expression;                                  \
  })
  switch (op) {
    case isa::MicroOp::kMov:
      HEDDLE_I(x);
    case isa::MicroOp::kSel:
      HEDDLE_I(_mm256_blendv_epi8(
          y, z, _mm256_cmpeq_epi32(x, _mm256_setzero_si256())));
    case isa::MicroOp::kFadd:
      HEDDLE_F(CanonicalPs(_mm256_add_ps(x, y)));
    case isa::MicroOp::kFsub:
      HEDDLE_F(CanonicalPs(_mm256_sub_ps(x, y)));
    case isa::MicroOp::kFmul:
      HEDDLE_F(CanonicalPs(_mm256_mul_ps(x, y)));
    case isa::MicroOp::kFfma:
      HEDDLE_F(CanonicalPs(_mm256_fmadd_ps(x, y, z)));
    case isa::MicroOp::kFdiv:
      HEDDLE_F(CanonicalPs(_mm256_div_ps(x, y)));
    case isa::MicroOp::kFsqrt:
      HEDDLE_F(CanonicalPs(_mm256_sqrt_ps(x)));
    case isa::MicroOp::kFmin:
      HEDDLE_F(OrNanPs(_mm256_min_ps(x, y), x, y));
    case isa::MicroOp::kFmax:
      HEDDLE_F(OrNanPs(_mm256_max_ps(x, y), x, y));
    case isa::MicroOp::kFlt:
      HEDDLE_F(_mm256_cmp_ps(x, y, _CMP_LT_OQ));
    case isa::MicroOp::kFle:
      HEDDLE_F(_mm256_cmp_ps(x, y, _CMP_LE_OQ));
    case isa::MicroOp::kFeq:
      HEDDLE_F(_mm256_cmp_ps(x, y, _CMP_EQ_OQ));
    case isa::MicroOp::kF2i:
      HEDDLE_F(_mm256_castsi256_ps(_mm256_cvtps_epi32(x)));
    case isa::MicroOp::kF2iTrunc:
      HEDDLE_F(_mm256_castsi256_ps(_mm256_cvttps_epi32(x)));
    case isa::MicroOp::kI2f:
      HEDDLE_F(_mm256_cvtepi32_ps(_mm256_castps_si256(x)));
    case isa::MicroOp::kRhalf:
      HEDDLE_I(RoundHalf(x));
    case isa::MicroOp::kRbf:
      HEDDLE_I(RoundBf16(x));
    case isa::MicroOp::kIadd:
      HEDDLE_I(_mm256_add_epi32(x, y));
    case isa::MicroOp::kIsub:
      HEDDLE_I(_mm256_sub_epi32(x, y));
    case isa::MicroOp::kImul:
      HEDDLE_I(_mm256_mullo_epi32(x, y));
    case isa::MicroOp::kIand:
      HEDDLE_I(_mm256_and_si256(x, y));
    case isa::MicroOp::kIor:
      HEDDLE_I(_mm256_or_si256(x, y));
    case isa::MicroOp::kIxor:
      HEDDLE_I(_mm256_xor_si256(x, y));
    case isa::MicroOp::kIshl:
      HEDDLE_I(_mm256_sllv_epi32(x, _mm256_and_si256(y, count)));
    case isa::MicroOp::kIshr:
      HEDDLE_I(_mm256_srlv_epi32(x, _mm256_and_si256(y, count)));
    case isa::MicroOp::kIsar:
      HEDDLE_I(_mm256_srav_epi32(x, _mm256_and_si256(y, count)));
    case isa::MicroOp::kImin:
      HEDDLE_I(_mm256_min_epi32(x, y));
    case isa::MicroOp::kImax:
      HEDDLE_I(_mm256_max_epi32(x, y));
    case isa::MicroOp::kIlt:
      HEDDLE_I(_mm256_cmpgt_epi32(y, x));
    case isa::MicroOp::kIeq:
      HEDDLE_I(_mm256_cmpeq_epi32(x, y));
    case isa::MicroOp::kIltu:
      HEDDLE_I(_mm256_cmpgt_epi32(_mm256_xor_si256(y, sign),
                                  _mm256_xor_si256(x, sign)));
    default:
      return false;
  }
#undef HEDDLE_F
#undef HEDDLE_I
}

}  // namespace heddle::model::x86

#endif  // HEDDLE_SIMULATOR_MODEL_KERNELS_X86_H_
