// SPDX-License-Identifier: Apache-2.0
// 8-bit codes with scale and zero point: loading, requantization and the rules
// that quantized operators share. "Scalar" means one element of any rank.
#ifndef HEDDLE_COMPILER_OPS_QUANTIZED_VALUES_H_
#define HEDDLE_COMPILER_OPS_QUANTIZED_VALUES_H_

#include <vector>

#include "compiler/ops/operator.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

inline int32_t QuantizedMin(DataType type) {
  return type == DataType::kInt8 ? -128 : 0;
}
inline int32_t QuantizedMax(DataType type) {
  return type == DataType::kInt8 ? 127 : 255;
}

// Element i of an int8, uint8 or int32 tensor.
inline int32_t LoadQuantized(const TensorData& data, int64_t i) {
  if (data.type == DataType::kInt8) return data.as<int8_t>()[i];
  if (data.type == DataType::kUint8) return data.as<uint8_t>()[i];
  return data.as<int32_t>()[i];
}
inline void StoreQuantized(int32_t code, int64_t i, TensorData* data) {
  data->bytes[i] = static_cast<uint8_t>(code);
}

inline float ScalarF32(const TensorData& data) { return data.as<float>()[0]; }
// The zero point, 0 when the input is absent.
inline int32_t ZeroPoint(const TensorData* data) {
  return data == nullptr ? 0 : LoadQuantized(*data, 0);
}

// Scale (or zero point) i of a tensor that has one element or one per channel.
inline float ScaleAt(const TensorData& scale, int64_t channel) {
  return scale.as<float>()[scale.count() == 1 ? 0 : channel];
}
inline int32_t ZeroPointAt(const TensorData* zero_point, int64_t channel) {
  if (zero_point == nullptr) return 0;
  return LoadQuantized(*zero_point, zero_point->count() == 1 ? 0 : channel);
}

// Clamp, round, offset: `v` is in units of the output scale.
inline int32_t ToCode(float v, int32_t zero_point, DataType type) {
  return model::Cro(v, QuantizedMin(type) - zero_point,
                    QuantizedMax(type) - zero_point, zero_point);
}
// An accumulator times its multiplier, then ToCode.
inline int32_t Requantize(int32_t acc, float multiplier, int32_t zero_point,
                          DataType type) {
  return ToCode(model::FMul(model::I32ToF32(acc), multiplier), zero_point,
                type);
}

// The same of a row, one code after the other.
void Requantize(const int32_t* acc, int64_t count, float multiplier,
                int32_t zero_point, DataType type, uint8_t* codes);

// All codes minus their zero points, as int32. With several zero points, one
// per `channels` blocks of `block` consecutive elements, cyclically.
std::vector<int32_t> Centered(const TensorData& codes,
                              const TensorData* zero_point, int64_t channels,
                              int64_t block);

// 256 entries indexed by the code's bit pattern:
// T[c] = code of function(f32(xs * f32(c - xz))) under ys, yz.
std::vector<uint8_t> CodeTable(float (*function)(float value, float parameter),
                               float parameter, float xs, int32_t xz, float ys,
                               int32_t yz, DataType type);

// Refuses the node unless input `scale_index` is one positive-or-any float and
// input `scale_index`+1, if present, one code of type `type`.
absl::Status CheckScalarParameters(const Graph& graph, const Node& node,
                                   size_t scale_index, DataType type);
// As above, but `channels` values are allowed too.
absl::Status CheckChannelParameters(const Graph& graph, const Node& node,
                                    size_t scale_index, DataType type,
                                    int64_t channels);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_QUANTIZED_VALUES_H_
