// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

CardCase SeveralSizes() {
  CardCase options;
  options.sram_bytes = {0, 16 << 10, 40 << 10};
  return options;
}

std::string PerChannel(const char* op, DataType type, const Shape& shape,
                       int parameters) {
  ModelBuilder b(15);
  b.Input("x", type, shape);
  std::vector<std::string> inputs = {"x"};
  for (int i = 0; i < parameters; ++i) {
    inputs.push_back("p" + std::to_string(i));
    b.Constant(inputs.back(),
               RandomData(type, {shape[1]}, 50 + i, i == 3 ? 0.1f : -1, 2));
  }
  SetFloat(b.Node(op, inputs, {"y"}), "epsilon", 1e-3f);
  b.Output("y");
  return b.Bytes();
}

TEST(LowerNormalization, BatchNormalization) {
  int seed = 0;
  for (const Shape& shape : {Shape{2, 5, 13, 7}, Shape{4, 6}, Shape{2, 3, 50},
                             Shape{1, 70, 9, 9}, Shape{2, 3, 2, 3, 4}}) {
    for (const DataType type : {DataType::kFloat, DataType::kFloat16}) {
      SCOPED_TRACE(ShapeToString(shape));
      ExpectCardEqualsReference(
          PerChannel("BatchNormalization", type, shape, 4),
          {RandomData(type, shape, ++seed)}, SeveralSizes());
    }
  }
}

TEST(LowerNormalization, InstanceNormalization) {
  int seed = 0;
  // The last has planes of two pieces.
  for (const Shape& shape :
       {Shape{2, 5, 13, 7}, Shape{2, 3, 50}, Shape{1, 2, 1, 1},
        Shape{1, 17, 33, 30}, Shape{2, 3, 70, 64}}) {
    for (const DataType type : {DataType::kFloat, DataType::kFloat16}) {
      SCOPED_TRACE(ShapeToString(shape));
      ExpectCardEqualsReference(
          PerChannel("InstanceNormalization", type, shape, 2),
          {RandomData(type, shape, ++seed)}, SeveralSizes());
    }
  }
}

TEST(LowerNormalization, Lrn) {
  const struct {
    Shape shape;
    int64_t size;
    float beta;
  } cases[] = {{{1, 7, 9, 9}, 5, 0.75f},    {{2, 3, 5, 4}, 3, 0.5f},
               {{1, 4, 11}, 2, 1.0f},       {{1, 3, 5, 5}, 9, 0.75f},
               {{1, 40, 27, 27}, 5, 0.75f}, {{3, 5}, 1, 2.5f}};
  int seed = 0;
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.shape));
    const DataType type =
        ++seed % 3 == 0 ? DataType::kFloat16 : DataType::kFloat;
    ModelBuilder b(13);
    b.Input("x", type, c.shape);
    onnx::NodeProto* node = b.Node("LRN", {"x"}, {"y"});
    SetInt(node, "size", c.size);
    SetFloat(node, "beta", c.beta);
    SetFloat(node, "alpha", 0.3f);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, seed)},
                              SeveralSizes());
  }
}

TEST(LowerNormalization, LrnAgreesWithTheDefinition) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {1, 6, 1, 1});
  SetInt(b.Node("LRN", {"x"}, {"y"}), "size", 4);
  b.Output("y");
  const TensorData x = Floats({1, 6, 1, 1}, {100, -200, 30, 40, 0, -60});
  const auto y = ExpectCardEqualsReference(b.Bytes(), {x});
  ASSERT_EQ(y.size(), 1u);
  for (int c = 0; c < 6; ++c) {
    double sum = 0;
    for (int k = std::max(0, c - 1); k <= std::min(5, c + 2); ++k) {
      sum += double(x.as<float>()[k]) * x.as<float>()[k];
    }
    const double expected =
        x.as<float>()[c] / std::pow(1 + 1e-4 / 4 * sum, 0.75);
    EXPECT_NEAR(y[0].as<float>()[c], expected, 1e-5 * std::abs(expected));
  }
}

}  // namespace
}  // namespace heddle::compiler
