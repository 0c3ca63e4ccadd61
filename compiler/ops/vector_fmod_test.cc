// SPDX-License-Identifier: Apache-2.0
// The remainder of floats has the bits of C's, over pairs of all exponents and
// of those of special values.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "compiler/ops/vector_math.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using model::Bits;
using model::FromBits;

std::vector<uint32_t> Fmod(const std::vector<uint32_t>& x,
                           const std::vector<uint32_t>& y) {
  ProgramBuilder first, rest;
  first.Out(FmodFirst(&first, first.A(), first.B()));
  rest.Out(FmodRest(&rest, rest.A(), rest.B(), rest.C()));
  const auto first_program = first.Finish(), rest_program = rest.Finish();
  EXPECT_TRUE(first_program.ok()) << first_program.status();
  EXPECT_TRUE(rest_program.ok()) << rest_program.status();
  if (!first_program.ok() || !rest_program.ok()) return {};
  const auto count = static_cast<int64_t>(x.size());
  std::vector<uint32_t> left(x.size()), out(x.size());
  const HostStream a{x.data(), false}, b{y.data(), false};
  EXPECT_EQ(Evaluate(*first_program, {}, {a, b, {}}, count, left.data()),
            absl::OkStatus());
  EXPECT_EQ(Evaluate(*rest_program, {}, {HostStream{left.data(), false}, a, b},
                     count, out.data()),
            absl::OkStatus());
  return out;
}

void ExpectExact(const std::vector<uint32_t>& x,
                 const std::vector<uint32_t>& y) {
  const auto out = Fmod(x, y);
  ASSERT_EQ(out.size(), x.size());
  int wrong = 0;
  for (size_t i = 0; i < x.size() && wrong < 5; ++i) {
    const float exact = std::fmod(FromBits(x[i]), FromBits(y[i]));
    const uint32_t bits = exact != exact ? 0x7fc00000 : Bits(exact);
    wrong += out[i] != bits;
    EXPECT_EQ(out[i], bits)
        << std::hexfloat << FromBits(x[i]) << " mod " << FromBits(y[i])
        << " is " << exact << ", not " << FromBits(out[i]);
  }
}

TEST(VectorFmodTest, SpecialValues) {
  std::vector<uint32_t> values;
  for (uint32_t bits :
       {0u, 1u, 2u, 0x7fffffu, 0x800000u, 0x800001u, 0x3f800000u, 0x3f800001u,
        0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x4b000000u,
        0x4b7fffffu, 0x00400000u, 0x40490fdbu}) {
    values.push_back(bits);
    values.push_back(bits | 0x80000000u);
  }
  std::vector<uint32_t> x, y;
  for (uint32_t a : values) {
    for (uint32_t b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  ExpectExact(x, y);
}

TEST(VectorFmodTest, EveryPairOfExponents) {
  std::mt19937 random(1);
  std::vector<uint32_t> x, y;
  for (uint32_t a = 0; a < 512; ++a) {
    for (uint32_t b = 0; b < 256; ++b) {
      x.push_back(a << 23 | (random() & 0x7fffff));
      // Few bits and many: multiples, and quotients next to them.
      const uint32_t mask = random() % 2 ? 0x7fffff : 0x7c0000;
      y.push_back(b << 23 | (random() & mask));
    }
  }
  ExpectExact(x, y);
}

// Where a quotient is next to a whole number the division may round up.
TEST(VectorFmodTest, NextToMultiples) {
  std::mt19937 random(2);
  std::vector<uint32_t> x, y;
  for (int i = 0; i < 100000; ++i) {
    const float d = FromBits(0x3f800000u | (random() & 0x7fffff));
    const float multiple = d * static_cast<float>(1 + random() % 0x7fffff);
    x.push_back(Bits(multiple) + random() % 5 - 2);
    y.push_back(Bits(d));
  }
  ExpectExact(x, y);
}

}  // namespace
}  // namespace heddle::compiler
