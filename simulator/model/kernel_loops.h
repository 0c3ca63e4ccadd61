// SPDX-License-Identifier: Apache-2.0
// The loops of kernels.h over a type V of vector operations, so that every
// variant (and an emulation of instructions that this CPU lacks) runs the same
// code:
//
//   V::Acc                16 int32; Load, Store (int32[16])
//   V::Weights            16 pairs of int16; LoadWeights(int16[16][2])
//   V::Mac(acc, pair, w)  acc[l] += pair[0]*w[l][0] + pair[1]*w[l][1], wrapping
//   V::Zip(x, y)          Weights from two vectors of 16 int16: pairs
//                         {x[l], y[l]}
//   V::MacPairs(acc, p, w)  acc[l] += p[l][0]*w[l][0] + p[l][1]*w[l][1]
//   V::kTile              pixels whose accumulators fit the registers
//
// Only V's own translation unit may enable special instructions: this header
// includes nothing and defines nothing but templates.
#ifndef HEDDLE_SIMULATOR_MODEL_KERNEL_LOOPS_H_
#define HEDDLE_SIMULATOR_MODEL_KERNEL_LOOPS_H_

#include "simulator/model/kernels.h"

namespace heddle::model {

template <typename V, int kPixels>
inline void ReduceTile(const ReduceRun* runs, size_t num_runs,
                       ptrdiff_t pixel_stride, size_t first, int32_t* acc) {
  typename V::Acc sum[kPixels];
  for (int p = 0; p < kPixels; ++p) sum[p] = V::Load(acc + 16 * p);
  for (size_t r = 0; r < num_runs; ++r) {
    const int16_t* a = runs[r].a + static_cast<ptrdiff_t>(first) * pixel_stride;
    const int16_t* w = runs[r].w;
    for (uint32_t i = 0; i < runs[r].pairs; ++i, a += 2, w += 32) {
      const typename V::Weights weights = V::LoadWeights(w);
      for (int p = 0; p < kPixels; ++p) {
        sum[p] = V::Mac(sum[p], a + p * pixel_stride, weights);
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) V::Store(sum[p], acc + 16 * p);
}

template <typename V>
void Reduce(const ReduceRun* runs, size_t num_runs, ptrdiff_t pixel_stride,
            int32_t* acc, size_t pixels) {
  size_t p = 0;
  for (; p + V::kTile <= pixels; p += V::kTile) {
    ReduceTile<V, V::kTile>(runs, num_runs, pixel_stride, p, acc + 16 * p);
  }
  for (; p + 4 <= pixels; p += 4) {
    ReduceTile<V, 4>(runs, num_runs, pixel_stride, p, acc + 16 * p);
  }
  for (; p + 2 <= pixels; p += 2) {
    ReduceTile<V, 2>(runs, num_runs, pixel_stride, p, acc + 16 * p);
  }
  for (; p < pixels; ++p) {
    ReduceTile<V, 1>(runs, num_runs, pixel_stride, p, acc + 16 * p);
  }
}

template <typename V, int kPixels>
inline void DepthwiseTile(const int16_t* const* taps, const int16_t* w,
                          size_t num_pairs, ptrdiff_t pixel_stride,
                          size_t first, int32_t* acc) {
  typename V::Acc sum[kPixels];
  for (int p = 0; p < kPixels; ++p) sum[p] = V::Load(acc + 16 * p);
  const ptrdiff_t start = static_cast<ptrdiff_t>(first) * pixel_stride;
  for (size_t i = 0; i < num_pairs; ++i) {
    const int16_t* x = taps[2 * i] + start;
    const int16_t* y = taps[2 * i + 1] + start;
    const typename V::Weights weights = V::LoadWeights(w + 32 * i);
    for (int p = 0; p < kPixels; ++p) {
      sum[p] = V::MacPairs(
          sum[p], V::Zip(x + p * pixel_stride, y + p * pixel_stride), weights);
    }
  }
  for (int p = 0; p < kPixels; ++p) V::Store(sum[p], acc + 16 * p);
}

template <typename V>
void Depthwise(const int16_t* const* taps, const int16_t* w, size_t num_pairs,
               ptrdiff_t pixel_stride, int32_t* acc, size_t pixels) {
  size_t p = 0;
  for (; p + 4 <= pixels; p += 4) {
    DepthwiseTile<V, 4>(taps, w, num_pairs, pixel_stride, p, acc + 16 * p);
  }
  for (; p < pixels; ++p) {
    DepthwiseTile<V, 1>(taps, w, num_pairs, pixel_stride, p, acc + 16 * p);
  }
}

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_KERNEL_LOOPS_H_
