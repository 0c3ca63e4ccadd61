// SPDX-License-Identifier: Apache-2.0
// Every variant of the kernels against plain sums; the AVX-512 loops also with
// their instruction emulated, for CPUs that lack it.
#include "simulator/model/kernels.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "simulator/model/kernel_loops.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

// What kernels_vnni.cc does, word by word as the instruction set reference has
// it: VPDPWSSD multiplies signed words, widens, and adds both products to the
// doubleword without saturation.
struct EmulatedVnni {
  struct Acc {
    uint32_t v[16];
  };
  using Weights = Acc;
  static constexpr int kTile = 12;

  static Acc Load(const void* p) {
    Acc a;
    std::memcpy(a.v, p, sizeof(a.v));
    return a;
  }
  static void Store(const Acc& a, int32_t* p) {
    std::memcpy(p, a.v, sizeof(a.v));
  }
  static Weights LoadWeights(const int16_t* p) { return Load(p); }
  static Acc Dpwssd(Acc a, const Acc& x, const Acc& y) {
    for (int l = 0; l < 16; ++l) {
      const auto word = [&](const Acc& s, int w) {
        return int32_t{static_cast<int16_t>(s.v[l] >> (16 * w))};
      };
      a.v[l] += static_cast<uint32_t>(word(x, 0) * word(y, 0)) +
                static_cast<uint32_t>(word(x, 1) * word(y, 1));
    }
    return a;
  }
  static Acc Mac(const Acc& a, const int16_t* pair, const Weights& w) {
    uint32_t both;
    std::memcpy(&both, pair, sizeof(both));
    Acc x;
    for (uint32_t& v : x.v) v = both;
    return Dpwssd(a, x, w);
  }
  static Weights Zip(const int16_t* x, const int16_t* y) {
    Weights z;
    for (int l = 0; l < 16; ++l) {
      z.v[l] = static_cast<uint16_t>(x[l]) |
               static_cast<uint32_t>(static_cast<uint16_t>(y[l])) << 16;
    }
    return z;
  }
  static Acc MacPairs(const Acc& a, const Weights& p, const Weights& w) {
    return Dpwssd(a, p, w);
  }
};

struct Variant {
  const char* name;
  decltype(Kernels::reduce) reduce;
  decltype(Kernels::depthwise) depthwise;
};

std::vector<Variant> Variants() {
  std::vector<Variant> v = {
      {"emulated vnni", Reduce<EmulatedVnni>, Depthwise<EmulatedVnni>}};
  for (const Kernels* k : {PortableKernels(), Avx2Kernels(), VnniKernels()}) {
    if (k != nullptr) v.push_back({k->name, k->reduce, k->depthwise});
  }
  return v;
}

class KernelsTest : public ::testing::Test {
 protected:
  int16_t Operand() {  // 9 bits signed, often at the ends
    const uint32_t r = random_();
    return static_cast<int16_t>(r % 8 == 0   ? 255
                                : r % 8 == 1 ? -255
                                             : static_cast<int>(r >> 8) % 256);
  }
  std::vector<int16_t> Operands(size_t n) {
    std::vector<int16_t> v(n);
    for (int16_t& x : v) x = Operand();
    return v;
  }
  std::vector<int32_t> Sums(size_t n) {  // near overflow too
    std::vector<int32_t> v(n);
    for (int32_t& x : v) x = static_cast<int32_t>(random_());
    return v;
  }
  std::mt19937 random_{7};
};

TEST_F(KernelsTest, ReduceSumsAllRuns) {
  for (size_t pixels = 1; pixels <= 40; ++pixels) {
    const ptrdiff_t stride = 1 + random_() % 9;
    const uint32_t pairs[3] = {1 + static_cast<uint32_t>(random_() % 40), 3, 1};
    std::vector<std::vector<int16_t>> a, w;
    std::vector<ReduceRun> runs;
    for (uint32_t n : pairs) {
      a.push_back(Operands(stride * pixels + 2 * n));
      w.push_back(Operands(32 * n));
    }
    for (int r = 0; r < 3; ++r) {
      runs.push_back({a[r].data(), w[r].data(), pairs[r]});
    }
    const std::vector<int32_t> start = Sums(16 * pixels);
    std::vector<int32_t> want = start;
    for (size_t p = 0; p < pixels; ++p) {
      for (int l = 0; l < 16; ++l) {
        uint32_t sum = static_cast<uint32_t>(want[16 * p + l]);
        for (int r = 0; r < 3; ++r) {
          for (uint32_t i = 0; i < 2 * pairs[r]; ++i) {
            sum += static_cast<uint32_t>(a[r][p * stride + i] *
                                         w[r][i / 2 * 32 + 2 * l + i % 2]);
          }
        }
        want[16 * p + l] = static_cast<int32_t>(sum);
      }
    }
    for (const Variant& v : Variants()) {
      std::vector<int32_t> acc = start;
      v.reduce(runs.data(), runs.size(), stride, acc.data(), pixels);
      ASSERT_EQ(acc, want) << v.name << ", " << pixels << " pixels";
    }
  }
}

TEST_F(KernelsTest, DepthwiseKeepsChannelsApart) {
  for (size_t pixels = 1; pixels <= 12; ++pixels) {
    const size_t pairs = 1 + random_() % 6;
    const ptrdiff_t stride = 16 * (1 + random_() % 2);
    std::vector<std::vector<int16_t>> x;
    std::vector<const int16_t*> taps;
    for (size_t t = 0; t < 2 * pairs; ++t) {
      x.push_back(Operands(stride * pixels));
    }
    for (const auto& t : x) taps.push_back(t.data());
    const std::vector<int16_t> w = Operands(32 * pairs);
    const std::vector<int32_t> start = Sums(16 * pixels);
    std::vector<int32_t> want = start;
    for (size_t i = 0; i < 16 * pixels; ++i) {
      uint32_t sum = static_cast<uint32_t>(want[i]);
      for (size_t t = 0; t < 2 * pairs; ++t) {
        sum += static_cast<uint32_t>(x[t][i / 16 * stride + i % 16] *
                                     w[t / 2 * 32 + 2 * (i % 16) + t % 2]);
      }
      want[i] = static_cast<int32_t>(sum);
    }
    for (const Variant& v : Variants()) {
      std::vector<int32_t> acc = start;
      v.depthwise(taps.data(), w.data(), pairs, stride, acc.data(), pixels);
      ASSERT_EQ(acc, want) << v.name;
    }
  }
}

TEST_F(KernelsTest, ConvertAndPackGiveValues) {
  for (const Kernels* k : {PortableKernels(), Avx2Kernels(), VnniKernels()}) {
    if (k == nullptr) continue;
    for (bool is_signed : {false, true}) {
      uint8_t codes[16 * 48];
      for (uint8_t& c : codes) c = static_cast<uint8_t>(random_());
      const auto value = [&](uint8_t c) {
        return is_signed ? static_cast<int8_t>(c) : int{c};
      };
      int16_t zeros[16], packed[256], converted[10 * 20];
      for (int16_t& z : zeros) z = static_cast<int16_t>(random_() % 256 - 128);
      k->pack(codes, 48, is_signed, zeros, packed);
      for (int l = 0; l < 16; ++l) {
        for (int i = 0; i < 16; ++i) {
          ASSERT_EQ(packed[i / 2 * 32 + 2 * l + i % 2],
                    value(codes[48 * l + i]) - zeros[l])
              << k->name;
        }
      }
      k->convert(codes, 32, is_signed, zeros[0], converted, 20, 10);
      for (int i = 0; i < 160; ++i) {
        ASSERT_EQ(converted[i / 16 * 20 + i % 16],
                  value(codes[i / 16 * 32 + i % 16]) - zeros[0])
            << k->name;
      }
    }
  }
}

// All variants against the portable one.
class Float : public KernelsTest,
              public ::testing::WithParamInterface<const Kernels*> {
 protected:
  uint32_t Pattern() {
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
        0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
        0x3f000000, 0x4f000000, 0xcf000000, 0xcf000001, 0x4effffff, 0x80000003};
    const uint32_t r = random_();
    if (r % 3 == 0) return special[random_() % std::size(special)];
    if (r % 3 == 1) return random_();
    return (random_() & 0x807fffffu) | (120 + random_() % 30) << 23;
  }
  const ScopedFpEnvironment environment_;
};

TEST_P(Float, LaneOpsAreTheReference) {
  for (const isa::MicroOpInfo& info : isa::kMicroOps) {
    for (int round = 0; round < 2000; ++round) {
      uint32_t a[32], b[32], c[32], d[32];
      for (int l = 0; l < 32; ++l) {
        a[l] = Pattern();
        b[l] = round % 4 == 0 ? a[l] : Pattern();
        c[l] = Pattern();
      }
      if (!GetParam()->lane_op(info.op, a, b, c, d, 32)) break;
      for (int l = 0; l < 32; ++l) {
        ASSERT_EQ(d[l], LaneOp(info.op, a[l], b[l], c[l]))
            << info.name << std::hex << " " << a[l] << " " << b[l] << " "
            << c[l];
      }
    }
  }
}

TEST_P(Float, FmaTilesKeepTheOrder) {
  for (uint32_t rows = 1; rows <= 15; ++rows) {
    const uint32_t vectors = 1 + rows % 3, n = 1 + random_() % 50;
    std::vector<float> a(rows * n), b(n * 16 * vectors);
    for (float& v : a) v = FromBits(Pattern());
    for (float& v : b) v = FromBits(Pattern());
    std::vector<float> want(rows * 16 * vectors, 0.5f), got = want;
    std::vector<const float*> pointers;
    for (uint32_t r = 0; r < rows; ++r) pointers.push_back(&a[r * n]);
    FmaTile t = {pointers.data(), 1,    b.data(), 16 * vectors, n, nullptr,
                 16 * vectors,    rows, vectors};
    t.acc = want.data();
    PortableKernels()->fma_tile(t);
    t.acc = got.data();
    GetParam()->fma_tile(t);
    ASSERT_EQ(std::memcmp(want.data(), got.data(), want.size() * 4), 0);
    float x[16] = {1}, y[16] = {1};
    std::vector<float> lanes(n * 16);
    for (float& v : lanes) v = FromBits(Pattern());
    PortableKernels()->fma_lanes(lanes.data(), b.data(), n, x);
    GetParam()->fma_lanes(lanes.data(), b.data(), n, y);
    ASSERT_EQ(std::memcmp(x, y, sizeof(x)), 0);
  }
}

TEST_P(Float, OutputStages) {
  for (int round = 0; round < 3000; ++round) {
    int32_t bias[16], acc[64], want[64], got[64];
    float scale[16];
    uint8_t bytes[64];
    for (int l = 0; l < 16; ++l) {
      bias[l] = static_cast<int32_t>(random_()) >> (random_() % 32);
      scale[l] = round % 5 == 0 ? FromBits(Pattern())
                                : std::ldexp(1.0f, -int(random_() % 20));
    }
    for (int i = 0; i < 64; ++i) {
      acc[i] = static_cast<int32_t>(random_()) >> (random_() % 32);
      bytes[i] = static_cast<uint8_t>(random_());
    }
    const int32_t qmin = round % 2 == 0 ? 0 : -128;
    const int32_t zero = qmin + static_cast<int32_t>(random_() % 256);
    const RequantiseParams p = {bias,
                                scale,
                                I32ToF32(qmin - zero),
                                I32ToF32(qmin + 255 - zero),
                                zero,
                                qmin,
                                qmin + 255};
    PortableKernels()->requantise(p, acc, want, 4);
    GetParam()->requantise(p, acc, got, 4);
    ASSERT_EQ(std::memcmp(want, got, sizeof(want)), 0);
    ResidualParams r;
    r.multiply = round % 3 == 0;
    r.residual_first = round % 5 < 2;
    r.residual_signed = round % 7 < 3;
    r.a = round % 11 == 0 ? FromBits(Pattern()) : 0.25f * (random_() % 9);
    r.b = round % 13 == 0 ? FromBits(Pattern()) : 0.21f;
    r.k = round % 17 == 0 ? FromBits(Pattern()) : 3.5f;
    r.mid_zero = zero;
    r.res_zero = static_cast<int32_t>(random_() % 256);
    r.qmin = qmin;
    r.qmax = qmin + 255;
    r.low = qmin + 10;
    r.high = qmin + 250;
    PortableKernels()->residual(r, bytes, want, 64);
    GetParam()->residual(r, bytes, got, 64);
    ASSERT_EQ(std::memcmp(want, got, sizeof(want)), 0);
  }
}

std::vector<const Kernels*> OnThisCpu() {
  std::vector<const Kernels*> v;
  for (const Kernels* k : {PortableKernels(), Avx2Kernels(), VnniKernels()}) {
    if (k != nullptr) v.push_back(k);
  }
  return v;
}

INSTANTIATE_TEST_SUITE_P(Variants, Float, ::testing::ValuesIn(OnThisCpu()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

}  // namespace
}  // namespace heddle::model
