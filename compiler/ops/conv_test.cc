// SPDX-License-Identifier: Apache-2.0
// fp32 convolution against the loops of ISA.md written out once more, bit by
// bit; and the rules on shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

struct Geometry {
  Shape x, w;
  int64_t group;
  Ints strides, dilations, pads;
};

// The definition: every output element by itself, padding as a factor 0.
std::vector<uint32_t> Expected(const Geometry& g, const float* x,
                               const float* w, const float* bias,
                               const Shape& y) {
  const bool one_d = g.x.size() == 3;
  const auto dim = [one_d](const Shape& s, int d) {
    return one_d ? (d == 0 ? 1 : s[2]) : s[2 + d];
  };
  const auto attr = [one_d](const Ints& a, int d, int64_t fallback) {
    return one_d ? (d == 0 ? fallback : a[0]) : a[d];
  };
  const int64_t ih = dim(g.x, 0), iw = dim(g.x, 1), kh = dim(g.w, 0),
                kw = dim(g.w, 1), oh = dim(y, 0), ow = dim(y, 1);
  const int64_t cg = g.w[1], mg = g.w[0] / g.group;
  std::vector<uint32_t> out;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t m = 0; m < y[1]; ++m)
      for (int64_t oy = 0; oy < oh; ++oy)
        for (int64_t ox = 0; ox < ow; ++ox) {
          float acc = bias ? bias[m] : 0.0f;
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t ky = 0; ky < kh; ++ky)
              for (int64_t kx = 0; kx < kw; ++kx) {
                const int64_t iy = oy * attr(g.strides, 0, 1) +
                                   ky * attr(g.dilations, 0, 1) -
                                   attr(g.pads, 0, 0);
                const int64_t ix = ox * attr(g.strides, 1, 1) +
                                   kx * attr(g.dilations, 1, 1) -
                                   attr(g.pads, 1, 0);
                const bool inside = iy >= 0 && iy < ih && ix >= 0 && ix < iw;
                const int64_t channel = m / mg * cg + c;
                const float a =
                    inside ? x[((n * g.x[1] + channel) * ih + iy) * iw + ix]
                           : 0.0f;
                acc = std::fma(a, w[((m * cg + c) * kh + ky) * kw + kx], acc);
              }
          out.push_back(model::Bits(model::Canonical(acc)));
        }
  return out;
}

TEST(ConvTest, EqualsTheDefinitionBitByBit) {
  const Geometry cases[] = {
      {{1, 3, 5, 6}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{2, 4, 7, 5}, {6, 2, 3, 2}, 2, {2, 1}, {1, 2}, {0, 1, 2, 0}},
      {{1, 3, 9, 9}, {3, 1, 3, 3}, 3, {2, 2}, {2, 2}, {2, 2, 2, 2}},
      {{1, 8, 4, 4}, {5, 8, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{2, 3, 11}, {4, 3, 3}, 1, {2}, {2}, {1, 2}},
  };
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const Geometry& g : cases) {
    TensorData x = TensorData::Zeros(DataType::kFloat, g.x);
    TensorData w = TensorData::Zeros(DataType::kFloat, g.w);
    TensorData b = TensorData::Zeros(DataType::kFloat, {g.w[0]});
    for (TensorData* t : {&x, &w, &b}) {
      for (int64_t i = 0; i < t->count(); ++i)
        t->as<float>()[i] = normal(random);
    }
    // Infinite weights meet padding: 0 * inf is a NaN, by definition.
    w.as<float>()[0] = std::numeric_limits<float>::infinity();
    for (const bool with_bias : {true, false}) {
      NodeSpec spec{"Conv",
                    "",
                    11,
                    {{"group", g.group},
                     {"strides", g.strides},
                     {"dilations", g.dilations},
                     {"pads", g.pads}}};
      auto y = RunNode(spec, with_bias ? std::vector<TensorData>{x, w, b}
                                       : std::vector<TensorData>{x, w});
      ASSERT_TRUE(y.ok()) << y.status();
      const auto expected =
          Expected(g, x.as<float>(), w.as<float>(),
                   with_bias ? b.as<float>() : nullptr, y->shape);
      ASSERT_EQ(expected.size() * 4, y->bytes.size());
      EXPECT_EQ(std::memcmp(expected.data(), y->bytes.data(), y->bytes.size()),
                0);
    }
  }
}

TEST(ConvTest, AutoPad) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {1, 1, 5, 5});
  const TensorData w = TensorData::Zeros(DataType::kFloat, {1, 1, 2, 2});
  for (const auto& [mode, size] : std::map<std::string, int64_t>{
           {"SAME_UPPER", 3}, {"SAME_LOWER", 3}, {"VALID", 2}}) {
    auto y =
        RunNode({"Conv", "", 11, {{"auto_pad", mode}, {"strides", Ints{2, 2}}}},
                {x, w});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, (Shape{1, 1, size, size})) << mode;
  }
}

TEST(ConvTest, Rejections) {
  const auto zeros = [](Shape s) {
    return TensorData::Zeros(DataType::kFloat, std::move(s));
  };
  const auto kind = [](const std::map<std::string, Attribute>& attributes,
                       const std::vector<TensorData>& inputs) {
    return RejectionOf(RunNode({"Conv", "", 11, attributes}, inputs).status());
  };
  const auto x = zeros({1, 4, 8, 8}), w = zeros({6, 4, 3, 3});
  EXPECT_EQ(kind({}, {x, w}), Rejection::kNone);
  EXPECT_EQ(kind({{"group", int64_t{3}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"group", int64_t{0}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"group", int64_t{2}}}, {x, w}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"kernel_shape", Ints{2, 2}}}, {x, w}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"strides", Ints{0, 1}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"strides", Ints{1}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"pads", Ints{-1, 0, 0, 0}}}, {x, w}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"auto_pad", std::string("SAME")}}, {x, w}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"padding", Ints{0}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"group", 1.0f}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"dilations", Ints{4, 4}}}, {x, w}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {x, w, zeros({5})}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {x}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({}, {zeros({1, 4, 8, 8, 8, 8}), zeros({6, 4, 3, 3, 3, 3})}),
            Rejection::kUnsupportedShape);
  // Of volumes.
  const TensorData v = zeros({1, 4, 8, 8, 8}), vw = zeros({6, 4, 3, 3, 3});
  EXPECT_EQ(kind({}, {v, vw}), Rejection::kNone);
  EXPECT_EQ(kind({{"strides", Ints{1, 1}}}, {v, vw}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"pads", Ints{1, 1, 1}}}, {v, vw}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({}, {v, w}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"group", int64_t{2}}}, {v, vw}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"dilations", Ints{4, 1, 1}}}, {v, vw}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {v, vw, zeros({5})}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {TensorData::Zeros(DataType::kInt32, {1, 4, 8, 8}), w}),
            Rejection::kUnsupportedDatatype);
}

}  // namespace
}  // namespace heddle::compiler
