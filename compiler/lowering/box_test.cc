// SPDX-License-Identifier: Apache-2.0
// Operations whose row, or contraction, does not fit SRAM: tiles are cut along
// columns and channels, weights along both of their channels. Nothing here may
// be rejected, however small the SRAM.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

CardCase Small(std::vector<uint64_t> sizes = {12 << 10, 20 << 10, 64 << 10}) {
  CardCase options;
  options.sram_bytes = std::move(sizes);
  options.may_refuse_less_sram = false;
  return options;
}

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

struct ConvCase {
  Shape x;
  int64_t maps, kernel, stride = 1, pad = 0, group = 1;
};

// QLinearConv of "x" to `y`.
void AddConv(ModelBuilder* b, const ConvCase& c, const std::string& x,
             const std::string& y) {
  const DataType type = DataType::kUint8;
  const Shape w = {c.maps, c.x[1] / c.group, c.kernel, c.kernel};
  // Results spread over the codes whatever the length of the contraction.
  const auto length = static_cast<float>(w[1] * c.kernel * c.kernel);
  b->Constant(y + "_xs", Floats({}, {0.02f}));
  b->Constant(y + "_xz", Code(type, 121));
  b->Constant(y + "_w", RandomData(DataType::kInt8, w, 5));
  b->Constant(y + "_ws", Floats({}, {0.01f}));
  b->Constant(y + "_wz", Code(DataType::kInt8, 0));
  b->Constant(y + "_ys", Floats({}, {0.01f * std::sqrt(length)}));
  b->Constant(y + "_yz", Code(type, 130));
  auto* node = b->Node("QLinearConv",
                       {x, y + "_xs", y + "_xz", y + "_w", y + "_ws", y + "_wz",
                        y + "_ys", y + "_yz"},
                       {y});
  SetInts(node, "strides", {c.stride, c.stride});
  SetInts(node, "pads", {c.pad, c.pad, c.pad, c.pad});
  SetInt(node, "group", c.group);
}

TEST(Boxes, QuantizedConvolutions) {
  for (const ConvCase& c : {ConvCase{{1, 64, 4, 160}, 48, 3, 1, 1},
                            {{1, 40, 7, 301}, 20, 3, 2, 1},
                            {{1, 3, 9, 700}, 24, 7, 2, 3},
                            {{1, 70, 3, 500}, 33, 1},
                            {{2, 96, 4, 400}, 96, 3, 1, 1, 96},
                            {{1, 24, 4, 260}, 40, 5, 1, 4}}) {
    SCOPED_TRACE(ShapeToString(c.x));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    AddConv(&b, c, "x", "y");
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                              Small());
  }
}

TEST(Boxes, GroupedConvolutions) {
  for (const ConvCase& c : {ConvCase{{1, 128, 7, 9}, 128, 3, 1, 1, 32},
                            {{1, 96, 5, 6}, 64, 3, 2, 1, 2},
                            {{1, 24, 6, 5}, 48, 3, 1, 1, 3},
                            {{2, 64, 4, 60}, 192, 1, 1, 0, 8},
                            {{1, 2048, 3, 3}, 64, 3, 1, 1, 2}}) {
    SCOPED_TRACE(ShapeToString(c.x));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    AddConv(&b, c, "x", "y");
    b.Constant("s", Floats({}, {0.3f}));
    b.Constant("z", Code(DataType::kUint8, 100));
    b.Node("QLinearLeakyRelu", {"y", "s", "z", "s", "z"}, {"r"}, kMicrosoft);
    b.Output("r");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                              Small({0, 16 << 10, 64 << 10}));
  }
}

TEST(Boxes, ContractionsInParts) {
  for (const ConvCase& c : {ConvCase{{1, 1792, 3, 5}, 40, 3, 1, 1},
                            {{1, 300, 4, 20}, 20, 7, 1, 3},
                            {{2, 5000, 1, 3}, 37, 1}}) {
    SCOPED_TRACE(ShapeToString(c.x));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    AddConv(&b, c, "x", "y");
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                              Small({0, 16 << 10, 48 << 10}));
  }
}

TEST(Boxes, LongContractionsToWideResults) {
  for (bool constant : {true, false}) {
    SCOPED_TRACE(constant);
    ModelBuilder b;
    const TensorData w = RandomData(DataType::kUint8, {5000, 70}, 7);
    b.Input("x", DataType::kUint8, {40, 5000});
    if (constant) {
      b.Constant("w", w);
    } else {
      b.Input("w", DataType::kUint8, w.shape);
    }
    b.Node("MatMulInteger", {"x", "w"}, {"y"});
    b.Output("y");
    std::vector<TensorData> inputs = {
        RandomData(DataType::kUint8, {40, 5000}, 3)};
    if (!constant) inputs.push_back(w);
    ExpectCardEqualsReference(b.Bytes(), inputs, Small({16 << 10, 64 << 10}));
  }
}

TEST(Boxes, OutputStages) {
  const ConvCase c{{1, 48, 5, 300}, 48, 3, 1, 1};
  ModelBuilder b;
  b.Input("x", DataType::kUint8, c.x);
  AddConv(&b, c, "x", "y");
  b.Constant("s", Floats({}, {0.3f}));
  b.Constant("z", Code(DataType::kUint8, 100));
  b.Node("QLinearLeakyRelu", {"y", "s", "z", "s", "z"}, {"r"}, kMicrosoft);
  b.Node("QLinearAdd", {"r", "s", "z", "x", "s", "z", "s", "z"}, {"sum"},
         kMicrosoft);
  b.Output("sum");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                            Small());
}

TEST(Boxes, PoolingsBehindConvolutions) {
  for (int64_t kernel : {2, 3}) {
    const ConvCase c{{1, 40, 6, 300}, 40, 3, 1, 1};
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    AddConv(&b, c, "x", "y");
    auto* pool = b.Node("MaxPool", {"y"}, {"p"});
    SetInts(pool, "kernel_shape", {kernel, kernel});
    SetInts(pool, "strides", {2, 2});
    b.Output("p");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                              Small());
  }
}

TEST(Boxes, QuantizeAndDequantize) {
  for (const Shape& shape : {Shape{1, 70, 1024}, Shape{30, 3000},
                             Shape{1, 50, 3, 900}, Shape{1, 2000, 2, 3}}) {
    SCOPED_TRACE(ShapeToString(shape));
    ModelBuilder b;
    b.Input("x", DataType::kFloat, shape);
    b.Quantize("x", "q", 0.03f, Code(DataType::kUint8, 120));
    b.Constant("s", Floats({}, {0.03f}));
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Node("QLinearSigmoid", {"q", "s", "z", "s", "z"}, {"t"}, kMicrosoft);
    b.Dequantize("t", "y", Floats({}, {0.03f}), Code(DataType::kUint8, 120));
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, shape, 3)},
                              Small({8 << 10, 12 << 10, 40 << 10}));
  }
}

TEST(Boxes, Poolings) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (DataType type : {DataType::kFloat, DataType::kUint8}) {
      const bool codes = type == DataType::kUint8;
      if (codes && op == std::string("AveragePool")) continue;
      const Shape shape = {1, 40, 7, 500};
      SCOPED_TRACE(op);
      ModelBuilder b;
      b.Input("x", type, shape);
      auto* node = b.Node(op, {"x"}, {"y"});
      SetInts(node, "kernel_shape", {3, 3});
      SetInts(node, "strides", {2, 2});
      SetInts(node, "pads", {1, 1, 1, 1});
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 3)},
                                Small());
    }
  }
}

TEST(Boxes, QuantizedAveragePooling) {
  const Shape shape = {1, 40, 7, 500};
  ModelBuilder b;
  b.Input("x", DataType::kUint8, shape);
  b.Constant("s", Floats({}, {0.3f}));
  b.Constant("z", Code(DataType::kUint8, 100));
  auto* node = b.Node("QLinearAveragePool", {"x", "s", "z", "s", "z"}, {"y"},
                      kMicrosoft);
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "strides", {2, 2});
  SetInts(node, "pads", {1, 1, 1, 1});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, shape, 3)},
                            Small());
}

TEST(Boxes, FloatProducts) {
  for (const Shape& mkn : {Shape{9, 130, 1500}, Shape{40, 900, 50},
                           Shape{3, 3000, 70}, Shape{70, 64, 400}}) {
    SCOPED_TRACE(ShapeToString(mkn));
    for (bool constant : {true, false}) {
      ModelBuilder b;
      const TensorData w = RandomData(DataType::kFloat, {mkn[1], mkn[2]}, 7);
      b.Input("x", DataType::kFloat, {mkn[0], mkn[1]});
      if (constant) {
        b.Constant("w", w);
      } else {
        b.Input("w", DataType::kFloat, w.shape);
      }
      b.Constant("c", RandomData(DataType::kFloat, {mkn[2]}, 9));
      b.Node("Gemm", {"x", "w", "c"}, {"y"});
      b.Output("y");
      std::vector<TensorData> inputs = {
          RandomData(DataType::kFloat, {mkn[0], mkn[1]}, 3)};
      if (!constant) inputs.push_back(w);
      ExpectCardEqualsReference(b.Bytes(), inputs, Small({12 << 10, 64 << 10}));
    }
  }
}

TEST(Boxes, FloatConvolutions) {
  const Shape shape = {1, 6, 5, 400};
  for (bool transposed : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, shape);
    b.Constant(
        "w",
        RandomData(DataType::kFloat,
                   transposed ? Shape{6, 10, 3, 3} : Shape{10, 6, 3, 3}, 7));
    auto* node =
        b.Node(transposed ? "ConvTranspose" : "Conv", {"x", "w"}, {"y"});
    SetInts(node, "pads", {1, 1, 1, 1});
    SetInts(node, "strides", {2, 2});
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kFloat, shape, 3)}, Small());
  }
}

TEST(Boxes, Elementwise) {
  const Shape shape = {2, 40, 3, 900};
  for (const Shape& other :
       {shape, Shape{1, 1, 1, 900}, Shape{40, 1, 1}, Shape{2, 40, 3, 1}}) {
    SCOPED_TRACE(ShapeToString(other));
    ModelBuilder b;
    b.Input("x", DataType::kFloat, shape);
    b.Input("o", DataType::kFloat, other);
    b.Node("Add", {"x", "o"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, shape, 3),
                               RandomData(DataType::kFloat, other, 4)},
                              Small());
  }
}

// Shapes of well-known networks, with all of the SRAM: of BERT, of VGG's first
// fully connected layer, of a vocabulary, of 1080p images.
TEST(Boxes, LargeShapesCompile) {
  const auto compile = [](const ModelBuilder& b) {
    for (const isa::Config& config : isa::kConfigs) {
      CompileOptions options;
      options.config = config.name;
      options.goal = Goal::kCompileTime;
      EXPECT_EQ(CompileOnnx(b.Bytes(), options).status(), absl::OkStatus())
          << config.name;
    }
  };
  for (const ConvCase& c : {ConvCase{{1, 64, 1080, 1920}, 64, 3, 1, 1},
                            {{1, 128, 512, 512}, 128, 3, 1, 1},
                            {{1, 1792, 14, 14}, 64, 3, 1, 1},
                            {{1, 256, 28, 28}, 64, 7, 1, 3},
                            {{1, 25088, 1, 1}, 1024, 1}}) {
    SCOPED_TRACE(ShapeToString(c.x));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    AddConv(&b, c, "x", "y");
    b.Output("y");
    compile(b);
  }
  {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {1, 128, 1024});
    b.Quantize("x", "q", 0.03f, Code(DataType::kUint8, 120));
    b.Dequantize("q", "y", Floats({}, {0.03f}), Code(DataType::kUint8, 120));
    b.Output("y");
    compile(b);
  }
  {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {1, 64, 320, 320});
    SetInts(b.Node("MaxPool", {"x"}, {"y"}), "kernel_shape", {3, 3});
    b.Output("y");
    compile(b);
  }
  {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {128, 128});
    b.Constant("w", RandomData(DataType::kFloat, {128, 30522}, 3));
    b.Node("MatMul", {"x", "w"}, {"y"});
    b.Output("y");
    compile(b);
  }
}

}  // namespace
}  // namespace heddle::compiler
