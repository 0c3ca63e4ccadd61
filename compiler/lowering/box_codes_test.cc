// SPDX-License-Identifier: Apache-2.0
// Operations on codes, moves and large constants of which a row does not fit
// SRAM: tiles are cut along every axis. Nothing here may be rejected, however
// small the SRAM.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

CardCase Small() {
  CardCase options;
  options.sram_bytes = {12 << 10, 40 << 10};
  options.may_refuse_less_sram = false;
  return options;
}

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

TEST(BoxesOfCodes, Concatenation) {
  // Parts with tables of their own and without, along channels (whole words and
  // not), rows and columns, and of vectors longer than SRAM.
  const struct {
    std::vector<Shape> parts;
    int64_t axis;
  } cases[] = {{{{1, 24, 3, 300}, {1, 20, 3, 300}, {1, 32, 3, 300}}, 1},
               {{{1, 24, 3, 300}, {1, 24, 2, 300}, {1, 24, 1, 300}}, 2},
               {{{1, 300, 2, 30}, {1, 300, 2, 51}, {1, 300, 2, 7}}, 3},
               {{{1, 24, 300}, {1, 24, 301}}, 2},
               {{{2, 9001}, {2, 333}}, 1},
               {{{1, 5000, 1, 2}, {1, 1001, 1, 2}}, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.parts[0]) + std::to_string(c.axis));
    ModelBuilder b;
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Constant("s0", Floats({}, {0.03f}));
    b.Constant("s1", Floats({}, {0.05f}));
    std::vector<std::string> in = {"s0", "z"};
    std::vector<TensorData> x;
    for (size_t i = 0; i < c.parts.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      b.Input(name, DataType::kUint8, c.parts[i]);
      x.push_back(RandomData(DataType::kUint8, c.parts[i], i + 3));
      in.insert(in.end(), {name, i % 2 == 0 ? "s0" : "s1", "z"});
    }
    SetInt(b.Node("QLinearConcat", in, {"y"}, kMicrosoft), "axis", c.axis);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), x, Small());
  }
}

TEST(BoxesOfCodes, GlobalPooling) {
  for (const Shape& shape :
       {Shape{2, 40, 9, 11}, Shape{1, 600, 3, 5}, Shape{1, 205, 1, 75},
        Shape{1, 20, 60, 50}, Shape{1, 17, 3, 2100}}) {
    SCOPED_TRACE(ShapeToString(shape));
    ModelBuilder b;
    b.Input("x", DataType::kInt8, shape);
    b.Constant("xs", Floats({}, {0.03f}));
    b.Constant("ys", Floats({}, {0.004f}));
    b.Constant("z", Code(DataType::kInt8, 5));
    b.Node("QLinearGlobalAveragePool", {"x", "xs", "z", "ys", "z"}, {"y"},
           kMicrosoft);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kInt8, shape, 3)}, Small());
  }
}

TEST(BoxesOfCodes, AveragePoolingOfFloats) {
  const Shape shape = {1, 2, 5, 3000};
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  auto* node = b.Node("AveragePool", {"x"}, {"y"});
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kFloat, shape, 3)},
                            Small());
}

// Windows of which 16 channels, one channel, or one row is more than SRAM.
TEST(BoxesOfCodes, LargeWindowsOfFloats) {
  const struct {
    Shape shape, kernel, pads;
  } cases[] = {{{1, 19, 22, 24}, {21, 24}, {0, 0, 0, 0}},
               {{1, 2, 80, 61}, {79, 60}, {2, 0, 1, 1}},
               {{2, 1, 3, 3700}, {2, 3697}, {0, 3, 1, 0}},
               {{1, 2, 3500}, {3500}, {0, 0}}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      for (const char* op : {"AveragePool", "MaxPool"}) {
        SCOPED_TRACE(op + ShapeToString(c.shape));
        ModelBuilder b;
        b.Input("x", type, c.shape);
        auto* node = b.Node(op, {"x"}, {"y"});
        SetInts(node, "kernel_shape", c.kernel);
        SetInts(node, "pads", c.pads);
        b.Output("y");
        ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, 3)},
                                  Small());
      }
    }
  }
}

TEST(BoxesOfCodes, ProductsOfComputedMatrices) {
  const struct {
    Shape a, b;
  } cases[] = {{{3, 900}, {900, 70}},
               {{2, 3, 40, 50}, {3, 50, 300}},
               {{60, 7, 300}, {1, 300, 33}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.a));
    ModelBuilder b;
    b.Input("a", DataType::kUint8, c.a);
    b.Input("b", DataType::kUint8, c.b);
    b.Input("az", DataType::kUint8, {});
    b.Input("bz", DataType::kUint8, {});
    b.Node("MatMulInteger", {"a", "b", "az", "bz"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kUint8, c.a, 3),
         RandomData(DataType::kUint8, c.b, 4), Code(DataType::kUint8, 111),
         Code(DataType::kUint8, 140)},
        Small());
  }
}

TEST(BoxesOfCodes, TransposedProducts) {
  for (const Shape& shape : {Shape{300, 90}, Shape{40, 2000}}) {
    SCOPED_TRACE(ShapeToString(shape));
    ModelBuilder b;
    b.Input("a", DataType::kUint8, shape);
    b.Constant("s", Floats({}, {0.01f}));
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Constant("b", RandomData(DataType::kUint8, {shape[0], 20}, 4));
    b.Constant("ys", Floats({}, {0.2f}));
    auto* node = b.Node("QGemm", {"a", "s", "z", "b", "s", "z", "", "ys", "z"},
                        {"y"}, kMicrosoft);
    SetInt(node, "transA", 1);
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kUint8, shape, 3)}, Small());
  }
}

// The zero point is computed at run time, so every result subtracts a multiple
// of what the taps inside the image weigh.
TEST(BoxesOfCodes, PaddedConvolutionsWithAComputedZeroPoint) {
  const struct {
    Shape x;
    int64_t maps, kernel, stride, pad;
  } cases[] = {{{1, 3, 70, 90}, 8, 3, 1, 1},
               {{2, 5, 20, 31}, 20, 5, 2, 2},
               {{1, 4, 900}, 6, 3, 1, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.x));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    b.Input("xz", DataType::kUint8, {});
    Shape w = {c.maps, c.x[1]};
    const size_t rank = c.x.size() - 2;
    w.insert(w.end(), rank, c.kernel);
    b.Constant("w", RandomData(DataType::kInt8, w, 5));
    b.Constant("wz", Code(DataType::kInt8, 3));
    auto* node = b.Node("ConvInteger", {"x", "w", "xz", "wz"}, {"y"});
    SetInts(node, "strides", Shape(rank, c.stride));
    SetInts(node, "pads", Shape(2 * rank, c.pad));
    b.Output("y");
    CardCase sizes = Small();
    sizes.sram_bytes.push_back(0);
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kUint8, c.x, 3), Code(DataType::kUint8, 77)},
        sizes);
  }
}

TEST(BoxesOfCodes, ConvolutionsWithComputedWeights) {
  const struct {
    const char* op;
    Shape x, w;
    int64_t group;
  } cases[] = {{"Conv", {1, 30, 5, 6}, {40, 30, 3, 3}, 1},
               {"Conv", {1, 600, 2, 3}, {18, 600, 1, 1}, 1},
               {"Conv", {2, 24, 4, 5}, {48, 6, 3, 3}, 4},
               {"Conv", {1, 500, 3, 3}, {500, 1, 3, 3}, 500},
               {"ConvTranspose", {1, 30, 4, 3}, {30, 40, 3, 3}, 1},
               {"ConvTranspose", {1, 6, 4, 3}, {6, 400, 2, 2}, 2}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      const bool transposed = c.op == std::string("ConvTranspose");
      SCOPED_TRACE(c.op + ShapeToString(c.w));
      const Shape bias = {transposed ? c.w[1] * c.group : c.w[0]};
      ModelBuilder b;
      b.Input("x", type, c.x);
      b.Input("w", type, c.w);
      b.Input("b", type, bias);
      auto* node = b.Node(c.op, {"x", "w", "b"}, {"y"});
      SetInt(node, "group", c.group);
      SetInts(node, "strides", {1, transposed ? 2 : 1});
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {RandomData(type, c.x, 3), RandomData(type, c.w, 4, -1, 1),
           RandomData(type, bias, 5)},
          Small());
    }
  }
}

// As every dynamically quantized network of images begins.
TEST(BoxesOfCodes, ImagesWithAComputedZeroPoint) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 224, 224});
  b.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  b.Constant("w", RandomData(DataType::kInt8, {64, 3, 3, 3}, 5));
  auto* node = b.Node("ConvInteger", {"q", "w", "z"}, {"y"});
  SetInts(node, "pads", {1, 1, 1, 1});
  b.Output("y");
  for (const isa::Config& config : isa::kConfigs) {
    CompileOptions options;
    options.config = config.name;
    options.goal = Goal::kCompileTime;
    EXPECT_EQ(CompileOnnx(b.Bytes(), options).status(), absl::OkStatus())
        << config.name;
  }
}

// 4,000 channels with factors of their own, dense and blocked.
TEST(BoxesOfCodes, LargeConstants) {
  const Shape shape = {1, 4000, 1, 3};
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  b.Constant("p", RandomData(DataType::kFloat, {4000, 1, 1}, 5));
  b.Node("PRelu", {"x", "p"}, {"f"});
  b.Constant("s", RandomData(DataType::kFloat, {4000}, 6, 0.01f, 0.05f));
  b.Constant("z", RandomData(DataType::kUint8, {4000}, 7));
  SetInt(b.Node("QuantizeLinear", {"f", "s", "z"}, {"q"}), "axis", 1);
  SetInt(b.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}), "axis", 1);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kFloat, shape, 3)},
                            Small());
}

TEST(BoxesOfCodes, Moves) {
  // Behind a table codes are blocked, floats are dense.
  const struct {
    Shape shape;
    const char* op;
    Shape values;  // of the attribute that follows
    const char* attribute;
  } cases[] = {{{1, 32, 3, 1500}, "Pad", {0, 0, 1, 2, 0, 0, 0, 3}, "pads"},
               {{1, 2048, 2, 5}, "Pad", {0, 0, 0, 1, 0, 0, 1, 0}, "pads"},
               {{1, 48, 3, 700}, "Transpose", {0, 3, 2, 1}, "perm"},
               {{3, 1700, 2}, "Transpose", {2, 1, 0}, "perm"}};
  for (const auto& c : cases) {
    for (bool codes : {true, false}) {
      if (codes && c.op == std::string("Pad")) continue;  // of floats only
      SCOPED_TRACE(c.op + ShapeToString(c.shape));
      ModelBuilder b(10);
      const DataType type = codes ? DataType::kUint8 : DataType::kFloat;
      b.Input("x", type, c.shape);
      std::string from = "x";
      if (codes && c.shape.size() == 4) {
        b.Constant("s", Floats({}, {0.03f}));
        b.Constant("z", Code(DataType::kUint8, 120));
        b.Node("QLinearSigmoid", {"x", "s", "z", "s", "z"}, {"t"}, kMicrosoft);
        from = "t";
      }
      SetInts(b.Node(c.op, {from}, {"y"}), c.attribute, c.values);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, 3)},
                                Small());
    }
  }
}

// Concat and Split of blocked codes, of which a row is longer than SRAM.
TEST(BoxesOfCodes, BlockedMoves) {
  for (int64_t axis : {1, 2, 3}) {
    const Shape shape = {1, 64, 2, 600};
    SCOPED_TRACE(axis);
    ModelBuilder b;
    b.Input("x", DataType::kUint8, shape);
    b.Constant("s", Floats({}, {0.03f}));
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Node("QLinearSigmoid", {"x", "s", "z", "s", "z"}, {"t"}, kMicrosoft);
    SetInt(b.Node("Split", {"t"}, {"a", "b"}), "axis", axis);
    SetInt(b.Node("Concat", {"b", "t", "a"}, {"c"}), "axis", axis);
    b.Node("QLinearSigmoid", {"c", "s", "z", "s", "z"}, {"y"}, kMicrosoft);
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kUint8, shape, 3)}, Small());
  }
}

// Rows of a table that are chosen at run time.
TEST(BoxesOfCodes, GatheredRows) {
  for (bool resident : {true, false}) {
    const Shape table = resident ? Shape{7, 2500} : Shape{50, 6001};
    ModelBuilder b;
    b.Input("t", DataType::kFloat, table);
    b.Input("i", DataType::kInt64, {5});
    std::string from = "t";
    if (resident) {
      b.Node("Relu", {"t"}, {"r"});
      from = "r";
    }
    b.Node("Gather", {from, "i"}, {"y"});
    b.Output("y");
    CardCase sizes = Small();
    sizes.sram_bytes.push_back(0);
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, table, 3),
                               Int64s({5}, {3, -1, 0, 6, -7})},
                              sizes);
  }
}

}  // namespace
}  // namespace heddle::compiler
