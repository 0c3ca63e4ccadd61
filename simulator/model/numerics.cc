// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/numerics.h"

#include <cfenv>
#include <cmath>
#include <limits>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace heddle::model {
namespace {

constexpr int32_t kInvalid = std::numeric_limits<int32_t>::min();

// Shifts right by n (1 .. 63), rounding to nearest even.
uint64_t ShiftRne(uint64_t v, int n) {
  const uint64_t half = uint64_t{1} << (n - 1);
  const uint64_t rest = v & (half * 2 - 1);
  uint64_t q = v >> n;
  if (rest > half || (rest == half && (q & 1) != 0)) ++q;
  return q;
}

}  // namespace

#if defined(__x86_64__)
// All exceptions masked, nearest even, no flush to zero, no denormals-are-zero.
ScopedFpEnvironment::ScopedFpEnvironment() : saved_(_mm_getcsr()) {
  _mm_setcsr(0x1f80);
}
ScopedFpEnvironment::~ScopedFpEnvironment() { _mm_setcsr(saved_); }
#else
ScopedFpEnvironment::ScopedFpEnvironment()
    : saved_(static_cast<uint32_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
ScopedFpEnvironment::~ScopedFpEnvironment() {
  std::fesetround(static_cast<int>(saved_));
}
#endif

float FSqrt(float a) { return Canonical(std::sqrt(a)); }

// The C library chooses between the instruction and exact software at run time.
float Fma(float a, float b, float c) { return Canonical(std::fma(a, b, c)); }

int32_t Rne(float v) {
  if (!(v > -2147483648.0f && v < 2147483648.0f)) return kInvalid;
  const double d = v;
  int64_t i = static_cast<int64_t>(d);
  // Exact: |d| < 2^31 has at most 53 bits above its last.
  const double rest = d - static_cast<double>(i);
  if (rest > 0.5 || (rest == 0.5 && (i & 1) != 0)) ++i;
  if (rest < -0.5 || (rest == -0.5 && (i & 1) != 0)) --i;
  return static_cast<int32_t>(i);
}

int32_t Trunc(float v) {
  if (!(v > -2147483648.0f && v < 2147483648.0f)) return kInvalid;
  return static_cast<int32_t>(v);
}

float F16ToF32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  uint32_t mantissa = h & 0x3ffu;
  if (exponent == 31) {
    return FromBits(mantissa != 0 ? kNan : sign | 0x7f800000u);
  }
  if (exponent != 0) {
    return FromBits(sign | (exponent + 112) << 23 | mantissa << 13);
  }
  if (mantissa == 0) return FromBits(sign);
  // Subnormal: normalise.
  uint32_t e = 113;
  while ((mantissa & 0x400u) == 0) {
    mantissa <<= 1;
    --e;
  }
  return FromBits(sign | e << 23 | (mantissa & 0x3ffu) << 13);
}

float Bf16ToF32(uint16_t h) {
  return Canonical(FromBits(static_cast<uint32_t>(h) << 16));
}

uint16_t F32ToF16(float v) {
  const uint32_t b = Bits(v);
  const uint32_t sign = (b >> 16) & 0x8000u;
  const uint32_t magnitude = b & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return kNanF16;
  const int exponent = static_cast<int>(magnitude >> 23);
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  uint64_t r;
  if (exponent >= 143) {  // 2^16 and above
    r = 0x7c00u;
  } else if (exponent >= 113) {  // normal; a carry moves into the exponent
    r = ShiftRne(
        mantissa - 0x800000u + (static_cast<uint64_t>(exponent - 112) << 23),
        13);
  } else if (exponent >= 102) {  // subnormal: units of 2^-24
    r = ShiftRne(mantissa, 126 - exponent);
  } else {
    r = 0;
  }
  return static_cast<uint16_t>(sign | r);
}

uint16_t F32ToBf16(float v) {
  const uint32_t b = Bits(v);
  if ((b & 0x7fffffffu) > 0x7f800000u) return kNanBf16;
  return static_cast<uint16_t>(ShiftRne(b, 16));
}

}  // namespace heddle::model
