// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_layer_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kOutScale = 0.02f;

struct Case {
  Shape shape = {1, 9, 48};
  DataType type = DataType::kUint8;
  float scale = 0.04f;
  int zero = 130;
  bool affine = true;       // gamma and beta
  bool multiplies = false;  // c * c instead of Pow
  bool positive_axis = false;
  std::string also_read;  // a tensor that is an output, too
  bool floats = false;    // no codes on either side
  bool onnx = false;      // LayerNormalization instead of primitive operators
};

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

void Primitives(const Case& c, ModelBuilder* builder) {
  ModelBuilder& b = *builder;
  const int64_t axis =
      c.positive_axis ? static_cast<int64_t>(c.shape.size()) - 1 : -1;
  SetInts(b.Node("ReduceMean", {"x"}, {"mean"}), "axes", {axis});
  b.Node("Sub", {"x", "mean"}, {"c"});
  b.Constant("two", Floats({}, {2}));
  if (c.multiplies) {
    b.Node("Mul", {"c", "c"}, {"square"});
  } else {
    b.Node("Pow", {"c", "two"}, {"square"});
  }
  SetInts(b.Node("ReduceMean", {"square"}, {"variance"}), "axes", {axis});
  b.Constant("eps", Floats({}, {1e-5f}));
  b.Node("Add", {"variance", "eps"}, {"sum"});
  b.Node("Sqrt", {"sum"}, {"deviation"});
  b.Node("Div", {"c", "deviation"}, {"n"});
  if (c.affine) {
    b.Node("Mul", {"gamma", "n"}, {"m"});
    b.Node("Add", {"m", "beta"}, {"a"});
  }
}

ModelBuilder Model(const Case& c) {
  ModelBuilder b(c.onnx ? 17 : 13);
  const int64_t d = c.shape.back();
  if (c.floats) {
    b.Input("x", DataType::kFloat, c.shape);
  } else {
    b.Input("q", c.type, c.shape);
    b.Dequantize("q", "x", Floats({}, {c.scale}), Code(c.type, c.zero));
  }
  if (c.affine) {
    b.Constant("gamma", RandomData(DataType::kFloat, {d}, 5, 0.5f, 1.5f));
    b.Constant("beta", RandomData(DataType::kFloat, {d}, 6, -0.5f, 0.5f));
  }
  const std::string y = c.affine ? "a" : "n";
  if (c.onnx) {
    b.Node("LayerNormalization", {"x", "gamma", "beta"}, {y});
  } else {
    Primitives(c, &b);
  }
  if (c.floats) {
    b.Output(y);
    if (!c.also_read.empty()) b.Output(c.also_read);
    return b;
  }
  b.Quantize(y, "yq", kOutScale, Code(c.type, 120));
  b.Dequantize("yq", "y", Floats({}, {kOutScale}), Code(c.type, 120));
  b.Output("y");
  if (!c.also_read.empty()) b.Output(c.also_read);
  return b;
}

int Count(const Graph& graph, const std::string& op) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&op](const Node& n) { return n.op == op; }));
}

// In binary64.
std::vector<double> Exact(const Case& c, const TensorData& q) {
  const int64_t d = c.shape.back();
  const TensorData gamma = RandomData(DataType::kFloat, {d}, 5, 0.5f, 1.5f);
  const TensorData beta = RandomData(DataType::kFloat, {d}, 6, -0.5f, 0.5f);
  std::vector<double> y(q.count());
  for (int64_t row = 0; row < q.count(); row += d) {
    double mean = 0, variance = 0;
    for (int64_t i = row; i < row + d; ++i) {
      const int code = c.type == DataType::kInt8
                           ? static_cast<int8_t>(q.bytes[i])
                           : q.bytes[i];
      y[i] = double{c.scale} * (code - c.zero);
      mean += y[i] / static_cast<double>(d);
    }
    for (int64_t i = row; i < row + d; ++i) {
      y[i] -= mean;
      variance += y[i] * y[i] / static_cast<double>(d);
    }
    for (int64_t i = row; i < row + d; ++i) {
      y[i] /= std::sqrt(variance + double{1e-5f});
      if (!c.affine) continue;
      y[i] = y[i] * gamma.as<float>()[i - row] + beta.as<float>()[i - row];
    }
  }
  return y;
}

// One node, the nearest code to the exact result, and equal on the card.
void Expect(const Case& c, const TensorData& q) {
  const std::string model = Model(c).Bytes();
  auto graph = AnalyseOnnx(model, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "LayerNorm"), 1);
  EXPECT_EQ(Count(*graph, "ReduceMean"), 0) << graph->ToString();
  CardCase sizes;
  sizes.sram_bytes = {0, 32 << 10, 12 << 10};
  sizes.may_refuse_less_sram = false;
  const auto y = ExpectCardEqualsReference(model, {q}, sizes);
  ASSERT_EQ(y.size(), 1u);
  const double low = c.type == DataType::kInt8 ? -248 : -120,
               high = c.type == DataType::kInt8 ? 7 : 135;
  const std::vector<double> exact = Exact(c, q);
  for (int64_t i = 0; i < q.count(); ++i) {
    EXPECT_NEAR(y[0].as<float>()[i] / kOutScale,
                std::clamp(exact[i] / kOutScale, low, high), 0.501)
        << i;
  }
}

TEST(FuseLayerNorm, EveryForm) {
  Case signed_codes;
  signed_codes.type = DataType::kInt8;
  signed_codes.zero = -3;
  Case plain;
  plain.affine = false;
  plain.multiplies = plain.positive_axis = true;
  Case matrix;
  matrix.shape = {21, 32};
  Case narrow;
  narrow.shape = {2, 7, 5};
  Case odd;
  odd.shape = {3, 5, 4, 37};
  Case wide;
  wide.shape = {1, 3, 1000};
  Case onnx;
  onnx.onnx = true;
  Case wider = signed_codes;
  wider.shape = {2, 20011};
  for (const Case& c :
       {Case(), signed_codes, plain, matrix, narrow, odd, wide, wider, onnx}) {
    SCOPED_TRACE(ShapeToString(c.shape));
    Expect(c, RandomData(c.type, c.shape, 3));
  }
}

// Rows whose mean is large and whose codes hardly differ, or not at all.
TEST(FuseLayerNorm, NearlyConstantRows) {
  for (float scale : {0.001f, 0.04f, 3.0f}) {
    Case c;
    c.shape = {6, 64};
    c.scale = scale;
    c.zero = 0;
    TensorData q = TensorData::Zeros(DataType::kUint8, c.shape);
    for (int64_t i = 0; i < q.count(); ++i) {
      const int64_t row = i / 64, column = i % 64;
      q.bytes[i] = static_cast<uint8_t>(
          row == 0 ? 255 : 250 - 40 * (row - 1) + (column % (11 - row) == 0));
    }
    Expect(c, q);
  }
}

TEST(FuseLayerNorm, KeepsWhatOthersRead) {
  for (const char* tensor : {"mean", "c", "deviation", "n"}) {
    Case c;
    c.also_read = tensor;
    auto graph = AnalyseOnnx(Model(c).Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(Count(*graph, "LayerNorm"), 0) << tensor;
  }
}

// Of fp32: one LayerNormalization, near the primitive operators' results, and
// equal on the card.
TEST(FuseLayerNorm, OfFloats) {
  for (const Shape& shape :
       {Shape{1, 9, 48}, Shape{21, 32}, Shape{2, 7, 5}, Shape{2, 5003}}) {
    for (bool affine : {true, false}) {
      SCOPED_TRACE(ShapeToString(shape));
      Case c;
      c.floats = true;
      c.shape = shape;
      c.affine = affine;
      c.multiplies = c.positive_axis = !affine;
      const std::string model = Model(c).Bytes();
      auto graph = AnalyseOnnx(model, {});
      ASSERT_TRUE(graph.ok()) << graph.status();
      EXPECT_EQ(Count(*graph, "LayerNormalization"), 1) << graph->ToString();
      EXPECT_EQ(graph->nodes.size(), 1u);
      EXPECT_EQ(graph->nodes[0].sources.size(), affine ? 9u : 7u);
      CompileOptions apart;
      apart.fuse_quantization = false;
      auto plain = AnalyseOnnx(model, apart);
      ASSERT_TRUE(plain.ok()) << plain.status();
      EXPECT_EQ(Count(*plain, "LayerNormalization"), 0);
      const TensorData x = RandomData(DataType::kFloat, shape, 3);
      auto expected = EvaluateGraph(*plain, {x});
      ASSERT_TRUE(expected.ok()) << expected.status();
      CardCase sizes;
      sizes.sram_bytes = {0, 32 << 10, 12 << 10};
      sizes.may_refuse_less_sram = false;
      const auto y = ExpectCardEqualsReference(model, {x}, sizes);
      ASSERT_EQ(y.size(), 1u);
      const TensorData& z = (*expected)[plain->outputs[0]];
      for (int64_t i = 0; i < x.count(); ++i) {
        EXPECT_NEAR(y[0].as<float>()[i], z.as<float>()[i], 3e-6) << i;
      }
    }
  }
}

// What others read stays; the factors may then be operators of their own.
TEST(FuseLayerNorm, OfFloatsKeepsWhatOthersRead) {
  for (const char* tensor : {"mean", "c", "deviation", "n"}) {
    Case c;
    c.floats = true;
    c.also_read = tensor;
    const std::string model = Model(c).Bytes();
    auto graph = AnalyseOnnx(model, {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(Count(*graph, "LayerNormalization"), *tensor == 'n' ? 1 : 0)
        << tensor;
    ExpectCardEqualsReference(model,
                              {RandomData(DataType::kFloat, c.shape, 3)});
  }
}

}  // namespace
}  // namespace heddle::compiler
