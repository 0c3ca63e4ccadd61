// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/accumulate.h"

#include <cmath>
#include <vector>

#include "compiler/base/pace.h"

namespace heddle::compiler {
namespace {

void ChainPortable(float* acc, const float* x, int64_t step, float w,
                   int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    acc[i] = std::fma(x[i * step], w, acc[i]);
  }
}

#if defined(__x86_64__)
// The same operations with the instruction: fma is exact, so the bits agree.
__attribute__((target("avx2,fma"))) void ChainFma(float* acc, const float* x,
                                                  int64_t step, float w,
                                                  int64_t count) {
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) {
      acc[i] = __builtin_fmaf(x[i], w, acc[i]);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    acc[i] = __builtin_fmaf(x[i * step], w, acc[i]);
  }
}
#endif

using Chain = void (*)(float*, const float*, int64_t, float, int64_t);

Chain ChooseChain() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
    return ChainFma;
  }
#endif
  return ChainPortable;
}

const Chain kChain = ChooseChain();

// The accumulation loops, generic over the element type; each channel is
// copied into a padded plane first so that the inner loop has no condition.
template <typename T, typename Step>
void Convolve(const Window& w, int64_t channels, int64_t maps, int64_t group,
              const T* x, const T* weights, T* y, Step step) {
  const int64_t height = w.in[0] + w.pad_begin[0] + w.pad_end[0];
  const int64_t width = w.in[1] + w.pad_begin[1] + w.pad_end[1];
  const int64_t channels_per_group = channels / group;
  const int64_t maps_per_group = maps / group;
  const int64_t taps = w.kernel[0] * w.kernel[1];
  const int64_t pixels = w.out[0] * w.out[1];
  std::vector<T> plane(static_cast<size_t>(height * width));
  for (int64_t c = 0; c < channels; ++c) {
    Pace(height * width);
    const T* source = x + c * w.in[0] * w.in[1];
    for (int64_t row = 0; row < w.in[0]; ++row) {
      std::copy(
          source + row * w.in[1], source + (row + 1) * w.in[1],
          plane.begin() + (row + w.pad_begin[0]) * width + w.pad_begin[1]);
    }
    const int64_t g = c / channels_per_group;
    const int64_t c_in_group = c % channels_per_group;
    for (int64_t m = g * maps_per_group; m < (g + 1) * maps_per_group; ++m) {
      const T* kernel = weights + (m * channels_per_group + c_in_group) * taps;
      T* map = y + m * pixels;
      for (int64_t ky = 0; ky < w.kernel[0]; ++ky) {
        for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
          Pace(pixels + 1);
          const T tap = kernel[ky * w.kernel[1] + kx];
          for (int64_t oy = 0; oy < w.out[0]; ++oy) {
            const int64_t row = oy * w.stride[0] + ky * w.dilation[0];
            step(map + oy * w.out[1],
                 plane.data() + row * width + kx * w.dilation[1], w.stride[1],
                 tap, w.out[1]);
          }
        }
      }
    }
  }
}

template <typename T, typename Step>
void Multiply(int64_t m, int64_t k, int64_t n, const T* a, const T* b, T* y,
              Step step) {
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      Pace(n + 1);
      step(y + row * n, b + i * n, 1, a[row * k + i], n);
    }
  }
}

template <typename T>
void AccumulateWide(T* acc, const T* x, int64_t step, T w, int64_t count) {
  for (int64_t i = 0; i < count; ++i) acc[i] += x[i * step] * w;
}

}  // namespace

void AccumulateF32(float* acc, const float* x, int64_t step, float w,
                   int64_t count) {
  kChain(acc, x, step, w, count);
}

void AccumulateF64(double* acc, const double* x, int64_t step, double w,
                   int64_t count) {
  AccumulateWide(acc, x, step, w, count);
}

void AccumulateI32(int32_t* acc, const int32_t* x, int64_t step, int32_t w,
                   int64_t count) {
  const auto factor = static_cast<uint32_t>(w);
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) {
      acc[i] = static_cast<int32_t>(static_cast<uint32_t>(acc[i]) +
                                    static_cast<uint32_t>(x[i]) * factor);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    acc[i] = static_cast<int32_t>(static_cast<uint32_t>(acc[i]) +
                                  static_cast<uint32_t>(x[i * step]) * factor);
  }
}

void ConvolveF32(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const float* x, const float* w, float* y) {
  Convolve(window, channels, maps, group, x, w, y, AccumulateF32);
}

void ConvolveF64(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const double* x, const double* w, double* y) {
  Convolve(window, channels, maps, group, x, w, y, AccumulateF64);
}

void ConvolveI32(const Window& window, int64_t channels, int64_t maps,
                 int64_t group, const int32_t* x, const int32_t* w,
                 int32_t* y) {
  Convolve(window, channels, maps, group, x, w, y, AccumulateI32);
}

void MultiplyF32(int64_t m, int64_t k, int64_t n, const float* a,
                 const float* b, float* y) {
  Multiply(m, k, n, a, b, y, AccumulateF32);
}

void MultiplyF64(int64_t m, int64_t k, int64_t n, const double* a,
                 const double* b, double* y) {
  Multiply(m, k, n, a, b, y, AccumulateF64);
}

void MultiplyI64(int64_t m, int64_t k, int64_t n, const uint64_t* a,
                 const uint64_t* b, uint64_t* y) {
  Multiply(m, k, n, a, b, y, AccumulateWide<uint64_t>);
}

void MultiplyI32(int64_t m, int64_t k, int64_t n, const int32_t* a,
                 const int32_t* b, int32_t* y) {
  Multiply(m, k, n, a, b, y, AccumulateI32);
}

}  // namespace heddle::compiler
