// SPDX-License-Identifier: Apache-2.0
// The only definition in C++ of rounding, saturation and conversion (ISA.md,
// "Numbers"). Every function is exact: the same bits on every CPU.
//
// f32 values travel as float; Bits() and FromBits() go between the value and
// its pattern. Every operation that produces a NaN produces kNan. Arithmetic
// assumes the default floating-point environment (round to nearest even, no
// flush to zero): hold a ScopedFpEnvironment while computing.
#ifndef HEDDLE_SIMULATOR_MODEL_NUMERICS_H_
#define HEDDLE_SIMULATOR_MODEL_NUMERICS_H_

#include <cstdint>
#include <cstring>

namespace heddle::model {

// The one NaN that operations produce.
inline constexpr uint32_t kNan = 0x7fc00000u;
inline constexpr uint16_t kNanF16 = 0x7e00u;
inline constexpr uint16_t kNanBf16 = 0x7fc0u;

// Sets the default floating-point environment and restores the caller's, who
// may have asked for flush to zero or another rounding direction.
class ScopedFpEnvironment {
 public:
  ScopedFpEnvironment();
  ~ScopedFpEnvironment();
  ScopedFpEnvironment(const ScopedFpEnvironment&) = delete;
  ScopedFpEnvironment& operator=(const ScopedFpEnvironment&) = delete;

 private:
  uint32_t saved_;
};

inline uint32_t Bits(float value) {
  uint32_t pattern;
  std::memcpy(&pattern, &value, sizeof(pattern));
  return pattern;
}

inline float FromBits(uint32_t pattern) {
  float value;
  std::memcpy(&value, &pattern, sizeof(value));
  return value;
}

// A NaN becomes kNan, everything else stays.
inline float Canonical(float value) {
  return (Bits(value) & 0x7fffffffu) > 0x7f800000u ? FromBits(kNan) : value;
}

// ---- f32 arithmetic, one rounding each -----------------------------------

inline float FAdd(float a, float b) { return Canonical(a + b); }
inline float FSub(float a, float b) { return Canonical(a - b); }
inline float FMul(float a, float b) { return Canonical(a * b); }
inline float FDiv(float a, float b) { return Canonical(a / b); }
float FSqrt(float a);
// f32(a*b + c).
float Fma(float a, float b, float c);
// a < b ? a : b, and a > b ? a : b; kNan when one of them is a NaN.
inline float FMin(float a, float b) {
  return a != a || b != b ? FromBits(kNan) : a < b ? a : b;
}
inline float FMax(float a, float b) {
  return a != a || b != b ? FromBits(kNan) : a > b ? a : b;
}

// ---- Integers ---------------------------------------------------------------

inline int32_t WrapAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) +
                              static_cast<uint32_t>(b));
}
inline int32_t WrapSub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) -
                              static_cast<uint32_t>(b));
}
inline int32_t WrapMul(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) *
                              static_cast<uint32_t>(b));
}

inline int32_t Clamp(int32_t v, int32_t lo, int32_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}
// Saturates to int8 (is_signed) or uint8.
inline int32_t Sat8(int32_t v, bool is_signed) {
  return is_signed ? Clamp(v, -128, 127) : Clamp(v, 0, 255);
}
inline int32_t Sat16(int32_t v) { return Clamp(v, -32768, 32767); }

// ---- Between f32 and integers -----------------------------------------------

// Toward zero; NaN and |v| >= 2^31 give -2^31.
inline int32_t Trunc(float v) {
  const bool fits = FromBits(Bits(v) & 0x7fffffffu) < 2147483648.0f;
  const auto truncated = static_cast<int32_t>(fits ? v : 0.0f);
  return fits ? truncated : -0x7fffffff - 1;
}
// To nearest, ties to even; NaN and |v| >= 2^31 give -2^31. Without branches.
inline int32_t Rne(float v) {
  constexpr float kIntegers = 8388608.0f;  // from here on there are no others
  const float magnitude = FromBits(Bits(v) & 0x7fffffffu);
  const float rounded = (magnitude + kIntegers) - kIntegers;
  const float whole = magnitude < kIntegers ? rounded : magnitude;
  return Trunc(FromBits(Bits(whole) | (Bits(v) & 0x80000000u)));
}
// To nearest even.
inline float I32ToF32(int32_t v) { return static_cast<float>(v); }

// v within low to high, rounded; a NaN gives rne(low).
inline int32_t ClampRne(float v, float low, float high) {
  // AArch64's fmaxnm, which clang takes for `>` and `?`, takes a number rather
  // than a NaN only if the NaN is a quiet one.
  const float quiet = Canonical(v);
  return Rne(FMin(quiet > low ? quiet : low, high));
}
// Clamp, round, offset: rne(fmin(fmax(v, lo), hi)) + z. A NaN gives lo + z.
inline int32_t Cro(float v, int32_t lo, int32_t hi, int32_t z) {
  return WrapAdd(ClampRne(v, I32ToF32(lo), I32ToF32(hi)), z);
}
// Round, saturate: sat8(sat16(rne(v))).
inline int32_t Rso(float v, bool is_signed) {
  return Sat8(Sat16(Rne(v)), is_signed);
}

// ---- 16-bit floats -------------------------------------------------------
// Without branches, for loops that compute several at once.

// Exact; a NaN becomes kNan.
inline float F16ToF32(uint16_t h) {
  constexpr uint32_t kOne = 1u << 23;  // of an exponent
  const uint32_t sign = (h & 0x8000u) << 16;
  const uint32_t magnitude = (h & 0x7fffu) << 13;
  // With a bit in front that is taken away again, a subnormal is none.
  const uint32_t subnormal =
      Bits(FromBits(magnitude + 113 * kOne) - FromBits(113 * kOne));
  uint32_t b = magnitude < kOne ? subnormal : magnitude + 112 * kOne;
  b = magnitude >= 31 * kOne ? b + 112 * kOne : b;
  return FromBits(magnitude > 31 * kOne ? kNan : sign | b);
}
inline float Bf16ToF32(uint16_t h) {
  return Canonical(FromBits(static_cast<uint32_t>(h) << 16));
}
// To nearest even; overflow gives infinity, a NaN kNanF16 or kNanBf16.
inline uint16_t F32ToF16(float v) {
  const uint32_t b = Bits(v);
  const uint32_t sign = (b >> 16) & 0x8000u;
  const uint32_t magnitude = b & 0x7fffffffu;
  // A carry moves into the exponent.
  const uint32_t normal =
      ((magnitude + 0xfffu + ((magnitude >> 13) & 1)) >> 13) - (112u << 10);
  // The last place of numbers from a half on is that of subnormals.
  const uint32_t subnormal = Bits(FromBits(magnitude) + 0.5f) - Bits(0.5f);
  uint32_t r = magnitude < (113u << 23) ? subnormal : normal;
  r = magnitude >= (143u << 23) ? 0x7c00u : r;  // 2^16 and above
  return static_cast<uint16_t>(magnitude > 0x7f800000u ? kNanF16 : sign | r);
}
inline uint16_t F32ToBf16(float v) {
  const uint32_t b = Bits(v);
  const uint32_t rounded = (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((b & 0x7fffffffu) > 0x7f800000u ? kNanBf16
                                                               : rounded);
}

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_NUMERICS_H_
