// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/numerics.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace heddle::model {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr float kInf = std::numeric_limits<float>::infinity();

bool IsNan(uint32_t b) { return (b & 0x7fffffffu) > 0x7f800000u; }

// The value of a finite pattern as mantissa * 2^exponent.
struct Exact {
  bool negative;
  unsigned __int128 mantissa;
  int exponent;
};
Exact Split(uint32_t b) {
  const uint32_t e = (b >> 23) & 0xff;
  const uint32_t m = b & 0x7fffff;
  return {(b >> 31) != 0, e == 0 ? m : m | 0x800000,
          e == 0 ? -149 : int(e) - 150};
}

// Rounds a magnitude (with a sticky bit for what was cut) to a pattern: the
// witness, which shares nothing with the functions under test.
uint32_t RoundExact(bool negative, unsigned __int128 m, int e, bool sticky) {
  const uint32_t sign = negative ? 0x80000000u : 0;
  if (m == 0 && !sticky) return sign;
  bool guard = false;
  auto shift = [&] {
    sticky = sticky || guard;
    guard = (m & 1) != 0;
    m >>= 1;
    ++e;
  };
  while (m >= 0x1000000) shift();
  while (e < -149) {
    if (m == 0 && !guard) {
      e = -149;
      break;
    }
    shift();
  }
  if (!guard && !sticky) {
    while (m < 0x800000 && e > -149) {
      m <<= 1;
      --e;
    }
  } else {
    // Callers give enough bits for a normal result, or it is subnormal.
    if (e > -149 && m < 0x800000) ADD_FAILURE() << "witness lost bits";
    if (guard && (sticky || (m & 1) != 0)) ++m;
  }
  if (m >= 0x1000000) {
    m >>= 1;
    ++e;
  }
  const uint32_t mantissa = static_cast<uint32_t>(m);
  if (mantissa < 0x800000) return sign | mantissa;
  if (e + 150 >= 255) return sign | 0x7f800000u;
  return sign | static_cast<uint32_t>(e + 150) << 23 | (mantissa & 0x7fffff);
}

// f32(a*b + c) for finite operands, by 128-bit integers.
uint32_t WitnessFma(uint32_t a, uint32_t b, uint32_t c) {
  const Exact x = Split(a), y = Split(b), z = Split(c);
  Exact p = {x.negative != y.negative, x.mantissa * y.mantissa,
             x.exponent + y.exponent};
  Exact q = z;
  if (p.mantissa == 0 && q.mantissa == 0) {
    return p.negative && q.negative ? 0x80000000u : 0;
  }
  if (p.mantissa == 0) return c;
  if (q.mantissa == 0) {
    return RoundExact(p.negative, p.mantissa << 40, p.exponent - 40, false);
  }
  // Left-justify both (bit 120 is the top), then align the smaller one.
  auto top = [](Exact* v) {
    while ((v->mantissa >> 120) == 0) {
      v->mantissa <<= 1;
      --v->exponent;
    }
  };
  top(&p);
  top(&q);
  if (p.exponent < q.exponent ||
      (p.exponent == q.exponent && p.mantissa < q.mantissa)) {
    std::swap(p, q);
  }
  bool sticky = false;
  const int d = p.exponent - q.exponent;
  if (d >= 124) {
    sticky = true;
    q.mantissa = 0;
  } else if (d > 0) {
    sticky = (q.mantissa & ((static_cast<unsigned __int128>(1) << d) - 1)) != 0;
    q.mantissa >>= d;
  }
  if (p.negative == q.negative) {
    return RoundExact(p.negative, p.mantissa + q.mantissa, p.exponent, sticky);
  }
  unsigned __int128 m = p.mantissa - q.mantissa;
  if (sticky) --m;  // and a rest above it
  if (m == 0 && !sticky) return 0;
  return RoundExact(p.negative, m, p.exponent, sticky);
}

// Patterns that meet each other: random, close exponents, specials.
class Patterns {
 public:
  explicit Patterns(uint32_t seed) : random_(seed) {}
  uint32_t Any() {
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
        0x7f800001, 0x3f800000, 0xbf800000, 0x3f000000, 0x4b000000, 0x4b800001};
    const uint32_t r = random_();
    if (r % 8 == 0) return special[random_() % std::size(special)];
    if (r % 8 == 1) return random_();
    if (r % 8 == 2) return (random_() & 0x80ffffff);  // around subnormal
    return (random_() & 0x80000000u) | (110 + random_() % 36) << 23 |
           (r % 8 < 5 ? random_() & 0x7fffff : (random_() & 0x7f) << 16);
  }
  uint32_t Finite() {
    for (;;) {
      const uint32_t b = Any();
      if ((b & 0x7f800000u) != 0x7f800000u) return b;
    }
  }

 private:
  std::mt19937 random_;
};

TEST(Numerics, FmaIsRoundedOnce) {
  const ScopedFpEnvironment environment;
  Patterns patterns(1);
  for (int i = 0; i < 500000; ++i) {
    const uint32_t a = patterns.Finite(), b = patterns.Finite();
    uint32_t c = patterns.Finite();
    if (i % 4 == 0) c = Bits(-FromBits(a) * FromBits(b));  // cancellation
    if ((c & 0x7f800000u) == 0x7f800000u) continue;
    ASSERT_EQ(Bits(Fma(FromBits(a), FromBits(b), FromBits(c))),
              WitnessFma(a, b, c))
        << std::hex << a << " " << b << " " << c;
  }
}

TEST(Numerics, AddAndMultiplyAreFmaWithOneAndZero) {
  const ScopedFpEnvironment environment;
  Patterns patterns(2);
  const uint32_t one = 0x3f800000;
  for (int i = 0; i < 300000; ++i) {
    const uint32_t a = patterns.Finite(), b = patterns.Finite();
    const float fa = FromBits(a), fb = FromBits(b);
    ASSERT_EQ(Bits(FAdd(fa, fb)), WitnessFma(a, one, b));
    ASSERT_EQ(Bits(FSub(fa, fb)), WitnessFma(a, one, b ^ 0x80000000u));
    // Plus a zero of the product's sign keeps the sign of a zero product.
    ASSERT_EQ(Bits(FMul(fa, fb)), WitnessFma(a, b, (a ^ b) & 0x80000000u));
  }
}

TEST(Numerics, DivisionAndRootAreClosest) {
  const ScopedFpEnvironment environment;
  Patterns patterns(3);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t a = patterns.Finite(), b = patterns.Finite();
    const Exact x = Split(a), y = Split(b);
    if (y.mantissa != 0 && x.mantissa != 0) {
      const unsigned __int128 n = x.mantissa << 64;
      const uint32_t want =
          RoundExact(x.negative != y.negative, n / y.mantissa,
                     x.exponent - 64 - y.exponent, n % y.mantissa != 0);
      ASSERT_EQ(Bits(FDiv(FromBits(a), FromBits(b))), want);
    }
    if (x.mantissa == 0) continue;
    // The root r satisfies (r - u/2)^2 <= v <= (r + u/2)^2, exactly in 128
    // bits.
    const uint32_t v = a & 0x7fffffffu;
    const Exact e = Split(v);
    const Exact r = Split(Bits(FSqrt(FromBits(v))));
    const int shift = e.exponent - 2 * r.exponent + 2;
    ASSERT_GE(shift, 0);
    const unsigned __int128 scaled = e.mantissa << shift;
    const unsigned __int128 low = 2 * r.mantissa - 1, high = 2 * r.mantissa + 1;
    ASSERT_LE(low * low, scaled);
    ASSERT_LE(scaled, high * high);
  }
  EXPECT_EQ(Bits(FSqrt(-1.0f)), kNan);
  EXPECT_EQ(Bits(FSqrt(FromBits(0x80000000u))), 0x80000000u);
  EXPECT_EQ(Bits(FDiv(0, 0)), kNan);
  EXPECT_EQ(Bits(FDiv(1, FromBits(0x80000000u))), 0xff800000u);
}

TEST(Numerics, NanIsAlwaysTheSame) {
  const float nan = FromBits(0xffc12345u), signalling = FromBits(0x7f800001u);
  for (float n : {nan, signalling}) {
    EXPECT_EQ(Bits(FAdd(n, 1)), kNan);
    EXPECT_EQ(Bits(FSub(1, n)), kNan);
    EXPECT_EQ(Bits(FMul(n, 1)), kNan);
    EXPECT_EQ(Bits(FDiv(n, 1)), kNan);
    EXPECT_EQ(Bits(Fma(n, 1, 1)), kNan);
    EXPECT_EQ(Bits(Fma(1, 1, n)), kNan);
    EXPECT_EQ(Bits(FSqrt(n)), kNan);
    for (float other : {1.0f, kInf, -kInf, n}) {
      EXPECT_EQ(Bits(FMin(n, other)), kNan);
      EXPECT_EQ(Bits(FMax(n, other)), kNan);
      EXPECT_EQ(Bits(FMin(other, n)), kNan);
      EXPECT_EQ(Bits(FMax(other, n)), kNan);
    }
    // A code is always the lowest.
    EXPECT_EQ(Cro(n, -3, 252, 3), 0);
    EXPECT_EQ(Cro(n, -118, 137, -10), -128);
  }
  EXPECT_EQ(Bits(FAdd(kInf, -kInf)), kNan);
  EXPECT_EQ(Bits(FMul(kInf, 0)), kNan);
  EXPECT_EQ(Bits(Fma(kInf, 0, 1)), kNan);
  EXPECT_EQ(Bits(Fma(kInf, 1, -kInf)), kNan);
  // Neither zero is smaller.
  EXPECT_EQ(Bits(FMin(FromBits(0x80000000u), 0)), 0u);
  EXPECT_EQ(Bits(FMax(0, FromBits(0x80000000u))), 0x80000000u);
}

// Nearest integer, ties to even, by integer arithmetic on the pattern.
int32_t WitnessRne(uint32_t b, bool truncate) {
  if (IsNan(b)) return kMin;
  const Exact x = Split(b);
  if (x.exponent >= 8) return kMin;  // 2^31 and above (or -2^31 itself)
  int64_t i;
  if (x.exponent >= 0) {
    i = static_cast<int64_t>(x.mantissa << x.exponent);
  } else {
    const int s = -x.exponent;
    const int64_t m = static_cast<int64_t>(x.mantissa);
    i = s > 40 ? 0 : m >> s;
    const int64_t rest = s > 40 ? 0 : m - (i << s);
    const int64_t half = s > 40 ? 1 : int64_t{1} << (s - 1);
    if (!truncate && (rest > half || (rest == half && (i & 1) != 0))) ++i;
  }
  return static_cast<int32_t>(x.negative ? -i : i);
}

TEST(Numerics, RoundToInteger) {
  Patterns patterns(4);
  for (int i = 0; i < 1000000; ++i) {
    const uint32_t b = patterns.Any();
    ASSERT_EQ(Rne(FromBits(b)), WitnessRne(b, false)) << std::hex << b;
    ASSERT_EQ(Trunc(FromBits(b)), WitnessRne(b, true)) << std::hex << b;
  }
  for (int k = -100000; k <= 100000; ++k) {
    const float v = static_cast<float>(k) / 2;
    ASSERT_EQ(Rne(v), WitnessRne(Bits(v), false));
  }
  EXPECT_EQ(Rne(2147483648.0f), kMin);
  EXPECT_EQ(Rne(-2147483648.0f), kMin);
  EXPECT_EQ(Rne(2147483520.0f), 2147483520);
  EXPECT_EQ(Rne(kInf), kMin);
}

TEST(Numerics, IntegerToFloatRoundsToEven) {
  const ScopedFpEnvironment environment;
  EXPECT_EQ(I32ToF32(16777217), 16777216.0f);
  EXPECT_EQ(I32ToF32(16777219), 16777220.0f);
  EXPECT_EQ(I32ToF32(33554434), 33554432.0f);
  EXPECT_EQ(I32ToF32(33554438), 33554440.0f);
  std::mt19937 random(5);
  for (int i = 0; i < 300000; ++i) {
    const int32_t v = static_cast<int32_t>(random()) >> (random() % 16);
    const int64_t wide = v;
    ASSERT_EQ(Bits(I32ToF32(v)),
              RoundExact(v < 0, static_cast<uint64_t>(wide < 0 ? -wide : wide),
                         0, false));
  }
}

TEST(Numerics, EveryF16GoesThereAndBack) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const uint32_t e = (h >> 10) & 31, m = h & 0x3ff;
    const float f = F16ToF32(static_cast<uint16_t>(h));
    const float sign = (h & 0x8000) != 0 ? -1.0f : 1.0f;
    if (e == 31 && m != 0) {
      ASSERT_EQ(Bits(f), kNan);
      ASSERT_EQ(F32ToF16(f), kNanF16);
      continue;
    }
    const float want = e == 31  ? kInf
                       : e == 0 ? std::ldexp(static_cast<float>(m), -24)
                                : std::ldexp(static_cast<float>(m + 1024),
                                             static_cast<int>(e) - 25);
    ASSERT_EQ(Bits(f), Bits(sign * want)) << h;
    ASSERT_EQ(F32ToF16(f), h);
  }
}

TEST(Numerics, EveryBf16GoesThereAndBack) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float f = Bf16ToF32(static_cast<uint16_t>(h));
    if (IsNan(h << 16)) {
      ASSERT_EQ(Bits(f), kNan);
      ASSERT_EQ(F32ToBf16(f), kNanBf16);
    } else {
      ASSERT_EQ(Bits(f), h << 16);
      ASSERT_EQ(F32ToBf16(f), h);
    }
  }
}

// Between neighbours h and h+1: below the midpoint down, above up, on it even.
TEST(Numerics, HalvesRoundToNearestEven) {
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    const double low = F16ToF32(static_cast<uint16_t>(h));
    const double high = h == 0x7bff ? 65536.0 : F16ToF32(h + 1);
    const float middle = static_cast<float>((low + high) / 2);  // exact
    ASSERT_EQ(F32ToF16(middle), h + (h & 1)) << h;
    ASSERT_EQ(F32ToF16(FromBits(Bits(middle) - 1)), h);
    ASSERT_EQ(F32ToF16(FromBits(Bits(middle) + 1)), h + 1);
    ASSERT_EQ(F32ToF16(-middle), 0x8000 | (h + (h & 1)));
  }
  for (uint32_t h = 0; h < 0x7f80; ++h) {
    const uint32_t middle = h << 16 | 0x8000;
    ASSERT_EQ(F32ToBf16(FromBits(middle)), h + (h & 1));
    ASSERT_EQ(F32ToBf16(FromBits(middle - 1)), h);
    ASSERT_EQ(F32ToBf16(FromBits(middle + 1)), h + 1);
  }
  EXPECT_EQ(F32ToF16(3e38f), 0x7c00);
  EXPECT_EQ(F32ToF16(1e-30f), 0);
}

// reference/integer-semantics.md, section 4.
TEST(Numerics, WorkedEdgeCases) {
  const ScopedFpEnvironment environment;
  auto conv = [](int32_t acc, float m, int32_t z) {
    return Sat8(Cro(FMul(I32ToF32(acc), m), 0 - z, 255 - z, z), false);
  };
  EXPECT_EQ(conv(1, 0.5f, 0), 0);
  EXPECT_EQ(conv(3, 0.5f, 0), 2);
  EXPECT_EQ(conv(5, 0.5f, 0), 2);
  EXPECT_EQ(conv(1, 0.5f, 1), 1);
  EXPECT_EQ(conv(3, 0.5f, 1), 3);
  EXPECT_EQ(conv(5, 0.5f, 1), 3);
  auto mul = [](int32_t p, float r, float z) {
    return Rso(FAdd(FMul(I32ToF32(p), r), z), false);
  };
  EXPECT_EQ(mul(1, 0.5f, 0), 0);
  EXPECT_EQ(mul(1, 0.5f, 1), 2);
  EXPECT_EQ(conv(385989, FromBits(0x39140DF1), 0), 54);
  const int32_t wrapped = WrapAdd(2147483647, 255 * 127);
  EXPECT_LT(wrapped, 0);
  EXPECT_EQ(conv(wrapped, 0.001f, 3), 0);
  EXPECT_EQ(conv(1, 1e30f, 7), 255);
  // Add with a huge ratio: the conversion overflows to qmin.
  EXPECT_EQ(Rso(Fma(100, 1e9f, Fma(0, 1, 0)), false), 0);
  // The constant of an addition, with and without fma.
  const float ra = FDiv(0.21f, 0.34f), rb = FDiv(0.02f, 0.34f);
  const float k = FSub(24, Fma(ra, 131, FMul(rb, 32)));
  EXPECT_EQ(Bits(k), Bits(-58.794113f));
  EXPECT_EQ(Rso(Fma(72, ra, Fma(252, rb, k)), false), 1);
  const float k2 = FSub(24, FAdd(FMul(ra, 131), FMul(rb, 32)));
  EXPECT_EQ(Rso(Fma(72, ra, Fma(252, rb, k2)), false), 0);
  // Average pooling in f32.
  float t = 0;
  for (int q : {137, 200, 237, 164})
    t = FAdd(t, FMul(I32ToF32(q - 7), .6015625f));
  EXPECT_EQ(Rso(FAdd(FDiv(FDiv(t, 4), .5546875f), 9), false), 202);
  // Quantise: NaN, infinities and ties.
  EXPECT_EQ(Cro(FromBits(kNan), -5, 250, 5), 0);
  EXPECT_EQ(Cro(kInf, -5, 250, 5), 255);
  EXPECT_EQ(Cro(-kInf, -5, 250, 5), 0);
  EXPECT_EQ(Cro(0.5f, 0, 255, 0), 0);
  EXPECT_EQ(Cro(1.5f, 0, 255, 0), 2);
  EXPECT_EQ(Cro(2.5f, 0, 255, 0), 2);
}

TEST(Numerics, CallersEnvironmentDoesNotMatter) {
#if defined(__x86_64__)
  const unsigned saved = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(
      0xffc0);  // truncate, flush to zero, denormals are zero
  {
    const ScopedFpEnvironment environment;
    volatile float tiny = FromBits(3), third = 1.0f;
    EXPECT_EQ(Bits(FMul(tiny, 1)), 3u);
    EXPECT_EQ(Bits(FDiv(third, 3)), 0x3eaaaaabu);
  }
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0xffc0u, 0xffc0u);
  __builtin_ia32_ldmxcsr(saved);
#else
  GTEST_SKIP() << "only the rounding direction is settable here";
#endif
}

}  // namespace
}  // namespace heddle::model
