// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace heddle::run {
namespace {

using compiler::DataType;

template <typename T>
T At(const compiler::TensorData& tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double HalfAsDouble(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  double value;
  if (exponent == 31) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(mantissa + 1024, exponent - 25);
  }
  return half >> 15 ? -value : value;
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble ||
         type == DataType::kFloat16 || type == DataType::kBfloat16;
}

double RangeOf(const compiler::TensorData& tensor) {
  double low = 0, high = 0;
  bool any = false;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = ElementAsDouble(tensor, i);
    if (!std::isfinite(value)) continue;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  return high - low;
}

bool Within(double value, double expected, double rtol, double atol) {
  if (std::isnan(expected)) return std::isnan(value);
  if (std::isinf(expected) || !std::isfinite(value)) return value == expected;
  return std::fabs(value - expected) <= rtol * std::fabs(expected) + atol;
}

}  // namespace

double ElementAsDouble(const compiler::TensorData& tensor, int64_t index) {
  switch (tensor.type) {
    case DataType::kFloat:
      return At<float>(tensor, index);
    case DataType::kDouble:
      return At<double>(tensor, index);
    case DataType::kFloat16:
      return HalfAsDouble(At<uint16_t>(tensor, index));
    case DataType::kBfloat16: {
      const uint32_t bits = uint32_t{At<uint16_t>(tensor, index)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    case DataType::kInt8:
      return At<int8_t>(tensor, index);
    case DataType::kUint8:
    case DataType::kBool:
      return At<uint8_t>(tensor, index);
    case DataType::kInt16:
      return At<int16_t>(tensor, index);
    case DataType::kUint16:
      return At<uint16_t>(tensor, index);
    case DataType::kInt32:
      return At<int32_t>(tensor, index);
    case DataType::kUint32:
      return At<uint32_t>(tensor, index);
    case DataType::kInt64:
      return static_cast<double>(At<int64_t>(tensor, index));
    case DataType::kUint64:
      return static_cast<double>(At<uint64_t>(tensor, index));
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

Tolerance DefaultTolerance(DataType type) {
  Tolerance tolerance;
  tolerance.rtol = type == DataType::kFloat16    ? 1e-2
                   : type == DataType::kBfloat16 ? 8e-2
                                                 : 1e-3;
  tolerance.range = *tolerance.rtol / 10;
  return tolerance;
}

Comparison Compare(const compiler::TensorData& value,
                   const compiler::TensorData& expected,
                   const Tolerance& tolerance, double step) {
  Comparison result;
  if (value.type != expected.type || value.shape != expected.shape ||
      value.bytes.size() != expected.bytes.size()) {
    result.problem =
        absl::StrCat("is ", compiler::DataTypeName(value.type),
                     compiler::ShapeToString(value.shape), ", expected ",
                     compiler::DataTypeName(expected.type),
                     compiler::ShapeToString(expected.shape));
    return result;
  }
  const double in_steps = tolerance.steps * step;
  const bool is_float = IsFloat(value.type);
  const bool tolerant = (is_float || in_steps > 0) && !tolerance.exact;
  const Tolerance by_type = DefaultTolerance(value.type);
  const double rtol = is_float ? tolerance.rtol.value_or(*by_type.rtol) : 0;
  const double range = tolerance.range.value_or(*by_type.range);
  const double atol = (is_float ? range * RangeOf(expected) : 0) + in_steps;
  const size_t each = compiler::ElementBytes(value.type);
  for (int64_t i = 0; i < value.count(); ++i) {
    const double have = ElementAsDouble(value, i);
    const double want = ElementAsDouble(expected, i);
    const double error = std::fabs(have - want);
    if (error > result.max_error) result.max_error = error;
    const bool same =
        tolerant ? Within(have, want, rtol, atol)
                 : std::memcmp(value.bytes.data() + i * each,
                               expected.bytes.data() + i * each, each) == 0;
    if (same) continue;
    if (result.differing++ == 0) {
      result.first = i;
      result.value = have;
      result.expected = want;
    }
  }
  result.equal = result.differing == 0;
  if (step > 0) result.max_steps = result.max_error / step;
  return result;
}

}  // namespace heddle::run
