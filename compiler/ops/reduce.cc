// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/reduce.h"

#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int kLanes = 16;

}  // namespace

float SumLanes(const float* x, int64_t step, int64_t count) {
  float lanes[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) {
    float& lane = lanes[i % kLanes];
    lane = model::FAdd(lane, x[i * step]);
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) {
      lanes[l] = model::FAdd(lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

}  // namespace heddle::compiler
