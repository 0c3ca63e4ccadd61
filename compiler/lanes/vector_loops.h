// SPDX-License-Identifier: Apache-2.0
// The loops of lanes.h with vectors of HEDDLE_LANES floats, 8 or 16, which the
// including unit defines. Only for units that enable their instructions: all is
// static or in a namespace without a name, so that no other unit gets a copy
// that it cannot run.
#ifndef HEDDLE_COMPILER_LANES_VECTOR_LOOPS_H_
#define HEDDLE_COMPILER_LANES_VECTOR_LOOPS_H_

#include <immintrin.h>

#include "compiler/lanes/lanes.h"

namespace heddle::compiler {
namespace {

constexpr size_t kWidth = HEDDLE_LANES;
typedef float F __attribute__((vector_size(4 * HEDDLE_LANES)));
typedef uint32_t U __attribute__((vector_size(4 * HEDDLE_LANES)));
typedef int32_t I __attribute__((vector_size(4 * HEDDLE_LANES)));
// Anywhere in memory.
typedef uint32_t Unaligned
    __attribute__((vector_size(4 * HEDDLE_LANES), aligned(4), may_alias));

HEDDLE_TERMS U Load(const void* p) {
  return static_cast<U>(*static_cast<const Unaligned*>(p));
}
HEDDLE_TERMS void Store(U v, void* p) {
  *static_cast<Unaligned*>(p) = static_cast<Unaligned>(v);
}
HEDDLE_TERMS U All(uint32_t v) { return U{} + v; }
HEDDLE_TERMS U Chosen(I mask, U a, U b) { return mask ? a : b; }

#if HEDDLE_LANES == 16
HEDDLE_TERMS F FusedF(F a, F b, F c) {
  return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
// (The maskz forms: gcc 12 warns about its own header with the plain ones.)
HEDDLE_TERMS F RootF(F a) { return (F)_mm512_maskz_sqrt_ps(0xffff, (__m512)a); }
HEDDLE_TERMS U NearestF(F a) {
  return (U)_mm512_maskz_cvtps_epi32(0xffff, (__m512)a);
}
HEDDLE_TERMS U TowardZeroF(F a) {
  return (U)_mm512_maskz_cvttps_epi32(0xffff, (__m512)a);
}
#else
HEDDLE_TERMS F FusedF(F a, F b, F c) {
  return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
HEDDLE_TERMS F RootF(F a) { return (F)_mm256_sqrt_ps((__m256)a); }
HEDDLE_TERMS U NearestF(F a) { return (U)_mm256_cvtps_epi32((__m256)a); }
HEDDLE_TERMS U TowardZeroF(F a) { return (U)_mm256_cvttps_epi32((__m256)a); }
#endif

HEDDLE_TERMS U CanonicalF(F v) {
  return Chosen(v == v, (U)v, All(terms::kNan));
}
// Of a chain whose other operand may be the first.
HEDDLE_TERMS U LargerF(F a, F b) {
  const U larger = Chosen(a > b, (U)a, (U)b);
  return Chosen((a == a) & (b == b), larger, All(terms::kNan));
}
HEDDLE_TERMS U SmallerF(F a, F b) {
  const U smaller = Chosen(a < b, (U)a, (U)b);
  return Chosen((a == a) & (b == b), smaller, All(terms::kNan));
}

// Computes while steps are written down. A NaN that the CPU makes or passes on
// may be any, which arithmetic does not notice: it becomes the one NaN where
// its bits are looked at or stored.
class VectorBuilder {
 public:
  struct TermType {
    U bits;
    bool loose;  // known when this is compiled
  };
  using T = TermType;

  HEDDLE_TERMS VectorBuilder(U a, U b, U c, const uint32_t* arguments)
      : a_(a), b_(b), c_(c), arguments_(arguments) {}
  HEDDLE_TERMS U out() const { return out_; }

  HEDDLE_TERMS T A() const { return {a_, false}; }
  HEDDLE_TERMS T B() const { return {b_, false}; }
  HEDDLE_TERMS T C() const { return {c_, false}; }
  HEDDLE_TERMS T Arg(int i) const { return {All(arguments_[i]), false}; }
  HEDDLE_TERMS static T Imm(float v) { return {(U)(F{} + v), false}; }
  HEDDLE_TERMS static T ImmBits(uint32_t v) { return {All(v), false}; }
  HEDDLE_TERMS void Out(T x) { out_ = Strict(x); }

  HEDDLE_TERMS static T Add(T a, T b) { return Loose((F)a.bits + (F)b.bits); }
  HEDDLE_TERMS static T Sub(T a, T b) { return Loose((F)a.bits - (F)b.bits); }
  HEDDLE_TERMS static T Mul(T a, T b) { return Loose((F)a.bits * (F)b.bits); }
  HEDDLE_TERMS static T Div(T a, T b) { return Loose((F)a.bits / (F)b.bits); }
  HEDDLE_TERMS static T Fma(T a, T b, T c) {
    return Loose(FusedF((F)a.bits, (F)b.bits, (F)c.bits));
  }
  HEDDLE_TERMS static T Sqrt(T a) { return Loose(RootF((F)a.bits)); }
  HEDDLE_TERMS static T Min(T a, T b) {
    return {SmallerF((F)a.bits, (F)b.bits), false};
  }
  HEDDLE_TERMS static T Max(T a, T b) {
    return {LargerF((F)a.bits, (F)b.bits), false};
  }
  HEDDLE_TERMS static T Less(T a, T b) {
    return {(U)((F)a.bits < (F)b.bits), false};
  }
  HEDDLE_TERMS static T LessEqual(T a, T b) {
    return {(U)((F)a.bits <= (F)b.bits), false};
  }
  HEDDLE_TERMS static T Equal(T a, T b) {
    return {(U)((F)a.bits == (F)b.bits), false};
  }
  HEDDLE_TERMS static T Select(T mask, T a, T b) {
    return {Chosen(Strict(mask) != 0, a.bits, b.bits), a.loose || b.loose};
  }
  HEDDLE_TERMS static T Round(T a) { return {NearestF((F)a.bits), false}; }
  HEDDLE_TERMS static T Truncate(T a) {
    return {TowardZeroF((F)a.bits), false};
  }
  HEDDLE_TERMS static T FromInt(T a) {
    return {(U) __builtin_convertvector((I)Strict(a), F), false};
  }
  HEDDLE_TERMS static T IAdd(T a, T b) {
    return {Strict(a) + Strict(b), false};
  }
  HEDDLE_TERMS static T ISub(T a, T b) {
    return {Strict(a) - Strict(b), false};
  }
  HEDDLE_TERMS static T And(T a, T b) { return {Strict(a) & Strict(b), false}; }
  HEDDLE_TERMS static T Or(T a, T b) { return {Strict(a) | Strict(b), false}; }
  HEDDLE_TERMS static T Xor(T a, T b) { return {Strict(a) ^ Strict(b), false}; }
  HEDDLE_TERMS static T Shl(T a, uint32_t n) { return {Strict(a) << n, false}; }
  HEDDLE_TERMS static T Sar(T a, uint32_t n) {
    return {(U)((I)Strict(a) >> static_cast<int32_t>(n)), false};
  }

 private:
  HEDDLE_TERMS static T Loose(F v) { return {(U)v, true}; }
  HEDDLE_TERMS static U Strict(T x) {
    return x.loose ? CanonicalF((F)x.bits) : x.bits;
  }

  U a_, b_, c_, out_ = {};
  const uint32_t* arguments_;
};

template <typename Steps>
void Each(const LaneOperands& o, size_t n, uint32_t* out) {
  U values[3] = {};
  const uint32_t* from[3];
  bool single[3];
  for (int s = 0; s < 3; ++s) {
    from[s] = o.streams[s].data;
    single[s] = from[s] == nullptr || o.streams[s].single;
    if (single[s] && from[s] != nullptr) values[s] = All(*from[s]);
  }
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    VectorBuilder b(single[0] ? values[0] : Load(from[0] + i),
                    single[1] ? values[1] : Load(from[1] + i),
                    single[2] ? values[2] : Load(from[2] + i), o.arguments);
    Steps::Of(&b);
    Store(b.out(), out + i);
  }
  if (i == n) return;
  uint32_t last[4][kWidth] = {};
  for (int s = 0; s < 3; ++s) {
    if (single[s]) continue;
    for (size_t k = i; k < n; ++k) last[s][k - i] = from[s][k];
    values[s] = Load(last[s]);
  }
  VectorBuilder b(values[0], values[1], values[2], o.arguments);
  Steps::Of(&b);
  Store(b.out(), last[3]);
  for (size_t k = i; k < n; ++k) out[k] = last[3][k - i];
}

void Compute(LaneFunction function, const LaneOperands& operands, size_t n,
             uint32_t* out) {
  switch (function) {
#define HEDDLE_LANE_FUNCTION(name, expression) \
  case LaneFunction::k##name:                  \
    return Each<lane_steps::Make##name>(operands, n, out);
    HEDDLE_LANE_FUNCTIONS(HEDDLE_LANE_FUNCTION)
#undef HEDDLE_LANE_FUNCTION
    default:
      return;
  }
}

// A step of a chain; sums are loose. `center` is of kSumOfSquares.
template <LaneFold fold, bool centered>
HEDDLE_TERMS U FoldedWith(U acc, U x, F center) {
  switch (fold) {
    case LaneFold::kSum:
      return (U)((F)acc + (F)x);
    case LaneFold::kSumOfMagnitudes:
      return (U)((F)acc + (F)(x & ~terms::kSignBit));
    case LaneFold::kSumOfSquares: {
      const F d = centered ? (F)x - center : (F)x;
      return (U)FusedF(d, d, (F)acc);
    }
    case LaneFold::kMax:
      return LargerF((F)acc, (F)x);
    case LaneFold::kMin:
      return SmallerF((F)acc, (F)x);
  }
  return acc;
}

constexpr float Start(LaneFold fold) {
  return fold == LaneFold::kMax   ? -terms::kInfinity
         : fold == LaneFold::kMin ? terms::kInfinity
                                  : 0;
}

constexpr size_t kVectors = 16 / kWidth;

template <LaneFold fold>
float Combined(const U (&acc)[kVectors]) {
  float lanes[16];
  for (size_t v = 0; v < kVectors; ++v) Store(acc[v], lanes + v * kWidth);
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) {
      const float a = lanes[l], b = lanes[l + half];
      if (fold == LaneFold::kMax) {
        lanes[l] = a != a || b != b ? __builtin_nanf("") : a > b ? a : b;
      } else if (fold == LaneFold::kMin) {
        lanes[l] = a != a || b != b ? __builtin_nanf("") : a < b ? a : b;
      } else {
        lanes[l] = a + b;
      }
    }
  }
  const float y = lanes[0];
  return y == y ? y : __builtin_nanf("");  // kNan
}

// Rows next to each other at once, so that one's sum does not wait for itself.
template <LaneFold fold, bool centered, int kRows>
void FoldSomeRows(const float* x, const float* centers, size_t count,
                  float* out) {
  U acc[kRows][kVectors];
  F center[kRows];
  for (int r = 0; r < kRows; ++r) {
    center[r] = F{} + (centered ? centers[r] : 0.0f);
    for (U& v : acc[r]) v = (U)(F{} + Start(fold));
  }
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (int r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) {
        acc[r][v] = FoldedWith<fold, centered>(
            acc[r][v], Load(x + r * count + i + v * kWidth), center[r]);
      }
    }
  }
  if (i < count) {
    int32_t has[16] = {};  // an element that is left
    for (size_t k = i; k < count; ++k) has[k - i] = -1;
    for (int r = 0; r < kRows; ++r) {
      float last[16] = {};
      for (size_t k = i; k < count; ++k) last[k - i] = x[r * count + k];
      for (size_t v = 0; v < kVectors; ++v) {
        const U next = FoldedWith<fold, centered>(
            acc[r][v], Load(last + v * kWidth), center[r]);
        acc[r][v] = Chosen((I)Load(has + v * kWidth), next, acc[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) out[r] = Combined<fold>(acc[r]);
}

template <LaneFold fold, bool centered>
void FoldRowsOf(const float* x, const float* centers, size_t rows, size_t count,
                float* out) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    FoldSomeRows<fold, centered, 4>(
        x + r * count, centered ? centers + r : nullptr, count, out + r);
  }
  for (; r < rows; ++r) {
    FoldSomeRows<fold, centered, 1>(
        x + r * count, centered ? centers + r : nullptr, count, out + r);
  }
}

void FoldRows(LaneFold fold, const float* x, const float* centers, size_t rows,
              size_t count, float* out) {
  switch (fold) {
    case LaneFold::kSum:
      return FoldRowsOf<LaneFold::kSum, false>(x, centers, rows, count, out);
    case LaneFold::kSumOfMagnitudes:
      return FoldRowsOf<LaneFold::kSumOfMagnitudes, false>(x, centers, rows,
                                                           count, out);
    case LaneFold::kSumOfSquares:
      return centers == nullptr ? FoldRowsOf<LaneFold::kSumOfSquares, false>(
                                      x, centers, rows, count, out)
                                : FoldRowsOf<LaneFold::kSumOfSquares, true>(
                                      x, centers, rows, count, out);
    case LaneFold::kMax:
      return FoldRowsOf<LaneFold::kMax, false>(x, centers, rows, count, out);
    case LaneFold::kMin:
      return FoldRowsOf<LaneFold::kMin, false>(x, centers, rows, count, out);
  }
}

template <LaneFold fold>
void FoldStepOf(const float* x, size_t n, float* acc) {
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    Store(FoldedWith<fold, false>(Load(acc + i), Load(x + i), F{}), acc + i);
  }
  if (i == n) return;
  float last[2][kWidth] = {};
  for (size_t k = i; k < n; ++k) {
    last[0][k - i] = acc[k];
    last[1][k - i] = x[k];
  }
  Store(FoldedWith<fold, false>(Load(last[0]), Load(last[1]), F{}), last[0]);
  for (size_t k = i; k < n; ++k) acc[k] = last[0][k - i];
}

void FoldStep(LaneFold fold, const float* x, size_t n, float* acc) {
  switch (fold) {
    case LaneFold::kSum:
      return FoldStepOf<LaneFold::kSum>(x, n, acc);
    case LaneFold::kSumOfMagnitudes:
      return FoldStepOf<LaneFold::kSumOfMagnitudes>(x, n, acc);
    case LaneFold::kSumOfSquares:
      return FoldStepOf<LaneFold::kSumOfSquares>(x, n, acc);
    case LaneFold::kMax:
      return FoldStepOf<LaneFold::kMax>(x, n, acc);
    case LaneFold::kMin:
      return FoldStepOf<LaneFold::kMin>(x, n, acc);
  }
}

}  // namespace
}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LANES_VECTOR_LOOPS_H_
