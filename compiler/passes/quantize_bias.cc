// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantize_bias.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/quantized_values.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

std::optional<TensorData> QuantizeBias(const TensorData& bias,
                                       const TensorData& x_scale,
                                       const TensorData& w_scale) {
  const int64_t channels = w_scale.count();
  Shape shape = bias.shape;
  if (x_scale.count() != 1 || channels == 0) return std::nullopt;
  if (channels > 1) {
    // The result has one value per channel, also where the bias repeats one.
    if (shape.empty()) shape.push_back(1);
    if (shape.back() != 1 && shape.back() != channels) return std::nullopt;
    shape.back() = channels;
  }
  const model::ScopedFpEnvironment environment;
  const bool repeats = bias.shape.empty() || bias.shape.back() == 1;
  TensorData codes = TensorData::Zeros(DataType::kInt32, shape);
  for (int64_t i = 0; i < codes.count(); ++i) {
    const int64_t from = channels > 1 && repeats ? i / channels : i;
    const float scale =
        model::FMul(ScalarF32(x_scale), ScaleAt(w_scale, i % channels));
    codes.as<int32_t>()[i] =
        model::Rne(model::FDiv(bias.as<float>()[from], scale));
  }
  return codes;
}

std::string BiasScaleMismatch(const TensorData& bias_scale,
                              const TensorData& x_scale,
                              const TensorData& w_scale) {
  const int64_t channels = std::max(bias_scale.count(), w_scale.count());
  if (x_scale.count() != 1 ||
      (bias_scale.count() != 1 && bias_scale.count() != channels) ||
      (w_scale.count() != 1 && w_scale.count() != channels)) {
    return absl::StrCat(bias_scale.count(), " scales where input and weights ",
                        "have ", x_scale.count(), " and ", w_scale.count());
  }
  const model::ScopedFpEnvironment environment;
  for (int64_t m = 0; m < channels; ++m) {
    const float expected = model::FMul(ScalarF32(x_scale), ScaleAt(w_scale, m));
    const float difference =
        std::abs(model::FSub(ScaleAt(bias_scale, m), expected));
    const float tolerance =
        model::FAdd(1e-6f, model::FMul(1e-2f, std::abs(expected)));
    if (difference <= tolerance) continue;
    return absl::StrCat("scale ", ScaleAt(bias_scale, m),
                        channels > 1 ? absl::StrCat(" in channel ", m) : "",
                        " where input and weights give ", expected);
  }
  return "";
}

QuantizedWeights QuantizeWeights(const TensorData& weights) {
  const model::ScopedFpEnvironment environment;
  const float* values = weights.as<float>();
  float low = 0, high = 0;
  for (int64_t i = 0; i < weights.count(); ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  const float scale =
      low == high ? 1.0f : model::FDiv(model::FSub(high, low), 255.0f);
  const float offset = model::FSub(-128.0f, model::FDiv(low, scale));
  const int32_t zero = model::Rne(std::min(std::max(offset, -128.0f), 127.0f));
  QuantizedWeights result;
  result.codes = TensorData::Zeros(DataType::kInt8, weights.shape);
  for (int64_t i = 0; i < weights.count(); ++i) {
    StoreQuantized(ToCode(model::FDiv(values[i], scale), zero, DataType::kInt8),
                   i, &result.codes);
  }
  result.scale = TensorData::Zeros(DataType::kFloat, {});
  result.scale.as<float>()[0] = scale;
  result.zero = TensorData::Zeros(DataType::kInt8, {});
  StoreQuantized(zero, 0, &result.zero);
  return result;
}

}  // namespace heddle::compiler
