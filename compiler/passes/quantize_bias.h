// SPDX-License-Identifier: Apache-2.0
// Weights and biases that a fused operator needs in integers.
#ifndef HEDDLE_COMPILER_PASSES_QUANTIZE_BIAS_H_
#define HEDDLE_COMPILER_PASSES_QUANTIZE_BIAS_H_

#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// int32 codes of a float bias: RNE(f32(b / f32(xs * ws[m]))), m along the last
// dimension. Nothing if the shapes of bias and ws do not fit.
std::optional<TensorData> QuantizeBias(const TensorData& bias,
                                       const TensorData& x_scale,
                                       const TensorData& w_scale);

// "" if |bs - xs*ws| <= 1e-6 + 0.01*xs*ws for every channel; otherwise what
// differs, with the channel: "scale 0.5 where input and weights give 0.25".
std::string BiasScaleMismatch(const TensorData& bias_scale,
                              const TensorData& x_scale,
                              const TensorData& w_scale);

struct QuantizedWeights {
  TensorData codes, scale, zero;
};

// int8, per tensor, asymmetric, over a range that holds 0:
// s = f32(f32(hi-lo)/255), z = RNE(clamp(f32(-128 - f32(lo/s)), -128, 127)).
QuantizedWeights QuantizeWeights(const TensorData& weights);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_QUANTIZE_BIAS_H_
