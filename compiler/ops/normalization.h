// SPDX-License-Identifier: Apache-2.0
// The pieces of normalisations that both sides compute, and their constants.
#ifndef HEDDLE_COMPILER_OPS_NORMALIZATION_H_
#define HEDDLE_COMPILER_OPS_NORMALIZATION_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {

// BatchNormalization: y = fma(x, a, b) with, per channel in fp32,
//   a = f32(scale / sqrt(f32(var + epsilon))),  b = fma(-mean, a, bias).
struct BatchNormFactors {
  std::vector<float> a, b;
};
BatchNormFactors FactorsOf(const TensorData& scale, const TensorData& bias,
                           const TensorData& mean, const TensorData& variance,
                           float epsilon);

// InstanceNormalization: the stages that reduce [n, c, pixels...] to [n, c].
std::vector<ReduceStage> PlaneStages(const Shape& shape);

// LRN: channels [first, first + count) that a channel's sum goes over.
struct LrnWindow {
  int64_t first = 0, count = 0;
};
LrnWindow LrnWindowOf(int64_t channel, int64_t channels, int64_t size);
// f32(x * t^-beta), t = fma(alpha, sum, bias), with the sum of squares and the
// node's parameters as arguments: 0: alpha / size, 1: bias, 2: -beta.
Term LrnTerm(ProgramBuilder* b, Term x, Term sum);
std::array<uint32_t, 4> LrnArguments(const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_NORMALIZATION_H_
