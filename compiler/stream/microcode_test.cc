// SPDX-License-Identifier: Apache-2.0
// Every microprogram on the functional model against plain C++, on values that
// include NaN, infinities, signed zeros, subnormals, ties and extremes.
#include "compiler/stream/microcode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/testing/command_bench.h"

namespace heddle::compiler {
namespace {

using isa::ElementType;
using isa::MicroOp;

constexpr uint32_t kProgramAt = 0, kA = 0x10000, kB = 0x20000, kC = 0x30000,
                   kD = 0x40000;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

uint32_t Bits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return bits;
}
// Results that are NaN are the canonical one.
uint32_t Result(float v) { return std::isnan(v) ? 0x7fc00000u : Bits(v); }
float FMax(float a, float b) {
  return std::isnan(a) || std::isnan(b) ? kNan : a > b ? a : b;
}
float FMin(float a, float b) {
  return std::isnan(a) || std::isnan(b) ? kNan : a < b ? a : b;
}
// QuantizeLinear's code of v = x / scale; a NaN gives `low`.
int32_t Code(float v, int low, int high, int zero) {
  if (std::isnan(v)) return low;
  v = FMin(FMax(v, static_cast<float>(low - zero)),
           static_cast<float>(high - zero));
  return static_cast<int32_t>(std::nearbyint(v)) + zero;
}
int32_t Rne(float v) {
  if (!(std::fabs(v) < 2147483648.0f)) return INT32_MIN;
  return static_cast<int32_t>(std::nearbyint(v));
}
int32_t Saturate(int32_t v, ElementType type) {
  if (type == ElementType::kU8) return std::min(std::max(v, 0), 255);
  if (type == ElementType::kS8) return std::min(std::max(v, -128), 127);
  return v;
}

// Every pair of these meets.
const std::vector<float>& Reals() {
  static const auto* values = new std::vector<float>{
      0.0f,          -0.0f,         1.0f,           -1.0f,   0.5f,
      1.5f,          2.5f,          -0.5f,          -2.5f,   kInf,
      -kInf,         kNan,          1e-40f,         -1e-45f, 3e38f,
      -3e38f,        127.5f,        255.5f,         -128.5f, 1e9f,
      2147483520.0f, 2147483648.0f, -2147483648.0f, 0.1f,    -7.3f};
  return *values;
}
const std::vector<int32_t>& Integers() {
  static const auto* values = new std::vector<int32_t>{0,
                                                       1,
                                                       -1,
                                                       2,
                                                       127,
                                                       128,
                                                       -128,
                                                       -129,
                                                       255,
                                                       256,
                                                       32767,
                                                       32768,
                                                       -32769,
                                                       65535,
                                                       INT32_MAX,
                                                       INT32_MIN,
                                                       1 << 24,
                                                       (1 << 24) + 1,
                                                       -((1 << 25) + 3),
                                                       1000003};
  return *values;
}

// Runs `program` over all pairs (a, b) of 32-bit patterns with c = third.
std::vector<uint32_t> RunPairs(const Microprogram& program,
                               const std::vector<uint32_t>& a,
                               const std::vector<uint32_t>& b,
                               const std::vector<uint32_t>& c,
                               const std::array<uint32_t, 4>& arguments,
                               ElementType out) {
  CommandBench bench;
  bench.Load(program, kProgramAt);
  bench.Put(kA, a);
  bench.Put(kB, b);
  bench.Put(kC, c);
  isa::Vrun run = bench.emitter()->Run(program);
  run.arg0 = arguments[0];
  run.arg1 = arguments[1];
  run.arg2 = arguments[2];
  run.arg3 = arguments[3];
  run.lanes = a.size();
  run.enable_a = run.enable_b = run.enable_c = true;
  run.store = isa::StoreMode::kBody;
  auto stream = [](uint32_t base, ElementType type, int32_t step) {
    isa::Stream s;
    s.base = base;
    s.type = type;
    s.lane_stride = step;
    return s;
  };
  run.SetA(stream(kA, ElementType::kS32, 4));
  run.SetB(stream(kB, ElementType::kS32, 4));
  run.SetC(stream(kC, ElementType::kS32, 4));
  const bool narrow = out == ElementType::kU8 || out == ElementType::kS8;
  run.SetD(stream(kD, out, narrow ? 1 : 4));
  bench.emitter()->Append(run);
  EXPECT_EQ(bench.Run(), "");
  if (!narrow) return bench.Get<uint32_t>(kD, a.size());
  std::vector<uint32_t> result;
  for (uint8_t code : bench.Get<uint8_t>(kD, a.size())) {
    result.push_back(out == ElementType::kS8 ? static_cast<int8_t>(code)
                                             : code);
  }
  return result;
}

struct Case {
  std::vector<uint32_t> a, b, c;
};
Case RealPairs() {
  Case x;
  for (float a : Reals()) {
    for (float b : Reals()) {
      x.a.push_back(Bits(a));
      x.b.push_back(Bits(b));
      x.c.push_back(static_cast<uint32_t>(x.c.size() % 256));
    }
  }
  return x;
}
Case IntegerPairs() {
  Case x;
  for (int32_t a : Integers()) {
    for (int32_t b : Integers()) {
      x.a.push_back(a);
      x.b.push_back(b);
      x.c.push_back(b);
    }
  }
  return x;
}
float Real(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof(v));
  return v;
}

void Expect(const Microprogram& program, const Case& x,
            const std::array<uint32_t, 4>& arguments, ElementType out,
            const std::function<uint32_t(size_t)>& expected) {
  const auto got = RunPairs(program, x.a, x.b, x.c, arguments, out);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], expected(i))
        << "element " << i << ": a " << x.a[i] << " (" << Real(x.a[i])
        << "), b " << x.b[i] << " (" << Real(x.b[i]) << ")";
  }
}

TEST(Microcode, CopyKeepsBits) {
  Case x = RealPairs();
  x.a[0] = 0xffc12345u;  // the payload of a NaN
  Expect(CopyProgram(), x, {}, ElementType::kF32,
         [&](size_t i) { return x.a[i]; });
}

TEST(Microcode, Binary) {
  const Case x = RealPairs();
  const std::pair<MicroOp, float (*)(float, float)> ops[] = {
      {MicroOp::kFadd, [](float a, float b) { return a + b; }},
      {MicroOp::kFsub, [](float a, float b) { return a - b; }},
      {MicroOp::kFmul, [](float a, float b) { return a * b; }},
      {MicroOp::kFdiv, [](float a, float b) { return a / b; }}};
  for (const auto& entry : ops) {
    const auto op = entry.first;
    const auto f = entry.second;
    for (bool swap : {false, true}) {
      Expect(BinaryProgram(op, swap), x, {}, ElementType::kF32, [&](size_t i) {
        const float a = Real(x.a[i]), b = Real(x.b[i]);
        return Result(swap ? f(b, a) : f(a, b));
      });
    }
  }
}

TEST(Microcode, IntegersWrap) {
  const Case x = IntegerPairs();
  const std::pair<MicroOp, uint32_t (*)(uint32_t, uint32_t)> ops[] = {
      {MicroOp::kIadd, [](uint32_t a, uint32_t b) { return a + b; }},
      {MicroOp::kIsub, [](uint32_t a, uint32_t b) { return a - b; }},
      {MicroOp::kImul, [](uint32_t a, uint32_t b) { return a * b; }}};
  for (const auto& entry : ops) {
    const auto op = entry.first;
    const auto f = entry.second;
    Expect(IntegerProgram(op, ElementType::kS32), x, {}, ElementType::kS32,
           [&](size_t i) { return f(x.a[i], x.b[i]); });
    Expect(IntegerProgram(op, ElementType::kU8), x, {}, ElementType::kU8,
           [&](size_t i) { return f(x.a[i], x.b[i]) & 0xff; });
    Expect(IntegerProgram(op, ElementType::kS8), x, {}, ElementType::kS8,
           [&](size_t i) -> uint32_t {
             return static_cast<int8_t>(f(x.a[i], x.b[i]));
           });
    Expect(IntegerProgram(op, ElementType::kS16), x, {}, ElementType::kS32,
           [&](size_t i) -> uint32_t {
             return static_cast<int16_t>(f(x.a[i], x.b[i]));
           });
  }
}

TEST(Microcode, ReluAndClamps) {
  const Case x = RealPairs();
  Expect(ReluProgram(), x, {}, ElementType::kF32,
         [&](size_t i) { return Result(FMax(Real(x.a[i]), 0.0f)); });
  Expect(ClampProgram(), x, {Bits(-1.5f), Bits(100.0f), 0, 0},
         ElementType::kF32, [&](size_t i) {
           return Result(FMin(FMax(Real(x.a[i]), -1.5f), 100.0f));
         });
  const Case n = IntegerPairs();
  Expect(IntegerClampProgram(), n, {static_cast<uint32_t>(-200), 40000, 0, 0},
         ElementType::kS32, [&](size_t i) -> uint32_t {
           return std::min(std::max<int32_t>(n.a[i], -200), 40000);
         });
}

TEST(Microcode, Quantize) {
  const Case x = RealPairs();
  const Case n = IntegerPairs();
  for (ElementType type : {ElementType::kU8, ElementType::kS8}) {
    const int low = type == ElementType::kU8 ? 0 : -128, high = low + 255;
    for (int z : {low, 3, high}) {
      for (float scale : {1.0f, 0.3f, 1e-30f, 2.0f}) {
        auto code = [&](float v) -> uint32_t {
          return Code(v / scale, low, high, z);
        };
        const std::array<uint32_t, 4> arguments = {
            Bits(scale), static_cast<uint32_t>(low - z), Bits(high - z),
            static_cast<uint32_t>(z)};
        Expect(QuantizeProgram(), x, arguments, type,
               [&](size_t i) { return code(Real(x.a[i])); });
        Expect(QuantizeProgram(true), n, arguments, type, [&](size_t i) {
          return code(static_cast<float>(static_cast<int32_t>(n.a[i])));
        });
      }
    }
    // Scale b and zero point c per element.
    Case axis = x;
    for (uint32_t& c : axis.c) c = low + static_cast<int>(c);
    auto code = [&](float v, size_t i) -> uint32_t {
      return Code(v / Real(axis.b[i]), low, high, static_cast<int>(axis.c[i]));
    };
    const std::array<uint32_t, 4> bounds = {0, static_cast<uint32_t>(low),
                                            Bits(high), 0};
    Expect(QuantizeAxisProgram(), axis, bounds, type,
           [&](size_t i) { return code(Real(axis.a[i]), i); });
    Expect(QuantizeAxisProgram(true), axis, bounds, type, [&](size_t i) {
      return code(static_cast<float>(static_cast<int32_t>(axis.a[i])), i);
    });
  }
}

TEST(Microcode, Dequantize) {
  const Case x = IntegerPairs();
  for (float scale : {0.25f, 1e-40f, 3e38f}) {
    Expect(
        DequantizeProgram(), x, {Bits(scale), 100, 0, 0}, ElementType::kF32,
        [&](size_t i) {
          return Result(static_cast<float>(static_cast<int32_t>(x.a[i] - 100)) *
                        scale);
        });
  }
  Case axis = RealPairs();
  for (size_t i = 0; i < axis.a.size(); ++i) axis.a[i] = i % 256;
  Expect(DequantizeAxisProgram(), axis, {}, ElementType::kF32, [&](size_t i) {
    return Result(
        static_cast<float>(static_cast<int32_t>(axis.a[i] - axis.c[i])) *
        Real(axis.b[i]));
  });
}

TEST(Microcode, QLinearAdd) {
  Case x;
  for (int a = 0; a < 256; a += 3) {
    for (int b = 0; b < 256; b += 5) {
      x.a.push_back(a);
      x.b.push_back(b);
      x.c.push_back(0);
    }
  }
  for (bool swap : {false, true}) {
    const float ra = 0.5f, rb = 1.25f, k = -31.0f;
    Expect(QLinearAddProgram(swap), x, {Bits(ra), Bits(rb), Bits(k), 0},
           ElementType::kU8, [&](size_t i) -> uint32_t {
             const float first = swap ? x.b[i] : x.a[i];
             const float second = swap ? x.a[i] : x.b[i];
             const float v = std::fma(first, ra, std::fma(second, rb, k));
             return Saturate(Rne(v), ElementType::kU8);
           });
  }
}

TEST(Microcode, ScaleAndAdd) {
  const Case x = RealPairs();
  const float alpha = 0.1f, beta = -3.0f;
  for (bool scale_a : {false, true}) {
    for (bool scale_b : {false, true}) {
      Expect(ScaleAddProgram(scale_a, scale_b), x,
             {Bits(alpha), Bits(beta), 0, 0}, ElementType::kF32, [&](size_t i) {
               float a = Real(x.a[i]), b = Real(x.b[i]);
               if (scale_a) a = a * alpha;
               if (scale_b) b = b * beta;
               return Result(a + b);
             });
    }
  }
  Expect(ScaleProgram(), x, {Bits(alpha), 0, 0, 0}, ElementType::kF32,
         [&](size_t i) { return Result(Real(x.a[i]) * alpha); });
}

TEST(Microcode, MaximumOverAWindow) {
  // 20 windows of 4 values each; lanes are windows.
  std::mt19937 random(3);
  std::vector<uint32_t> values(80);
  for (uint32_t& v : values) v = Bits(Reals()[random() % Reals().size()]);
  for (bool padded : {false, true}) {
    std::vector<uint32_t> input = values;
    if (padded) {
      for (uint32_t& v : input) {
        if (random() % 3 == 0) v = Bits(-kInf);
      }
    }
    CommandBench bench;
    const Microprogram program = MaxProgram();
    bench.Load(program, kProgramAt);
    bench.Put(kA, input);
    isa::Vrun run = bench.emitter()->Run(program);
    run.lanes = 20;
    run.n_r1 = 4;
    run.enable_a = true;
    run.store = isa::StoreMode::kEpilogue;
    isa::Stream a, d;
    a.base = kA;
    a.type = d.type = ElementType::kF32;
    a.lane_stride = 16;
    a.r1_stride = 4;
    d.base = kD;
    d.lane_stride = 4;
    run.SetA(a);
    run.SetD(d);
    bench.emitter()->Append(run);
    ASSERT_EQ(bench.Run(), "");
    const auto got = bench.Get<uint32_t>(kD, 20);
    for (size_t w = 0; w < 20; ++w) {
      float acc = -kInf;
      for (size_t k = 0; k < 4; ++k) {
        const uint32_t v = input[4 * w + k];
        acc = FMax(acc, Real(v));
      }
      EXPECT_EQ(got[w], Result(acc)) << w;
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
