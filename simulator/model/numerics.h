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

// To nearest, ties to even; NaN and |v| >= 2^31 give -2^31.
int32_t Rne(float v);
// Toward zero; NaN and out of range give -2^31.
int32_t Trunc(float v);
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

// ---- 16-bit floats
// -------------------------------------------------------------

// Exact; a NaN becomes kNan.
float F16ToF32(uint16_t h);
float Bf16ToF32(uint16_t h);
// To nearest even; overflow gives infinity, a NaN kNanF16 or kNanBf16.
uint16_t F32ToF16(float v);
uint16_t F32ToBf16(float v);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_NUMERICS_H_
