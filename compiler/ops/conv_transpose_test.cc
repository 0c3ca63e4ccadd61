// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

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

// The definition: every result by itself, over all positions of the input plane
// and far around it.
std::vector<uint32_t> Expected(const Geometry& g, const float* x,
                               const float* w, const float* bias,
                               const Shape& y) {
  const int64_t ih = g.x[2], iw = g.x[3], kh = g.w[2], kw = g.w[3];
  const int64_t cg = g.x[1] / g.group, mg = g.w[1];
  std::vector<uint32_t> out;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t m = 0; m < y[1]; ++m)
      for (int64_t oy = 0; oy < y[2]; ++oy)
        for (int64_t ox = 0; ox < y[3]; ++ox) {
          float acc = bias ? bias[m] : 0.0f;
          for (int64_t c = m / mg * cg; c < (m / mg + 1) * cg; ++c)
            for (int64_t iy = -20; iy < ih + 20; ++iy)
              for (int64_t ix = -20; ix < iw + 20; ++ix) {
                // The tap, if any, that brings this input here.
                const int64_t ky = oy + g.pads[0] - iy * g.strides[0];
                const int64_t kx = ox + g.pads[1] - ix * g.strides[1];
                if (ky < 0 || kx < 0 || ky % g.dilations[0] != 0 ||
                    kx % g.dilations[1] != 0 || ky / g.dilations[0] >= kh ||
                    kx / g.dilations[1] >= kw) {
                  continue;
                }
                const bool inside = iy >= 0 && iy < ih && ix >= 0 && ix < iw;
                const float a =
                    inside ? x[((n * g.x[1] + c) * ih + iy) * iw + ix] : 0.0f;
                acc = std::fma(
                    a,
                    w[((c * mg + m % mg) * kh + ky / g.dilations[0]) * kw +
                      kx / g.dilations[1]],
                    acc);
              }
          out.push_back(model::Bits(model::Canonical(acc)));
        }
  return out;
}

TEST(ConvTransposeTest, EqualsTheDefinitionBitByBit) {
  const Geometry cases[] = {
      {{1, 3, 5, 6}, {3, 4, 3, 3}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{2, 4, 4, 3}, {4, 3, 4, 2}, 2, {2, 3}, {1, 1}, {1, 0, 2, 0}},
      {{1, 2, 4, 4}, {2, 2, 3, 3}, 1, {2, 3}, {2, 2}, {1, 1, 1, 1}},
      {{1, 3, 4, 4}, {3, 1, 2, 1}, 3, {4, 2}, {1, 1}, {0, 0, 0, 0}},
      {{1, 2, 5, 5}, {2, 2, 2, 2}, 1, {2, 2}, {3, 1}, {3, 2, 2, 3}},
  };
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const Geometry& g : cases) {
    TensorData x = TensorData::Zeros(DataType::kFloat, g.x);
    TensorData w = TensorData::Zeros(DataType::kFloat, g.w);
    TensorData b = TensorData::Zeros(DataType::kFloat, {g.w[1] * g.group});
    for (TensorData* t : {&x, &w, &b}) {
      for (int64_t i = 0; i < t->count(); ++i)
        t->as<float>()[i] = normal(random);
    }
    // Infinite weights meet padding: 0 * inf is a NaN, by definition.
    w.as<float>()[1] = std::numeric_limits<float>::infinity();
    for (const bool with_bias : {true, false}) {
      const NodeSpec spec{"ConvTranspose",
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

// Half precision is rounded once: the fp32 result, rounded.
TEST(ConvTransposeTest, HalfIsRoundedOnce) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  TensorData x = TensorData::Zeros(DataType::kFloat16, {1, 4, 3, 3});
  TensorData w = TensorData::Zeros(DataType::kFloat16, {4, 2, 3, 3});
  std::vector<TensorData> wide;
  for (TensorData* t : {&x, &w}) {
    wide.push_back(TensorData::Zeros(DataType::kFloat, t->shape));
    for (int64_t i = 0; i < t->count(); ++i) {
      t->as<uint16_t>()[i] = model::F32ToF16(normal(random));
      wide.back().as<float>()[i] = model::F16ToF32(t->as<uint16_t>()[i]);
    }
  }
  for (const char* op : {"ConvTranspose", "Conv"}) {
    const std::map<std::string, Attribute> attributes =
        std::string(op) == "Conv"
            ? std::map<std::string, Attribute>{{"group", int64_t{2}}}
            : std::map<std::string, Attribute>{{"strides", Ints{2, 2}}};
    auto half = RunNode({op, "", 11, attributes}, {x, w});
    auto full = RunNode({op, "", 11, attributes}, wide);
    ASSERT_TRUE(half.ok()) << half.status();
    ASSERT_TRUE(full.ok()) << full.status();
    ASSERT_EQ(half->type, DataType::kFloat16);
    for (int64_t i = 0; i < full->count(); ++i) {
      EXPECT_EQ(half->as<uint16_t>()[i], model::F32ToF16(full->as<float>()[i]));
    }
  }
}

TEST(ConvTransposeTest, OutputShapes) {
  const TensorData x = TensorData::Zeros(DataType::kFloat, {1, 1, 3, 4});
  const TensorData w = TensorData::Zeros(DataType::kFloat, {1, 2, 3, 3});
  const auto shape = [&](std::map<std::string, Attribute> attributes) {
    attributes["strides"] = Ints{3, 2};
    auto y = RunNode({"ConvTranspose", "", 11, attributes}, {x, w});
    EXPECT_TRUE(y.ok()) << y.status();
    return y.ok() ? y->shape : Shape();
  };
  EXPECT_EQ(shape({}), (Shape{1, 2, 9, 9}));
  EXPECT_EQ(shape({{"pads", Ints{1, 0, 2, 1}}}), (Shape{1, 2, 6, 8}));
  EXPECT_EQ(shape({{"output_padding", Ints{1, 1}}}), (Shape{1, 2, 10, 10}));
  EXPECT_EQ(shape({{"output_shape", Ints{10, 8}}}), (Shape{1, 2, 10, 8}));
  EXPECT_EQ(shape({{"auto_pad", std::string("SAME_UPPER")}}),
            (Shape{1, 2, 9, 8}));
  EXPECT_EQ(shape({{"auto_pad", std::string("VALID")}}), (Shape{1, 2, 9, 9}));
}

TEST(ConvTransposeTest, Rejections) {
  const auto zeros = [](Shape s) {
    return TensorData::Zeros(DataType::kFloat, std::move(s));
  };
  const auto kind = [](const std::map<std::string, Attribute>& attributes,
                       const std::vector<TensorData>& inputs) {
    return RejectionOf(
        RunNode({"ConvTranspose", "", 11, attributes}, inputs).status());
  };
  const auto x = zeros({1, 4, 8, 8}), w = zeros({4, 6, 3, 3});
  EXPECT_EQ(kind({}, {x, w}), Rejection::kNone);
  EXPECT_EQ(kind({{"group", int64_t{3}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"group", int64_t{0}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({}, {x, zeros({6, 4, 3, 3})}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"kernel_shape", Ints{2, 2}}}, {x, w}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"strides", Ints{0, 1}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"strides", Ints{1}}}, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"pads", Ints{-1, 0, 0, 0}}}, {x, w}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"pads", Ints{9, 9, 9, 9}}}, {x, w}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(kind({{"auto_pad", std::string("SAME")}}, {x, w}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"output_padding", Ints{-1, 0}}}, {x, w}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({}, {x, w, zeros({5})}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {zeros({1, 4, 8, 8, 8, 8}), zeros({4, 6, 3, 3, 3, 3})}),
            Rejection::kUnsupportedShape);
  // Of volumes.
  const TensorData v = zeros({1, 4, 3, 3, 3}), vw = zeros({4, 6, 3, 3, 3});
  EXPECT_EQ(kind({}, {v, vw}), Rejection::kNone);
  EXPECT_EQ(kind({{"strides", Ints{1}}}, {v, vw}), Rejection::kInvalidModel);
  EXPECT_EQ(kind({{"output_padding", Ints{1, 1}}}, {v, vw}),
            Rejection::kInvalidModel);
  EXPECT_EQ(kind({}, {v, vw, zeros({5})}), Rejection::kMismatchingShape);
  EXPECT_EQ(kind({}, {x, TensorData::Zeros(DataType::kFloat16, {4, 6, 3, 3})}),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
