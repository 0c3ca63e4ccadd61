// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/accumulate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "simulator/model/kernels.h"

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

// Chains of 16 results beside each other, of many rows, in registers: y[row]
// [16] = fma(a[row][step], panel[step][16], .) over all steps, a few at a time
// that `pack` writes to the panel. (What is NaN between them stays NaN.)
class Panels {
 public:
  static constexpr int64_t kColumns = 16;
  // About what a fused multiply-add of a result takes, in nanoseconds.
  static constexpr double kCost = 0.03;

  // Whether this CPU is faster so.
  static bool Pay() {
    return &model::BestKernels() != model::PortableKernels();
  }

  // `a`: rows of `steps` elements.
  Panels(const float* a, int64_t rows, int64_t steps)
      : steps_(steps), panel_(kSteps * kColumns), rows_(rows) {
    for (int64_t r = 0; r < rows; ++r) rows_[r] = a + r * steps;
    edge_.resize(static_cast<size_t>(rows * kColumns));
  }

  // `columns`, at most 16, of y, whose rows lie `stride` apart.
  template <typename Pack>
  void Run(int64_t columns, int64_t stride, Pack pack, float* y) {
    const auto rows = static_cast<int64_t>(rows_.size());
    const bool whole = columns == kColumns;
    model::FmaTile tile;
    tile.a_step = 1;
    tile.b = panel_.data();
    tile.b_step = kColumns;
    tile.rows = static_cast<uint32_t>(rows);
    tile.vectors = 1;
    tile.acc = whole ? y : edge_.data();
    tile.acc_stride = whole ? stride : kColumns;
    for (int64_t r = 0; r < rows && !whole; ++r) {
      std::copy_n(y + r * stride, columns, edge_.data() + r * kColumns);
    }
    std::vector<const float*> a(rows_);
    tile.a = a.data();
    for (int64_t first = 0; first < steps_; first += kSteps) {
      const int64_t n = std::min(kSteps, steps_ - first);
      Pace(n * (rows + 1));
      pack(first, n, panel_.data());
      tile.n = static_cast<uint32_t>(n);
      model::BestKernels().fma_tile(tile);
      for (const float*& row : a) row += n;
    }
    for (int64_t r = 0; r < rows && !whole; ++r) {
      std::copy_n(edge_.data() + r * kColumns, columns, y + r * stride);
    }
  }

 private:
  static constexpr int64_t kSteps = 512;
  const int64_t steps_;
  std::vector<float> panel_, edge_;
  std::vector<const float*> rows_;
};

// Rows that make packing pay.
constexpr int64_t kLeastRows = 4;

void MultiplyInPanels(int64_t m, int64_t k, int64_t n, const float* a,
                      const float* b, float* y) {
  constexpr int64_t kColumns = Panels::kColumns;
  const double cost = Panels::kCost * static_cast<double>(m * kColumns) *
                      static_cast<double>(k);
  Spread((n + kColumns - 1) / kColumns, cost, [&](int64_t begin, int64_t end) {
    Panels panels(a, m, k);
    for (int64_t p = begin; p < end; ++p) {
      const int64_t columns = std::min(kColumns, n - p * kColumns);
      const float* const from = b + p * kColumns;
      panels.Run(
          columns, n,
          [=](int64_t first, int64_t steps, float* panel) {
            for (int64_t i = 0; i < steps; ++i, panel += kColumns) {
              const float* const row = from + (first + i) * n;
              if (columns == kColumns) {
                std::memcpy(panel, row, kColumns * sizeof(float));
              } else {
                std::copy_n(row, columns, panel);
              }
            }
          },
          y + p * kColumns);
    }
  });
}

// Panels of pixels, of an image whose channels are padded first.
void ConvolveInPanels(const Window& w, int64_t channels, int64_t maps,
                      int64_t group, const float* x, const float* weights,
                      float* y) {
  constexpr int64_t kColumns = Panels::kColumns;
  const int64_t height = w.in[0] + w.pad_begin[0] + w.pad_end[0];
  const int64_t width = w.in[1] + w.pad_begin[1] + w.pad_end[1];
  const int64_t per_group = channels / group, rows = maps / group;
  const int64_t pixels = w.out[0] * w.out[1];
  std::vector<float> padded(static_cast<size_t>(channels * height * width));
  for (int64_t c = 0; c < channels; ++c) {
    Pace(height * width);
    for (int64_t row = 0; row < w.in[0]; ++row) {
      std::copy_n(x + (c * w.in[0] + row) * w.in[1], w.in[1],
                  padded.data() + (c * height + row + w.pad_begin[0]) * width +
                      w.pad_begin[1]);
    }
  }
  // Where a step's elements lie, from the first tap of a pixel.
  std::vector<int64_t> taps;
  for (int64_t c = 0; c < per_group; ++c) {
    for (int64_t ky = 0; ky < w.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
        taps.push_back((c * height + ky * w.dilation[0]) * width +
                       kx * w.dilation[1]);
      }
    }
  }
  const auto steps = static_cast<int64_t>(taps.size());
  const int64_t blocks = (pixels + kColumns - 1) / kColumns;
  const double cost = Panels::kCost * static_cast<double>(rows * kColumns) *
                      static_cast<double>(steps);
  Spread(group * blocks, cost, [&](int64_t begin, int64_t end) {
    int64_t of = -1;
    std::optional<Panels> panels;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t g = b / blocks, first_pixel = b % blocks * kColumns;
      if (g != of) panels.emplace(weights + g * rows * steps, rows, steps);
      of = g;
      const int64_t columns = std::min(kColumns, pixels - first_pixel);
      const float* const image = padded.data() + g * per_group * height * width;
      int64_t at[kColumns] = {};
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t pixel = first_pixel + i;
        at[i] = pixel / w.out[1] * w.stride[0] * width +
                pixel % w.out[1] * w.stride[1];
      }
      const bool together = columns == kColumns &&
                            at[kColumns - 1] == at[0] + kColumns - 1 &&
                            w.stride[1] == 1;
      panels->Run(
          columns, pixels,
          [&](int64_t first, int64_t n, float* panel) {
            for (int64_t i = first; i < first + n; ++i, panel += kColumns) {
              const float* const from = image + taps[i];
              if (together) {
                std::memcpy(panel, from + at[0], kColumns * sizeof(float));
              } else {
                for (int64_t l = 0; l < kColumns; ++l) panel[l] = from[at[l]];
              }
            }
          },
          y + g * rows * pixels + first_pixel);
    }
  });
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
  if (Panels::Pay() && maps / group >= kLeastRows) {
    return ConvolveInPanels(window, channels, maps, group, x, w, y);
  }
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
  if (Panels::Pay() && m >= kLeastRows) {
    return MultiplyInPanels(m, k, n, a, b, y);
  }
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
