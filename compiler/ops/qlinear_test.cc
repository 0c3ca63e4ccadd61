// SPDX-License-Identifier: Apache-2.0
// The edge table of the integer kernels: values that tell the one right order
// of roundings from every plausible other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;
using Bytes = std::vector<uint8_t>;

// A 1x1 convolution whose accumulator is the bias: x = xz.
Bytes ConvOfBias(const std::vector<int32_t>& acc, float m, uint8_t yz) {
  const auto n = static_cast<int64_t>(acc.size());
  const TensorData w = TensorData::Zeros(DataType::kInt8, {n, 1, 1, 1});
  auto y = RunNode({"QLinearConv", "", 13, {}},
                   {Uint8s({1, 1, 1, 1}, {7}), Floats({}, {m}), Uint8s({}, {7}),
                    w, Floats({}, {1}), Int8s({}, {0}), Floats({}, {1}),
                    Uint8s({}, {yz}), Int32s({n}, acc)});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? y->bytes.ToVector() : Bytes();
}

TEST(QLinearConvTest, TiesToEvenThenTheOffset) {
  EXPECT_EQ(ConvOfBias({1, 3, 5}, 0.5f, 0), (Bytes{0, 2, 2}));
  EXPECT_EQ(ConvOfBias({1, 3, 5}, 0.5f, 1), (Bytes{1, 3, 3}));
}

TEST(QLinearConvTest, RequantizationEdges) {
  // f32 product on a tie, where the exact product is above it.
  EXPECT_EQ(
      Requantize(385989, model::FromBits(0x39140df1), 0, DataType::kUint8), 54);
  // Accumulators above 2^24 round to nearest even.
  const float m = 0x1p-20f;
  for (const auto& [acc, rounded] :
       std::map<int32_t, float>{{16777217, 16777216.0f},
                                {16777219, 16777220.0f},
                                {33554434, 33554432.0f},
                                {33554438, 33554440.0f}}) {
    EXPECT_EQ(model::I32ToF32(acc), rounded);
    EXPECT_EQ(Requantize(acc, m, 0, DataType::kUint8), model::Rne(rounded * m));
  }
  // A huge multiplier clamps in float.
  EXPECT_EQ(ConvOfBias({1, -1}, 1e30f, 9), (Bytes{255, 0}));
}

TEST(QLinearConvTest, TheAccumulatorWraps) {
  auto y =
      RunNode({"QLinearConv", "", 13, {}},
              {Uint8s({1, 1, 1, 1}, {255}), Floats({}, {1}), Uint8s({}, {0}),
               Int8s({1, 1, 1, 1}, {127}), Floats({}, {1}), Int8s({}, {0}),
               Floats({}, {1}), Uint8s({}, {100}),
               Int32s({1}, {std::numeric_limits<int32_t>::max()})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes[0], 0);
}

TEST(QLinearConvTest, PaddingCountsAsTheZeroPoint) {
  auto y = RunNode({"QLinearConv", "", 13, {{"pads", Ints{1, 1}}}},
                   {Uint8s({1, 1, 1}, {34}), Floats({}, {1}), Uint8s({}, {33}),
                    Int8s({1, 1, 3}, {100, 1, 100}), Floats({}, {1}),
                    Int8s({}, {0}), Floats({}, {1}), Uint8s({}, {0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes, (Bytes{1}));
}

TEST(QLinearConvTest, PairsDoNotSaturate) {
  // 255*127 twice is 64770; a multiply-add of pairs on 16 bits gives 32767.
  auto y =
      RunNode({"QLinearConv", "", 13, {}},
              {Uint8s({1, 2, 1}, {255, 255}), Floats({}, {1}), Uint8s({}, {0}),
               Int8s({1, 2, 1}, {127, 127}), Floats({}, {1}), Int8s({}, {0}),
               Floats({}, {512}), Uint8s({}, {0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes[0], 127);  // 64770 / 512 = 126.504
}

// Random shapes against 64-bit sums, with zero points per channel.
TEST(QLinearConvTest, EqualsThePlainSum) {
  std::mt19937 random(11);
  const auto byte = [&random] { return static_cast<uint8_t>(random()); };
  for (int round = 0; round < 20; ++round) {
    const int64_t group = 1 + round % 2, c = 2 * group, m = 3 * group;
    TensorData x = TensorData::Zeros(DataType::kUint8, {1, c, 6, 5});
    TensorData w = TensorData::Zeros(
        round % 3 ? DataType::kInt8 : DataType::kUint8, {m, c / group, 3, 2});
    TensorData wz = TensorData::Zeros(w.type, {m});
    TensorData ws = TensorData::Zeros(DataType::kFloat, {m});
    TensorData b = TensorData::Zeros(DataType::kInt32, {m});
    for (TensorData* t : {&x, &w, &wz}) {
      for (uint8_t& v : t->bytes) v = byte();
    }
    for (int64_t i = 0; i < m; ++i) {
      ws.as<float>()[i] = 0.001f * static_cast<float>(1 + random() % 1000);
      b.as<int32_t>()[i] = static_cast<int32_t>(random() % 2000) - 1000;
    }
    const uint8_t xz = byte(), yz = byte();
    const float xs = 0.02f, ys = 7.3f;
    auto y = RunNode({"QLinearConv",
                      "",
                      13,
                      {{"group", group},
                       {"pads", Ints{1, 0, 1, 1}},
                       {"strides", Ints{2, 1}}}},
                     {x, Floats({}, {xs}), Uint8s({}, {xz}), w, ws, wz,
                      Floats({}, {ys}), Uint8s({}, {yz}), b});
    ASSERT_TRUE(y.ok()) << y.status();
    const int64_t oh = y->shape[2], ow = y->shape[3];
    for (int64_t i = 0; i < y->count(); ++i) {
      const int64_t map = i / (oh * ow), oy = i / ow % oh, ox = i % ow;
      int64_t acc = b.as<int32_t>()[map];
      for (int64_t k = 0; k < c / group; ++k) {
        for (int64_t ky = 0; ky < 3; ++ky) {
          for (int64_t kx = 0; kx < 2; ++kx) {
            const int64_t iy = oy * 2 + ky - 1, ix = ox + kx;
            if (iy < 0 || iy >= 6 || ix >= 5) continue;
            const int64_t channel = map / 3 * 2 + k;
            const int64_t a = x.bytes[(channel * 6 + iy) * 5 + ix] - xz;
            acc += a * (LoadQuantized(
                            w, ((map * (c / group) + k) * 3 + ky) * 2 + kx) -
                        LoadQuantized(wz, map));
          }
        }
      }
      const float multiplier = xs * ws.as<float>()[map] / ys;
      const float v = static_cast<float>(acc) * multiplier;
      const float clamped = std::min(std::max(v, 0.0f - yz), 255.0f - yz);
      ASSERT_EQ(y->bytes[i], static_cast<int>(std::nearbyint(clamped)) + yz);
    }
  }
}

TEST(QLinearMulTest, TheOffsetIsAddedBeforeRounding) {
  const auto mul = [](uint8_t z) {
    auto y = RunNode({"QLinearMul", "com.microsoft", 1, {}},
                     {Uint8s({1}, {1}), Floats({}, {0.5f}), Uint8s({}, {0}),
                      Uint8s({1}, {1}), Floats({}, {1}), Uint8s({}, {0}),
                      Floats({}, {1}), Uint8s({}, {z})});
    EXPECT_TRUE(y.ok()) << y.status();
    return y->bytes[0];
  };
  EXPECT_EQ(mul(0), 0);
  EXPECT_EQ(mul(1), 2);
}

uint8_t Add(uint8_t a, float as, uint8_t az, uint8_t b, float bs, uint8_t bz,
            float cs, uint8_t cz) {
  auto y = RunNode(
      {"QLinearAdd", "com.microsoft", 1, {}},
      {Uint8s({1}, {a}), Floats({}, {as}), Uint8s({}, {az}), Uint8s({1}, {b}),
       Floats({}, {bs}), Uint8s({}, {bz}), Floats({}, {cs}), Uint8s({}, {cz})});
  EXPECT_TRUE(y.ok()) << y.status();
  return y->bytes[0];
}

TEST(QLinearAddTest, ConstantWithItsOwnFma) {
  EXPECT_EQ(Add(72, 0.21f, 131, 252, 0.02f, 32, 0.34f, 24), 1);
}

TEST(QLinearAddTest, OverflowGivesTheLowestCode) {
  EXPECT_EQ(Add(200, 1e9f, 100, 0, 1, 0, 1, 0), 0);
}

TEST(QLinearAddTest, TheRepeatedOperandComesSecond) {
  // With a repeated along the innermost dimension the operands change places:
  // both orders of the same addition give the same codes.
  std::mt19937 random(2);
  TensorData wide = TensorData::Zeros(DataType::kUint8, {4, 256});
  TensorData narrow = TensorData::Zeros(DataType::kUint8, {4, 1});
  for (TensorData* t : {&wide, &narrow}) {
    for (uint8_t& v : t->bytes) v = static_cast<uint8_t>(random());
  }
  const TensorData ws = Floats({}, {0.21f}), wz = Uint8s({}, {131}),
                   ns = Floats({}, {0.02f}), nz = Uint8s({}, {32}),
                   cs = Floats({}, {0.34f}), cz = Uint8s({}, {24});
  const NodeSpec add{"QLinearAdd", "com.microsoft", 1, {}};
  auto one = RunNode(add, {wide, ws, wz, narrow, ns, nz, cs, cz});
  auto two = RunNode(add, {narrow, ns, nz, wide, ws, wz, cs, cz});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->bytes, two->bytes);
}

TEST(QLinearAveragePoolTest, FloatSumThenTwoDivisions) {
  auto y = RunNode({"QLinearAveragePool",
                    "com.microsoft",
                    1,
                    {{"kernel_shape", Ints{2, 2}}}},
                   {Uint8s({1, 1, 2, 3}, {137, 200, 0, 237, 164, 0}),
                    Floats({}, {.6015625f}), Uint8s({}, {7}),
                    Floats({}, {.5546875f}), Uint8s({}, {9})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes[0], 202);
  // The window that is the whole image takes the integer path: 201.
  y = RunNode(
      {"QLinearAveragePool",
       "com.microsoft",
       1,
       {{"kernel_shape", Ints{2, 2}}}},
      {Uint8s({1, 1, 2, 2}, {137, 200, 237, 164}), Floats({}, {.6015625f}),
       Uint8s({}, {7}), Floats({}, {.5546875f}), Uint8s({}, {9})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->bytes[0], 201);
}

TEST(QGemmTest, TransposedPerChannelWeightsAndFloatOutput) {
  // b is [n,k] = [2,3] with a zero point per n.
  const std::vector<TensorData> inputs = {
      Uint8s({1, 3}, {4, 5, 6}), Floats({}, {0.5f}),
      Uint8s({}, {3}),           Int8s({2, 3}, {1, 2, 3, 4, 5, 6}),
      Floats({2}, {1, 2}),       Int8s({2}, {1, 2}),
      Int32s({2}, {10, 20})};
  auto y =
      RunNode({"QGemm", "com.microsoft", 1, {{"transB", int64_t{1}}}}, inputs);
  ASSERT_TRUE(y.ok()) << y.status();
  // a-3 = 1 2 3; rows of b: 0 1 2 and 2 3 4; sums 8 and 20, plus C.
  EXPECT_EQ(Difference(*y, Floats({1, 2}, {9, 40}), 0, 0), "");
}

TEST(QLinearTest, TypesMustAgree) {
  EXPECT_EQ(
      RejectionOf(RunNode({"QLinearAdd", "com.microsoft", 1, {}},
                          {Uint8s({1}, {1}), Floats({}, {1}), Uint8s({}, {0}),
                           Int8s({1}, {1}), Floats({}, {1}), Int8s({}, {0}),
                           Floats({}, {1}), Uint8s({}, {0})})
                      .status()),
      Rejection::kInvalidModel);
  EXPECT_EQ(
      RejectionOf(RunNode({"QLinearAdd", "com.microsoft", 1, {}},
                          {Uint8s({1}, {1}), Floats({2}, {1, 1}),
                           Uint8s({}, {0}), Uint8s({1}, {1}), Floats({}, {1}),
                           Uint8s({}, {0}), Floats({}, {1}), Uint8s({}, {0})})
                      .status()),
      Rejection::kMismatchingShape);
}

// Values that tell the floor of 1/ys, and the offset after rounding, from
// others.
TEST(QLinearSoftmaxTest, FloorOfTheReciprocalScale) {
  // Equal codes: E/S = 1/4, N = floor(243.9) = 243: 60.75 -> 61, not 60.97.
  auto y = RunNode({"QLinearSoftmax", "com.microsoft", 13, {}},
                   {Uint8s({1, 4}, {9, 9, 9, 9}), Floats({}, {0.1f}),
                    Uint8s({}, {5}), Floats({}, {0.0041f}), Uint8s({}, {7})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes, (Bytes{68, 68, 68, 68}));
  // 1/2 of 1: a tie, to even, then the odd offset.
  y = RunNode({"QLinearSoftmax", "com.microsoft", 13, {}},
              {Uint8s({1, 2}, {1, 1}), Floats({}, {1}), Uint8s({}, {0}),
               Floats({}, {1}), Uint8s({}, {1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes, Bytes(2, 1));
}

TEST(QLinearBinaryTest, AbsentZeroPointsAreZero) {
  for (const char* op : {"QLinearAdd", "QLinearMul"}) {
    const TensorData none;
    const TensorData a = Uint8s({3}, {5, 100, 250}), s = Floats({}, {0.5f});
    auto absent = RunNode({op, "com.microsoft", 13, {}},
                          {a, s, none, a, s, none, s, Uint8s({}, {3})});
    auto zero = RunNode(
        {op, "com.microsoft", 13, {}},
        {a, s, Uint8s({}, {0}), a, s, Uint8s({}, {0}), s, Uint8s({}, {3})});
    ASSERT_TRUE(absent.ok()) << absent.status();
    ASSERT_TRUE(zero.ok()) << zero.status();
    EXPECT_EQ(absent->bytes, zero->bytes);
  }
}

}  // namespace
}  // namespace heddle::compiler
