// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

struct Case {
  Shape shape;
  int64_t axis = -1;
  bool bias = true, computed = false;
};

void Expect(const Case& c, const TensorData& x) {
  SCOPED_TRACE(ShapeToString(c.shape));
  const int64_t axis =
      c.axis < 0 ? c.axis + static_cast<int64_t>(c.shape.size()) : c.axis;
  const Shape row(c.shape.begin() + axis, c.shape.end());
  const int64_t d = ElementCount(row);
  const TensorData scale = RandomData(kF32, row, 5, 0.5f, 1.5f),
                   bias = RandomData(kF32, row, 6, -0.5f, 0.5f);
  ModelBuilder b(17);
  b.Input("x", kF32, c.shape);
  std::vector<TensorData> inputs = {x};
  std::vector<std::string> names = {"x", "scale"};
  if (c.bias) names.push_back("bias");
  for (size_t i = 1; i < names.size(); ++i) {
    const TensorData& data = i == 1 ? scale : bias;
    if (c.computed) {
      b.Input(names[i], kF32, row);
      inputs.push_back(data);
    } else {
      b.Constant(names[i], data);
    }
  }
  auto* node = b.Node("LayerNormalization", names, {"y"});
  SetInt(node, "axis", c.axis);
  SetFloat(node, "epsilon", 1e-3f);
  b.Output("y");
  CardCase sizes;
  sizes.sram_bytes = {0, 40 << 10, 12 << 10};
  sizes.may_refuse_less_sram = false;
  const auto y = ExpectCardEqualsReference(b.Bytes(), inputs, sizes);
  ASSERT_EQ(y.size(), 1u);
  for (int64_t first = 0; first < x.count(); first += d) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < d; ++i)
      mean += x.as<float>()[first + i] / double(d);
    for (int64_t i = 0; i < d; ++i) {
      variance += std::pow(x.as<float>()[first + i] - mean, 2) / double(d);
    }
    for (int64_t i = 0; i < d; ++i) {
      const double n =
          (x.as<float>()[first + i] - mean) / std::sqrt(variance + 1e-3f);
      EXPECT_NEAR(
          y[0].as<float>()[first + i],
          n * scale.as<float>()[i] + (c.bias ? bias.as<float>()[i] : 0.0f),
          4e-6 * (1 + std::fabs(n)));
    }
  }
}

TEST(LowerLayerNormalization, EveryForm) {
  const Case cases[] = {{{1, 9, 48}},
                        {{3, 5, 37}},
                        {{70, 5}},
                        {{19, 64}},
                        {{4, 3, 8, 10}, 1},
                        {{4, 3, 8, 10}, -2, false},
                        {{2, 7}, 0},
                        {{9, 30}, -1, true, true},
                        {{9, 30}, 1, false, true},
                        {{33}, 0, false},
                        {{5, 1}},
                        {{2, 20011}}};
  for (const Case& c : cases) Expect(c, RandomData(kF32, c.shape, 3));
}

// What the mean is large against.
TEST(LowerLayerNormalization, KeepsSmallDeviations) {
  TensorData x = RandomData(kF32, {3, 64}, 4, -0.5f, 0.5f);
  for (int64_t i = 0; i < x.count(); ++i) x.as<float>()[i] += 4;
  Expect({{3, 64}}, x);
}

TEST(LowerLayerNormalization, SpecialValues) {
  ModelBuilder b(17);
  b.Input("x", kF32, {5, 20});
  b.Constant("scale", Floats({}, {2}));
  SetFloat(b.Node("LayerNormalization", {"x", "scale"}, {"y"}), "epsilon", 0);
  b.Output("y");
  TensorData x = RandomData(kF32, {5, 20}, 1);
  x.as<float>()[0] = std::numeric_limits<float>::infinity();
  x.as<float>()[20] = std::nanf("");
  for (int i = 40; i < 60; ++i) x.as<float>()[i] = 3;  // no deviation
  for (int i = 60; i < 80; ++i) x.as<float>()[i] *= 1e-30f;
  ExpectCardEqualsReference(b.Bytes(), {x});
}

TEST(LowerLayerNormalization, MeansAndDeviations) {
  for (int outputs : {2, 3}) {
    ModelBuilder b(17);
    b.Input("x", kF32, {3, 4, 7, 5});
    b.Constant("scale", RandomData(kF32, {7, 5}, 2));
    std::vector<std::string> names = {"y", "mean", "inverse"};
    names.resize(outputs);
    SetInt(b.Node("LayerNormalization", {"x", "scale"}, names), "axis", 2);
    for (const std::string& name : names) b.Output(name);
    const TensorData x = RandomData(kF32, {3, 4, 7, 5}, 1);
    CardCase sizes;
    sizes.sram_bytes = {0, 12 << 10};
    const auto y = ExpectCardEqualsReference(b.Bytes(), {x}, sizes);
    ASSERT_EQ(y.size(), static_cast<size_t>(outputs));
    EXPECT_EQ(y[1].shape, (Shape{3, 4, 1, 1}));
    double sum = 0;
    for (int i = 0; i < 35; ++i) sum += x.as<float>()[i];
    EXPECT_NEAR(y[1].as<float>()[0], sum / 35, 1e-6);
  }
}

TEST(LowerLayerNormalization, Rejections) {
  const auto refused = [](int64_t stash, int64_t axis, const Shape& scale) {
    ModelBuilder b(17);
    b.Input("x", kF32, {4, 6});
    b.Constant("s", RandomData(kF32, scale, 1));
    auto* node = b.Node("LayerNormalization", {"x", "s"}, {"y"});
    SetInt(node, "stash_type", stash);
    SetInt(node, "axis", axis);
    b.Output("y");
    return RejectionOf(CompileOnnx(b.Bytes(), {}).status());
  };
  EXPECT_EQ(refused(1, -1, {6}), Rejection::kNone);
  EXPECT_EQ(refused(10, -1, {6}), Rejection::kUnsupportedAttribute);
  EXPECT_EQ(refused(1, 2, {6}), Rejection::kInvalidModel);
  EXPECT_EQ(refused(1, -1, {4}), Rejection::kUnsupportedShape);
}

}  // namespace
}  // namespace heddle::compiler
