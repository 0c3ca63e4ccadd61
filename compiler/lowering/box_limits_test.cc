// SPDX-License-Identifier: Apache-2.0
// What one command, one pass through SRAM or the memory of microprograms cannot
// hold: windows, contractions, images, stacks, tables and programs beyond every
// field of the instruction set. All of it is done in several commands; nothing
// here may be rejected.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

CardCase Sizes(std::vector<uint64_t> sram = {12 << 10}) {
  CardCase options;
  options.sram_bytes = std::move(sram);
  options.may_refuse_less_sram = false;
  return options;
}

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

struct ConvCase {
  Shape x, w;
  std::vector<int64_t> strides, dilations, pads;
  int64_t group = 1;
};

// Beyond a command: strides of more than 15 (patches of a vision transformer),
// kernels and dilations of more than 255, images of more than 65,535 rows.
const ConvCase kConvolutions[] = {
    {{1, 3, 32, 48}, {20, 3, 16, 16}, {16, 16}, {1, 1}, {0, 0, 0, 0}},
    {{2, 4, 40, 37}, {6, 2, 3, 3}, {17, 2}, {1, 1}, {1, 2, 0, 1}, 2},
    {{1, 5, 50, 33}, {5, 1, 3, 2}, {16, 1}, {1, 1}, {1, 0, 1, 0}, 5},
    {{1, 3, 5, 700}, {4, 3, 2, 3}, {1, 1}, {1, 300}, {0, 20, 0, 0}},
    {{1, 3, 1000}, {4, 3, 700}, {1}, {1}, {31}},
    {{1, 20, 310, 3}, {4, 20, 300, 2}, {1, 1}, {1, 1}, {0, 1, 0, 0}},
    {{1, 2, 3, 330}, {4, 2, 2, 290}, {1, 1}, {1, 1}, {0, 0, 1, 7}},
    {{1, 3, 300, 1}, {3, 1, 280, 1}, {1, 1}, {1, 1}, {9, 0, 0, 0}, 3},
    {{1, 2, 66000, 1}, {3, 2, 3, 1}, {1, 1}, {1, 1}, {1, 0, 1, 0}},
    {{1, 2, 66000}, {3, 2, 3}, {1}, {1}, {1, 1}},
    {{1, 66000, 2, 1}, {66000, 1, 2, 1}, {1, 1}, {1, 1}, {1, 0, 0, 0}, 66000},
    {{1, 66000, 1, 1}, {3, 66000, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
};

std::string Trace(const ConvCase& c) {
  return ShapeToString(c.x) + " " + ShapeToString(c.w);
}

void SetWindow(onnx::NodeProto* node, const ConvCase& c) {
  SetInts(node, "strides", c.strides);
  SetInts(node, "dilations", c.dilations);
  std::vector<int64_t> pads = c.pads;
  pads.resize(2 * c.strides.size(), 0);
  SetInts(node, "pads", pads);
}

TEST(Limits, QLinearConv) {
  for (const ConvCase& c : kConvolutions) {
    SCOPED_TRACE(Trace(c));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    b.Constant("s", Floats({}, {0.03f}));
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Constant("w", RandomData(DataType::kInt8, c.w, 4));
    b.Constant("wz", Code(DataType::kInt8, 3));
    b.Constant("ys", Floats({}, {0.7f}));
    auto* node = b.Node("QLinearConv",
                        {"x", "s", "z", "w", "s", "wz", "ys", "z"}, {"y"});
    SetWindow(node, c);
    SetInt(node, "group", c.group);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, c.x, 3)},
                              Sizes({12 << 10, 0}));
  }
}

TEST(Limits, ConvInteger) {
  for (const ConvCase& c : kConvolutions) {
    if (c.w[0] > 1000) continue;  // takes long
    SCOPED_TRACE(Trace(c));
    ModelBuilder b;
    b.Input("x", DataType::kUint8, c.x);
    b.Input("z", DataType::kUint8, {});
    b.Constant("w", RandomData(DataType::kInt8, c.w, 4));
    auto* node = b.Node("ConvInteger", {"x", "w", "z"}, {"y"});
    SetWindow(node, c);
    SetInt(node, "group", c.group);
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kUint8, c.x, 3), Code(DataType::kUint8, 77)},
        Sizes());
  }
}

TEST(Limits, ProductsOfCodes) {
  // m, k, n
  const int64_t cases[][3] = {{2, 70000, 2}, {2, 1, 70000}, {66000, 2, 1}};
  for (const auto& c : cases) {
    for (bool constant : {true, false}) {
      SCOPED_TRACE(std::to_string(c[0]) + " " + std::to_string(c[1]));
      const Shape a = {c[0], c[1]}, w = {c[1], c[2]};
      ModelBuilder b;
      std::vector<TensorData> inputs = {RandomData(DataType::kUint8, a, 3)};
      b.Input("a", DataType::kUint8, a);
      b.Constant("s", Floats({}, {0.03f}));
      b.Constant("ys", Floats({}, {3.0f}));
      b.Constant("z", Code(DataType::kUint8, 120));
      const TensorData data = RandomData(DataType::kUint8, w, 4);
      if (constant) {
        b.Constant("b", data);
      } else {
        b.Input("b", DataType::kUint8, w);
        inputs.push_back(data);
      }
      b.Node("QLinearMatMul", {"a", "s", "z", "b", "s", "z", "ys", "z"}, {"y"});
      b.Output("y");
      b.Node("MatMulInteger", {"a", "b"}, {"sums"});
      b.Output("sums");
      ExpectCardEqualsReference(b.Bytes(), inputs, Sizes());
    }
  }
}

// The product's kernel would be the image.
TEST(Limits, ProductOfAFlattenedImage) {
  for (const Shape& shape :
       {Shape{1, 3, 300, 20}, Shape{1, 3, 5, 400}, Shape{1, 70000, 1, 2}}) {
    SCOPED_TRACE(ShapeToString(shape));
    const int64_t k = ElementCount(shape);
    ModelBuilder b;
    b.Input("x", DataType::kUint8, shape);
    b.Constant("s", Floats({}, {0.03f}));
    b.Constant("ys", Floats({}, {3.0f}));
    b.Constant("z", Code(DataType::kUint8, 120));
    b.Constant("w", RandomData(DataType::kUint8, {k, 7}, 4));
    b.Node("QLinearSigmoid", {"x", "s", "z", "s", "z"}, {"t"}, kMicrosoft);
    SetInt(b.Node("Flatten", {"t"}, {"f"}), "axis", 1);
    b.Node("QLinearMatMul", {"f", "s", "z", "w", "s", "z", "ys", "z"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kUint8, shape, 3)}, Sizes());
  }
}

// Strides, kernels, dilations and images as above, and windows of which 16
// channels are more than SRAM.
const ConvCase kPoolings[] = {
    {{1, 5, 70, 40}, {33, 20}, {17, 16}, {1, 1}, {1, 2, 0, 1}},
    {{1, 3, 700}, {400}, {3}, {1}, {200, 1}},
    {{1, 3, 5, 700}, {2, 3}, {1, 1}, {1, 300}, {0, 2, 1, 0}},
    {{1, 17, 60, 50}, {40, 45}, {2, 1}, {1, 1}, {5, 0, 0, 5}},
    {{1, 2, 66000, 1}, {3, 1}, {1, 1}, {1, 1}, {1, 0, 1, 0}},
    {{1, 1, 1, 65800}, {1, 65500}, {1, 1}, {1, 1}, {0, 5, 0, 0}},
    {{1, 66000, 2, 1}, {2, 1}, {1, 1}, {1, 1}, {1, 0, 0, 0}},
};

TEST(Limits, PoolingsOfCodes) {
  int turn = 0;
  for (const ConvCase& c : kPoolings) {
    {
      const DataType type =
          ++turn % 2 == 0 ? DataType::kInt8 : DataType::kUint8;
      for (const char* op : {"MaxPool", "QLinearAveragePool"}) {
        const bool average = op[0] == 'Q';
        // Of averages there is no dilation.
        if (average && c.dilations.back() > 1) continue;
        SCOPED_TRACE(op + Trace(c));
        ModelBuilder b;
        b.Input("x", type, c.x);
        b.Constant("xs", Floats({}, {0.03f}));
        b.Constant("ys", Floats({}, {0.01f}));
        b.Constant("z", Code(type, 17));
        auto* node =
            average ? b.Node(op, {"x", "xs", "z", "ys", "z"}, {"y"}, kMicrosoft)
                    : b.Node(op, {"x"}, {"y"});
        SetInts(node, "kernel_shape", c.w);
        SetInts(node, "strides", c.strides);
        if (!average) SetInts(node, "dilations", c.dilations);
        SetInts(node, "pads", c.pads);
        b.Output("y");
        ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.x, 3)},
                                  Sizes());
      }
    }
  }
}

TEST(Limits, PoolingsOfFloats) {
  for (const ConvCase& c : kPoolings) {
    if (c.x[1] < 60000 && c.x[2] < 60000 && c.x.back() < 60000) continue;
    for (const char* op : {"MaxPool", "AveragePool"}) {
      SCOPED_TRACE(op + Trace(c));
      ModelBuilder b;
      b.Input("x", DataType::kFloat, c.x);
      auto* node = b.Node(op, {"x"}, {"y"});
      SetInts(node, "kernel_shape", c.w);
      SetInts(node, "pads", c.pads);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, c.x, 3)}, Sizes());
    }
  }
}

// Windows longer than SRAM.
TEST(Limits, LocalResponseNormalization) {
  const struct {
    Shape x;
    int64_t size;
  } cases[] = {{{1, 1600, 1}, 5001}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      SCOPED_TRACE(ShapeToString(c.x));
      ModelBuilder b;
      b.Input("x", type, c.x);
      SetInt(b.Node("LRN", {"x"}, {"y"}), "size", c.size);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.x, 3)}, Sizes());
    }
  }
}

TEST(Limits, ConvolutionOfAVeryLongRow) {
  const Shape shape = {1, 1, 2, 4300000};
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  b.Constant("w", RandomData(DataType::kFloat, {1, 1, 1, 3}, 4));
  b.Node("Conv", {"x", "w"}, {"y"});
  b.Output("y");
  CardCase sizes = Sizes({0});
  sizes.detect_races = false;
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kFloat, shape, 3)},
                            sizes);
}

TEST(Limits, ConvTransposeOfManyPhases) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 2, 2, 1});
  b.Constant("w", RandomData(DataType::kFloat, {2, 2, 80, 70}, 4));
  SetInts(b.Node("ConvTranspose", {"x", "w"}, {"y"}), "strides", {67, 69});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 2, 2, 1}, 3)}, Sizes());
}

// As many different functions as take more than SRAM.
TEST(Limits, Microprograms) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3, 40});
  std::string from = "x";
  // Every chain of three of these; what is an output ends a chain.
  const char* const functions[] = {"Tanh", "Erf", "Sigmoid", "Softplus", "Elu"};
  for (int i = 0; i < 125; ++i) {
    for (int k = 0, n = i; k < 3; ++k, n /= 5) {
      const std::string to = "t" + std::to_string(3 * i + k);
      b.Node(functions[n % 5], {from}, {to});
      from = to;
    }
    b.Output(from);
  }
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {3, 40}, 3)}, Sizes());
}

// More dimensions than four which operands have or repeat in turn.
TEST(Limits, BroadcastInManyDimensions) {
  const struct {
    Shape a, b;
  } cases[] = {{{5, 1, 9, 1, 3, 11}, {1, 7, 1, 8, 1, 11}},
               {{2, 70, 1, 2, 1}, {1, 1, 70, 1, 3}},
               {{1, 400, 1, 10, 1, 1}, {1, 1, 20, 1, 2, 2}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ShapeToString(c.a));
    ModelBuilder b;
    b.Input("a", DataType::kFloat, c.a);
    b.Input("b", DataType::kFloat, c.b);
    b.Node("Add", {"a", "b"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, c.a, 3),
                               RandomData(DataType::kFloat, c.b, 4)},
                              Sizes());
  }
}

// Stacks in which each operand repeats other dimensions.
TEST(Limits, ProductsOfMixedStacks) {
  const struct {
    Shape a, b;
  } cases[] = {{{1, 3, 1, 20, 30}, {1, 1, 4, 30, 25}},
               {{1, 60, 1, 1, 2}, {2, 1, 60, 2, 1}},
               {{2, 1, 5, 1, 9, 40}, {1, 3, 1, 2, 40, 11}}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      SCOPED_TRACE(ShapeToString(c.a));
      ModelBuilder b;
      b.Input("a", type, c.a);
      b.Input("b", type, c.b);
      b.Node("MatMul", {"a", "b"}, {"y"});
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(), {RandomData(type, c.a, 3), RandomData(type, c.b, 4)},
          Sizes());
    }
  }
}

// A table for each part, or so many parts that a column of all is too much.
TEST(Limits, ConcatenationOfManyTables) {
  const struct {
    int64_t axis;
    int parts;
    bool tables;
  } cases[] = {{1, 40, true}, {1, 80, true}, {2, 30, true}, {2, 70, false}};
  for (const auto& c : cases) {
    {
      SCOPED_TRACE(std::to_string(c.axis) + " " + std::to_string(c.parts));
      const Shape part = {1, 5, 3, 4};
      ModelBuilder b;
      b.Constant("z", Code(DataType::kUint8, 120));
      b.Constant("s", Floats({}, {0.03f}));
      std::vector<std::string> in = {"s", "z"};
      std::vector<TensorData> x;
      for (int i = 0; i < c.parts; ++i) {
        const std::string n = std::to_string(i);
        b.Input("x" + n, DataType::kUint8, part);
        b.Constant("s" + n, Floats({}, {0.01f + 0.001f * i}));
        x.push_back(RandomData(DataType::kUint8, part, i + 3));
        in.insert(in.end(), {"x" + n, c.tables ? "s" + n : "s", "z"});
      }
      SetInt(b.Node("QLinearConcat", in, {"y"}, kMicrosoft), "axis", c.axis);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), x, Sizes());
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
