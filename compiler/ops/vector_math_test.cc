// SPDX-License-Identifier: Apache-2.0
// Every function against the double function of the C library, over floats of
// all magnitudes: every 1021st pattern (odd, so that all mantissas' low bits
// occur), the neighbourhood of 0, 1 and the bounds, and all special values.
#include "compiler/ops/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using model::Bits;
using model::FromBits;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = FromBits(0x7fc00000u);

// The distance of `actual` from `exact` in ulp of the float nearest to it (of
// subnormal numbers: in steps of the format). Infinite where class differs.
double UlpError(float actual, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(nearest)) return Bits(actual) == 0x7fc00000u ? 0 : INFINITY;
  if (std::isinf(nearest)) {
    return actual == nearest ? 0
           : std::isfinite(actual) &&
                   std::signbit(actual) == std::signbit(nearest) &&
                   std::fabs(actual) >= std::numeric_limits<float>::max()
               ? 1
               : INFINITY;
  }
  if (std::isinf(actual)) {
    return std::fabs(nearest) == std::numeric_limits<float>::max() &&
                   std::signbit(actual) == std::signbit(nearest)
               ? 1
               : INFINITY;
  }
  if (std::isnan(actual)) return INFINITY;
  if (nearest == 0 && actual == 0) {
    return std::signbit(actual) == std::signbit(nearest) ? 0 : INFINITY;
  }
  int exponent;
  std::frexp(nearest, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(actual - exact) / ulp;
}

std::vector<uint32_t> Samples() {
  std::vector<uint32_t> x;
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 1021) {
    x.push_back(static_cast<uint32_t>(i));
  }
  for (float center :
       {0.0f, 1.0f / 3, 0.625f, 0.925f, 1.0f, 4.0f / 3, 2.0f, 10.0f, 89.0f,
        88.7228f, 104.0f, 103.28f, 87.3366f, kInf, 1.17549435e-38f}) {
    for (int d = -2000; d <= 2000; ++d) {
      x.push_back(Bits(center) + d);
      x.push_back((Bits(center) + d) ^ 0x80000000u);
    }
  }
  return x;
}

std::vector<float> Compute(const Microprogram& program,
                           const std::vector<uint32_t>& a,
                           const std::vector<uint32_t>& b = {}) {
  std::vector<uint32_t> out(a.size());
  const HostStream second = {b.empty() ? nullptr : b.data(), false};
  EXPECT_EQ(Evaluate(program, {}, {HostStream{a.data(), false}, second, {}},
                     static_cast<int64_t>(a.size()), out.data()),
            absl::OkStatus());
  std::vector<float> values(out.size());
  for (size_t i = 0; i < out.size(); ++i) values[i] = FromBits(out[i]);
  return values;
}

Microprogram Unary(Term (*function)(ProgramBuilder*, Term)) {
  ProgramBuilder b;
  b.Out(function(&b, b.A()));
  auto program = b.Finish();
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : Microprogram();
}

struct Case {
  const char* name;
  Term (*function)(ProgramBuilder*, Term);
  double (*exact)(double);
  double limit;  // ulp, measured and rounded up
  double low = -INFINITY, high = INFINITY;
};

double SoftplusOf(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

const Case kCases[] = {
    {"Exp", Exp, std::exp, 1.1},
    {"Expm1NonPositive", Expm1NonPositive, std::expm1, 1.0, -INFINITY, 0},
    {"Log", Log, std::log, 0.9},
    {"Log1pUnit", Log1pUnit, std::log1p, 1.6, 0, 1},
    {"Tanh", Tanh, std::tanh, 1.2},
    {"Erf", Erf, std::erf, 1.1},
    {"Softplus", Softplus, SoftplusOf, 1.7},
    {"Floor", Floor, std::floor, 0},
    {"Ceil", Ceil, std::ceil, 0},
    {"RoundEven", RoundEven, std::nearbyint, 0},
};

class VectorMath : public ::testing::TestWithParam<Case> {};

TEST_P(VectorMath, StaysWithinItsError) {
  const Case& c = GetParam();
  const Microprogram program = Unary(c.function);
  ASSERT_FALSE(program.body.empty());
  RecordProperty("instructions", static_cast<int>(program.body.size()));
  double worst = 0;
  float at = 0, got = 0;
  const std::vector<uint32_t> x = Samples();
  const std::vector<float> y = Compute(program, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = FromBits(x[i]);
    if (v < c.low || v > c.high) continue;
    // A function that picks its argument keeps a NaN's bits.
    if (std::isnan(v)) {
      if (!std::isnan(y[i])) worst = INFINITY, at = v, got = y[i];
      continue;
    }
    // Helpers for one side of 0 give +0 for either zero.
    if (v == 0 && (c.low == 0 || c.high == 0)) {
      EXPECT_EQ(y[i], 0);
      continue;
    }
    const double error = UlpError(y[i], c.exact(v));
    if (error > worst) worst = error, at = v, got = y[i];
  }
  EXPECT_LE(worst, c.limit) << c.name << "(" << at << ") gives " << got
                            << ", exactly " << c.exact(at);
  std::printf("%s: %.3f ulp, %zu instructions\n", c.name, worst,
              program.body.size());
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMath, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(VectorMathTest, PowOfTwoFloats) {
  ProgramBuilder b;
  b.Out(Pow(&b, b.A(), b.B()));
  auto program = b.Finish();
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<uint32_t> x, y;
  const float special[] = {
      0.0f,           -0.0f,        1.0f,    -1.0f,
      0.5f,           -0.5f,        2.0f,    -2.0f,
      3.0f,           -3.0f,        kInf,    -kInf,
      kNaN,           1e-40f,       -1e-40f, 1e30f,
      -1e30f,         1.5f,         -1.5f,   0x1p23f,
      0x1.000002p23f, 0x1p24f,      0x1p31f, -0x1.000002p23f,
      0x1.fffffep-1f, 0x1.000002p0f};
  for (float u : special) {
    for (float v : special) x.push_back(Bits(u)), y.push_back(Bits(v));
  }
  std::mt19937_64 random(7);
  auto real = [&] {
    return static_cast<double>(random() >> 11) / 9007199254740992.0;
  };
  for (int i = 0; i < 4000000; ++i) {
    if (i % 4 == 0) {  // any two floats
      x.push_back(static_cast<uint32_t>(random()));
      y.push_back(static_cast<uint32_t>(random()));
      continue;
    }
    // Results over the whole range of exponents.
    const double e = -152 + 282 * real();
    const double base = i % 4 == 1 ? std::exp2(-1 + 2 * real())
                                   : std::exp2(-149 + 277 * real());
    x.push_back(Bits(static_cast<float>(base)));
    y.push_back(Bits(static_cast<float>(e / std::log2(base))));
    if (i % 8 == 3) {  // small integers
      x.back() = Bits(static_cast<float>(40 * real() - 20));
      y.back() = Bits(std::round(static_cast<float>(16 * real() - 8)));
    }
  }
  const std::vector<float> z = Compute(*program, x, y);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::pow(static_cast<double>(FromBits(x[i])),
                                  static_cast<double>(FromBits(y[i])));
    const double error = UlpError(z[i], exact);
    if (error > worst) worst = error, at = i;
  }
  EXPECT_LE(worst, 1.5) << FromBits(x[at]) << " ^ " << FromBits(y[at])
                        << " gives " << z[at];
  std::printf("Pow: %.3f ulp, %zu instructions\n", worst, program->body.size());
}

// The function as it was first written, with which tables of quantized graphs
// are made.
float SigmoidReference(float v) {
  constexpr float kP[] = {4.37031012579801e-11f, 1.15627324459942e-07f,
                          6.08574864600143e-05f, 8.51377133304701e-03f,
                          2.48287947061529e-01f};
  constexpr float kQ[] = {6.10247389755681e-13f, 5.76102136993427e-09f,
                          6.29106785017040e-06f, 1.70198817374094e-03f,
                          1.16817656904453e-01f, 9.93151921023180e-01f};
  const float x = model::FMin(model::FMax(v, -18.0f), 18.0f);
  const float u = model::FMul(x, x);
  float p = kP[0];
  for (int i = 1; i < 5; ++i) p = model::Fma(p, u, kP[i]);
  p = model::FMul(p, x);
  float q = kQ[0];
  for (int i = 1; i < 6; ++i) q = model::Fma(q, u, kQ[i]);
  return model::FMax(model::FAdd(model::FDiv(p, q), 0.5f), 0.0f);
}

TEST(VectorMathTest, SigmoidHasTheBitsOfItsFormula) {
  std::vector<uint32_t> x;
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 1021) {
    x.push_back(static_cast<uint32_t>(i));
  }
  const std::vector<float> y = Compute(Unary(Sigmoid), x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(Bits(y[i]), Bits(SigmoidReference(FromBits(x[i]))))
        << FromBits(x[i]);
  }
}

TEST(VectorMathTest, SignsAndMagnitudes) {
  const std::vector<uint32_t> x = {Bits(-0.0f), Bits(0.0f),    Bits(-3.0f),
                                   Bits(kInf),  Bits(-1e-45f), Bits(kNaN)};
  const std::vector<float> abs = Compute(Unary(Abs), x),
                           neg = Compute(Unary(Neg), x),
                           sign = Compute(Unary(Sign), x);
  const float abs_of[] = {0, 0, 3, kInf, 1e-45f};
  const float sign_of[] = {-0.0f, 0, -1, 1, -1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Bits(abs[i]), Bits(abs_of[i])) << i;
    EXPECT_EQ(Bits(neg[i]), x[i] ^ 0x80000000u) << i;
    EXPECT_EQ(Bits(sign[i]), Bits(sign_of[i])) << i;
  }
  EXPECT_TRUE(std::isnan(abs[5]) && std::isnan(neg[5]) && std::isnan(sign[5]));
}

}  // namespace
}  // namespace heddle::compiler
