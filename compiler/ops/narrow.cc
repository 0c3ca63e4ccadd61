// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::compiler {
namespace {

struct Format {
  int exponent, mantissa;  // bits
  int bias;
  double largest;
  bool infinite;  // has infinities
  int nan;        // the positive NaN's code; -1: has none
  bool one_zero;  // the code of -0 is NaN
};

Format FormatOf(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3Fn:
      return {4, 3, 7, 448, false, 0x7f, false};
    case DataType::kFloat8E4M3FnUz:
      return {4, 3, 8, 240, false, 0x80, true};
    case DataType::kFloat8E5M2:
      return {5, 2, 15, 57344, true, 0x7f, false};
    case DataType::kFloat8E5M2FnUz:
      return {5, 2, 16, 57344, false, 0x80, true};
    default:
      return {2, 1, 1, 6, false, -1, false};
  }
}

// The code of a number that the format has.
uint8_t CodeOf(const Format& f, double magnitude) {
  if (magnitude == 0) return 0;
  const int least = 1 - f.bias;  // of normal numbers
  const int exponent = std::max(std::ilogb(magnitude), least);
  const auto fraction =
      static_cast<int>(std::ldexp(magnitude, f.mantissa - exponent));
  // A subnormal number's exponent field is that of the least, less its bit.
  return static_cast<uint8_t>(((exponent - least) << f.mantissa) + fraction);
}

}  // namespace

MovingOperator::MovingOperator(int since, int floats8,
                               void (*define)(const MovedTypes&)) {
  TypeSet types = kMovable;
  for (int next : {19, 21, 23, kMaxOpset + 1}) {
    const bool is_new = next != 19 || floats8 == 19;
    if (since < next && is_new) {
      define({since, next - 1, types});
      since = next;
    }
    if (next >= floats8) types |= kFloat8s;
    if (next >= 21) types |= kFourBitIntegers;
    if (next >= 23) types |= kFloat4s;
  }
}

float NarrowToF32(DataType type, uint8_t code) {
  const Format f = FormatOf(type);
  const int sign_bit = 1 << (f.exponent + f.mantissa);
  const bool negative = (code & sign_bit) != 0;
  const int magnitude = code & (sign_bit - 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (f.one_zero ? code == f.nan : magnitude == f.nan) return kNan;
  const int exponent = magnitude >> f.mantissa;
  const int fraction = magnitude & ((1 << f.mantissa) - 1);
  float value;
  if (f.infinite && exponent == (1 << f.exponent) - 1) {
    if (fraction != 0) return kNan;
    value = std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), 1 - f.bias - f.mantissa);
  } else {
    value = std::ldexp(static_cast<float>(fraction + (1 << f.mantissa)),
                       exponent - f.bias - f.mantissa);
  }
  return negative ? -value : value;
}

uint8_t F32ToNarrow(DataType type, float value, bool saturates) {
  const Format f = FormatOf(type);
  const int sign_bit = 1 << (f.exponent + f.mantissa);
  const int sign = std::signbit(value) ? sign_bit : 0;
  const auto nan = static_cast<uint8_t>(f.one_zero ? f.nan : sign | f.nan);
  if (std::isnan(value)) {
    return f.nan < 0 ? CodeOf(f, f.largest) : nan;
  }
  // In units of the last place, exactly.
  const double magnitude = std::fabs(static_cast<double>(value));
  double rounded = magnitude;
  if (std::isfinite(magnitude) && magnitude != 0) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
    const int unit = exponent - f.mantissa;
    rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit);
  }
  if (rounded > f.largest) {
    if (!saturates && f.nan >= 0) {
      if (!f.infinite) return nan;
      const int infinity = ((1 << f.exponent) - 1) << f.mantissa;
      return static_cast<uint8_t>(sign | infinity);
    }
    rounded = f.largest;
  }
  if (rounded == 0 && f.one_zero) return 0;
  return static_cast<uint8_t>(sign | CodeOf(f, rounded));
}

}  // namespace heddle::compiler
