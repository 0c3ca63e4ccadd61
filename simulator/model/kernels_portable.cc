// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "simulator/model/kernel_loops.h"
#include "simulator/model/kernels.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

struct Plain {
  struct Acc {
    uint32_t v[16];
  };
  struct Weights {
    int16_t v[32];
  };
  static constexpr int kTile = 4;

  static Acc Load(const int32_t* p) {
    Acc a;
    std::memcpy(a.v, p, sizeof(a.v));
    return a;
  }
  static void Store(const Acc& a, int32_t* p) {
    std::memcpy(p, a.v, sizeof(a.v));
  }
  static Weights LoadWeights(const int16_t* p) {
    Weights w;
    std::memcpy(w.v, p, sizeof(w.v));
    return w;
  }
  static Acc Mac(Acc a, const int16_t* pair, const Weights& w) {
    for (int l = 0; l < 16; ++l) {
      a.v[l] += static_cast<uint32_t>(pair[0] * w.v[2 * l] +
                                      pair[1] * w.v[2 * l + 1]);
    }
    return a;
  }
  static Weights Zip(const int16_t* x, const int16_t* y) {
    Weights w;
    for (int l = 0; l < 16; ++l) {
      w.v[2 * l] = x[l];
      w.v[2 * l + 1] = y[l];
    }
    return w;
  }
  static Acc MacPairs(Acc a, const Weights& p, const Weights& w) {
    for (int l = 0; l < 16; ++l) {
      a.v[l] += static_cast<uint32_t>(p.v[2 * l] * w.v[2 * l] +
                                      p.v[2 * l + 1] * w.v[2 * l + 1]);
    }
    return a;
  }
};

void Requantise(const RequantiseParams& p, const int32_t* acc, int32_t* codes,
                size_t pixels) {
  for (size_t i = 0; i < 16 * pixels; ++i) {
    const float v =
        FMul(I32ToF32(WrapAdd(acc[i], p.bias[i % 16])), p.scale[i % 16]);
    codes[i] =
        Clamp(WrapAdd(ClampRne(v, p.low, p.high), p.zero), p.qmin, p.qmax);
  }
}

void Residual(const ResidualParams& p, const uint8_t* bytes, int32_t* codes,
              size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t x = codes[i];
    const int32_t r =
        p.residual_signed ? static_cast<int8_t>(bytes[i]) : bytes[i];
    float v;
    if (p.multiply) {
      const int32_t product = (x - p.mid_zero) * (r - p.res_zero);
      v = FAdd(FMul(I32ToF32(product), p.a), p.k);
    } else {
      v = Fma(I32ToF32(p.residual_first ? r : x), p.a,
              Fma(I32ToF32(p.residual_first ? x : r), p.b, p.k));
    }
    codes[i] = Clamp(Clamp(Sat16(Rne(v)), p.qmin, p.qmax), p.low, p.high);
  }
}

void RunFmaTile(const FmaTile& t) {
  for (uint32_t r = 0; r < t.rows; ++r) {
    for (uint32_t l = 0; l < 16 * t.vectors; ++l) {
      float* acc = t.acc + static_cast<ptrdiff_t>(r) * t.acc_stride + l;
      float v = *acc;
      const float* a = t.a[r];
      const float* b = t.b + l;
      for (uint32_t i = 0; i < t.n; ++i, a += t.a_step, b += t.b_step) {
        v = Fma(*a, *b, v);
      }
      *acc = v;
    }
  }
}

void FmaLanes(const float* a, const float* b, uint32_t n, float* acc) {
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t l = 0; l < 16; ++l) {
      acc[l] = Fma(a[16 * i + l], b[16 * i + l], acc[l]);
    }
  }
}

int16_t Value(uint8_t code, bool is_signed, int16_t zero) {
  return static_cast<int16_t>((is_signed ? static_cast<int8_t>(code) : code) -
                              zero);
}

void Convert(const uint8_t* from, ptrdiff_t from_step, bool is_signed,
             int16_t za, int16_t* to, ptrdiff_t to_step, size_t n) {
  for (size_t i = 0; i < n; ++i, from += from_step, to += to_step) {
    for (int l = 0; l < 16; ++l) to[l] = Value(from[l], is_signed, za);
  }
}

void Pack(const uint8_t* from, ptrdiff_t row_step, bool is_signed,
          const int16_t* zeros, int16_t* to) {
  for (int l = 0; l < 16; ++l, from += row_step) {
    for (int i = 0; i < 16; ++i) {
      to[i / 2 * 32 + 2 * l + i % 2] = Value(from[i], is_signed, zeros[l]);
    }
  }
}

bool NoLaneOp(isa::MicroOp, const uint32_t*, const uint32_t*, const uint32_t*,
              uint32_t*, size_t) {
  return false;
}

constexpr Kernels kPortable = {
    "portable", Convert,  Pack,       Reduce<Plain>, Depthwise<Plain>,
    Requantise, Residual, RunFmaTile, FmaLanes,      NoLaneOp};

}  // namespace

const Kernels* PortableKernels() { return &kPortable; }

const Kernels& BestKernels() {
  static const Kernels* const best = [] {
    if (const Kernels* k = VnniKernels()) return k;
    if (const Kernels* k = Avx2Kernels()) return k;
    return PortableKernels();
  }();
  return *best;
}

}  // namespace heddle::model
