// SPDX-License-Identifier: Apache-2.0
// Trigonometric and hyperbolic functions against the C library's of long
// double: the error of every --step-th float of all 2^32 (odd, so that all low
// bits occur), of the neighbourhood of where methods change, and of special
// values. `./dev nightly trigonometry` takes every float.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ops/vector_math.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using model::Bits;
using model::FromBits;

uint64_t step = 4093;

constexpr float kInf = std::numeric_limits<float>::infinity();

// The distance of `actual` from `exact` in ulp of the float nearest to it (of
// subnormal numbers: in steps of the format). Infinite where class or the sign
// of a zero differ.
double UlpError(float actual, long double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(nearest)) return Bits(actual) == 0x7fc00000u ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(actual)) {
    // The largest finite number is next to infinity.
    const float largest = std::numeric_limits<float>::max();
    const float a = std::max(-largest, std::min(largest, actual));
    const float b = std::max(-largest, std::min(largest, nearest));
    return actual == nearest ? 0 : a == b ? 1 : INFINITY;
  }
  if (std::isnan(actual)) return INFINITY;
  if (nearest == 0 && actual == 0) {
    return std::signbit(actual) == std::signbit(nearest) ? 0 : INFINITY;
  }
  int exponent;
  std::frexp(nearest, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return static_cast<double>(std::fabs(actual - exact)) / ulp;
}

struct Case {
  const char* name;
  Term (*function)(ProgramBuilder*, Term);
  long double (*exact)(long double);
  double limit;  // ulp, as vector_math.h states
};

const Case kCases[] = {
    {"Sin", Sin, sinl, 2},       {"Cos", Cos, cosl, 2},
    {"Tan", Tan, tanl, 4},       {"Asin", Asin, asinl, 2},
    {"Acos", Acos, acosl, 2},    {"Atan", Atan, atanl, 2},
    {"Sinh", Sinh, sinhl, 2},    {"Cosh", Cosh, coshl, 2},
    {"Asinh", Asinh, asinhl, 2}, {"Acosh", Acosh, acoshl, 2},
    {"Atanh", Atanh, atanhl, 2},
};

class Trigonometry : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    ProgramBuilder b;
    b.Out(GetParam().function(&b, b.Op(isa::MicroOp::kMov, b.A())));
    auto program = b.Finish();
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *program;
  }

  void Measure(const std::vector<uint32_t>& x) {
    std::vector<uint32_t> out(x.size());
    ASSERT_EQ(Evaluate(program_, {}, {HostStream{x.data(), false}, {}, {}},
                       static_cast<int64_t>(x.size()), out.data()),
              absl::OkStatus());
    for (size_t i = 0; i < x.size(); ++i) {
      const float v = FromBits(x[i]), y = FromBits(out[i]);
      if (std::isnan(v)) {
        // A function that picks its argument keeps a NaN's bits.
        if (!std::isnan(y)) worst_ = INFINITY, at_ = v;
        continue;
      }
      const double error = UlpError(y, GetParam().exact(v));
      if (error > worst_) worst_ = error, at_ = v;
    }
  }

  Microprogram program_;
  double worst_ = 0;
  float at_ = 0;
};

TEST_P(Trigonometry, StaysWithinItsError) {
  std::vector<uint32_t> x;
  for (float center :
       {0.0f, 0x1p-126f, 0.5f, 0.785398f, 1.0f, 1.5707964f, 2.0f, 3.1415927f,
        88.0f, 89.4159f, 90.0f, 4096.0f, 0x1p17f, 0x1p24f, 0x1p64f, kInf}) {
    for (int d = -2000; d <= 2000; ++d) {
      const auto bits = Bits(center) + static_cast<uint32_t>(d);
      x.push_back(bits);
      x.push_back(bits ^ 0x80000000u);
    }
  }
  // Of all floats this comes nearest to a multiple of pi/2.
  x.push_back(Bits(0x1.f37c8ap+95f));
  Measure(x);
  constexpr size_t kBlock = 1 << 20;
  x.clear();
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += step) {
    x.push_back(static_cast<uint32_t>(i));
    if (x.size() < kBlock) continue;
    Measure(x);
    x.clear();
  }
  Measure(x);
  std::printf("%s: %.3f ulp at %a, %zu instructions\n", GetParam().name, worst_,
              at_, program_.body.size());
  EXPECT_LE(worst_, GetParam().limit) << "at " << at_;
}

INSTANTIATE_TEST_SUITE_P(Functions, Trigonometry, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr char kStep[] = "--step=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kStep, std::strlen(kStep)) == 0) {
      heddle::compiler::step =
          std::strtoull(argv[i] + std::strlen(kStep), nullptr, 10);
    }
  }
  if (heddle::compiler::step == 0) return 2;
  return RUN_ALL_TESTS();
}
