// SPDX-License-Identifier: Apache-2.0
//
// Operands for tests of binary32 units: the values at which such units go
// wrong, and random ones biased toward cancellation, ties, subnormal results
// and overflow. How many random ones: RandomCount().
#ifndef HEDDLE_RTL_TESTBENCH_FP_OPERANDS_H_
#define HEDDLE_RTL_TESTBENCH_FP_OPERANDS_H_

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "simulator/model/numerics.h"

namespace heddle::rtl {

// Operations per unit: HEDDLE_FP_ITERATIONS (the nightly targets), or `fast`.
inline uint64_t RandomCount(uint64_t fast) {
  const char* text = std::getenv("HEDDLE_FP_ITERATIONS");
  return text == nullptr ? fast : std::strtoull(text, nullptr, 10);
}

// Both signs of each: zeros, subnormals, powers of two and their neighbours,
// integers at the limits of types, largest values, infinities, NaNs.
inline const std::vector<uint32_t>& SpecialValues() {
  static const std::vector<uint32_t> values = [] {
    const uint32_t positive[] = {
        0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003fffff, 0x00400000,
        0x007ffffe, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000,
        0x0c000000, 0x0c800000, 0x1f800001, 0x20000000, 0x33000000, 0x33800000,
        0x34000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000,
        0x3f800001, 0x3fc00000, 0x3fffffff, 0x40000000, 0x40200000, 0x437f8000,
        0x43000000, 0x477fe000, 0x477ff000, 0x4affffff, 0x4b000000, 0x4b000001,
        0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0x5f000000, 0x7effffff,
        0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff,
        0x7fc00000, 0x7fffffff};
    std::vector<uint32_t> both;
    for (const uint32_t v : positive) {
      both.push_back(v);
      both.push_back(v | 0x80000000u);
    }
    return both;
  }();
  return values;
}

// splitmix64: fast, and the same everywhere.
class FpRandom {
 public:
  explicit FpRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>(((Next() >> 32) * n) >> 32);
  }

  // Any pattern; now and then a special value, or one of few significant bits
  // (whose sums and products tie).
  uint32_t Any() {
    const uint64_t r = Next();
    uint32_t v = static_cast<uint32_t>(r);
    switch ((r >> 32) & 15) {
      case 0:
        return SpecialValues()[(r >> 36) % SpecialValues().size()];
      case 1:
      case 2:
        return v & (0xffffffffu << ((r >> 36) % 24));
      case 3:  // long runs of ones
        return v | (0x7fffffu >> ((r >> 36) % 24));
      default:
        return v;
    }
  }
  // As Any, but with the given biased exponent (clipped to 0 .. 254).
  uint32_t WithExponent(int exponent) {
    const uint32_t e = static_cast<uint32_t>(exponent < 0     ? 0
                                             : exponent > 254 ? 254
                                                              : exponent);
    return (Any() & 0x807fffffu) | e << 23;
  }
  // Operands of a*b + c.
  void Triple(uint32_t* a, uint32_t* b, uint32_t* c) {
    const uint64_t r = Next();
    *a = Any();
    *b = Any();
    *c = Any();
    const int kind = static_cast<int>(r & 7);
    if (kind == 0) return;
    const int ea = static_cast<int>((r >> 8) % 255);
    // The product's exponent is ea + eb - 127.
    int product = static_cast<int>((r >> 16) % 256);
    if (kind <= 2)
      product = static_cast<int>((r >> 16) % 64) - 40;  // subnormal
    if (kind == 3)
      product = 240 + static_cast<int>((r >> 16) % 32);  // overflow
    *a = WithExponent(ea);
    *b = WithExponent(product + 127 - ea);
    if (kind <= 5) {
      *c = WithExponent(product - 30 + static_cast<int>((r >> 32) % 61));
    } else {  // cancellation: near -a*b
      using model::Bits;
      using model::FromBits;
      *c = Bits(FromBits(*a) * FromBits(*b)) ^ 0x80000000u;
      if (kind == 7) *c += static_cast<uint32_t>((r >> 40) % 5) - 2;
    }
  }
  // Operands of a + b or a / b.
  void Pair(uint32_t* a, uint32_t* b) {
    const uint64_t r = Next();
    *a = Any();
    *b = Any();
    switch (r & 3) {
      case 0:
        return;
      case 1:  // exponents close to each other
        *b = WithExponent(static_cast<int>((*a >> 23) & 0xff) - 26 +
                          static_cast<int>((r >> 8) % 53));
        return;
      case 2:  // almost equal, or almost opposite
        *b = *a ^ (static_cast<uint32_t>(r >> 8) & 0x80000000u);
        *b += static_cast<uint32_t>((r >> 40) % 9) - 4;
        return;
      default:  // small results and large ones
        *a = WithExponent(static_cast<int>((r >> 8) % 255));
        *b = WithExponent(static_cast<int>((r >> 8) % 255) +
                          ((r & 4) != 0 ? 127 : -127) - 26 +
                          static_cast<int>((r >> 16) % 53));
        return;
    }
  }

 private:
  uint64_t state_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_FP_OPERANDS_H_
