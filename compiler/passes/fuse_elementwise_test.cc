// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/ops/half.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == op;
  return count;
}

// Random values with infinities, NaN, zeros, tiny and huge ones in front.
TensorData Specials(const Shape& shape, uint64_t seed, DataType type = kF32) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  TensorData data = RandomData(type, shape, seed, -9, 9);
  const float special[] = {0.0f,   -0.0f,  kInf,   -kInf, std::nanf(""),
                           1e-40f, -3e38f, 1e-45f, 2.5f,  -88.0f};
  // Of the NaN two that are not the one that results have.
  const uint16_t half[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7d01,
                           0xfe03, 0x0001, 0x83ff, 0x7bff, 0xc580};
  for (size_t i = 0; i < 10 && i < static_cast<size_t>(data.count()); ++i) {
    const size_t at = (i * 7 + seed) % data.count();
    if (type == kF32) {
      data.as<float>()[at] = special[i];
    } else {
      data.as<uint16_t>()[at] = half[i];
    }
  }
  return data;
}

constexpr DataType kF16 = DataType::kFloat16;

TensorData Halves(const Shape& shape, const std::vector<float>& values) {
  return Narrowed(Floats(shape, values), kF16);
}

// The graph after all passes has `fused` programs and `nodes` nodes; it
// computes the bytes of the graph without this pass; and so does the card, with
// little SRAM, too.
void Expect(const std::string& model, const std::vector<TensorData>& inputs,
            int fused, size_t nodes) {
  auto graph = AnalyseOnnx(model, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Elementwise"), fused) << graph->ToString();
  EXPECT_EQ(graph->nodes.size(), nodes) << graph->ToString();
  CompileOptions separate;
  separate.features.fuse_elementwise = false;
  auto plain = AnalyseOnnx(model, separate);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(Count(*plain, "Elementwise"), 0);
  auto expected = EvaluateGraph(*plain, inputs);
  auto results = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(results.ok()) << results.status();
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    const TensorData& y = (*results)[graph->outputs[i]];
    const TensorData& z = (*expected)[plain->outputs[i]];
    EXPECT_EQ(y.shape, z.shape);
    EXPECT_EQ(y.type, z.type);
    EXPECT_TRUE(y.bytes == z.bytes) << "output " << i;
  }
  CardCase sizes;
  sizes.sram_bytes = {0, 24 << 10, 12 << 10};
  sizes.may_refuse_less_sram = false;
  ExpectCardEqualsReference(model, inputs, sizes);
}

// GELU in the form with Tanh: the cube, products and sums, the gate.
TEST(FuseElementwise, TanhGeluIsOneProgram) {
  for (const Shape& shape : {Shape{1, 40, 200}, Shape{2, 3, 20, 21}}) {
    ModelBuilder b;
    b.Input("x", kF32, shape);
    b.Constant("three", Floats({}, {3}));
    b.Constant("cubic", Floats({}, {0.044715f}));
    b.Constant("root", Floats({}, {0.797884561f}));
    b.Constant("one", Floats({1}, {1.0f}));
    b.Constant("half", Floats({}, {0.5f}));
    b.Node("Pow", {"x", "three"}, {"c"});
    b.Node("Mul", {"c", "cubic"}, {"s"});
    b.Node("Add", {"x", "s"}, {"a"});
    b.Node("Mul", {"a", "root"}, {"r"});
    b.Node("Tanh", {"r"}, {"t"});
    b.Node("Add", {"t", "one"}, {"p"});
    b.Node("Mul", {"x", "half"}, {"h"});
    b.Node("Mul", {"h", "p"}, {"y"});
    b.Output("y");
    Expect(b.Bytes(), {Specials(shape, 1)}, 1, 1);
  }
}

TEST(FuseElementwise, GeluWithItsNeighbours) {
  ModelBuilder b;
  b.Input("v", kF32, {1, 40, 200});
  b.Input("r", kF32, {1, 40, 200});
  b.Constant("bias", RandomData(kF32, {200}, 3));
  b.Constant("root", Floats({}, {1.41421356f}));
  b.Constant("one", Floats({1}, {1.0f}));
  b.Constant("half", Floats({}, {0.5f}));
  b.Node("Add", {"v", "bias"}, {"x"});
  b.Node("Div", {"x", "root"}, {"d"});
  b.Node("Erf", {"d"}, {"e"});
  b.Node("Add", {"e", "one"}, {"p"});
  b.Node("Mul", {"x", "p"}, {"m"});
  b.Node("Mul", {"m", "half"}, {"g"});
  b.Node("Mul", {"g", "r"}, {"y"});
  b.Output("y");
  Expect(b.Bytes(), {Specials({1, 40, 200}, 1), Specials({1, 40, 200}, 2)}, 1,
         1);
}

TEST(FuseElementwise, KeepsNamesOfItsSources) {
  ModelBuilder b;
  b.Input("x", kF32, {4, 50});
  b.Node("Sigmoid", {"x"}, {"s"})->set_name("gate");
  b.Node("Mul", {"x", "s"}, {"y"})->set_name("product");
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].name, "product");
  EXPECT_EQ(graph->nodes[0].sources,
            (std::vector<std::string>{"gate", "product"}));
  EXPECT_NE(graph->ToString().find("[Sigmoid,Mul]"), std::string::npos);
}

TEST(FuseElementwise, KeepsWhatOthersRead) {
  ModelBuilder b;
  b.Input("x", kF32, {4, 50});
  b.Node("Exp", {"x"}, {"e"});
  b.Node("Neg", {"e"}, {"n"});  // read twice
  b.Node("Sigmoid", {"n"}, {"y"});
  b.Node("Tanh", {"n"}, {"t"});
  b.Node("Sqrt", {"t"}, {"r"});
  b.Node("MatMul", {"r", "w"}, {"z"});
  b.Constant("w", RandomData(kF32, {50, 3}, 2));
  b.Output("y");
  b.Output("z");
  // Exp and Neg; Sigmoid alone; Tanh and Sqrt; MatMul.
  Expect(b.Bytes(), {Specials({4, 50}, 3)}, 2, 4);
}

TEST(FuseElementwise, KeepsOutputs) {
  ModelBuilder b;
  b.Input("x", kF32, {4, 50});
  b.Node("Exp", {"x"}, {"e"});
  b.Node("Neg", {"e"}, {"y"});
  b.Output("e");
  b.Output("y");
  Expect(b.Bytes(), {Specials({4, 50}, 3)}, 0, 2);
}

TEST(FuseElementwise, Broadcasts) {
  const Shape x = {2, 5, 9, 33};
  for (const Shape& s : {Shape{5, 1, 1}, Shape{33}, Shape{9, 1},
                         Shape{2, 5, 9, 33}, Shape{1}, Shape{2, 1, 1, 1}}) {
    SCOPED_TRACE(ShapeToString(s));
    for (bool constant : {false, true}) {
      ModelBuilder b;
      b.Input("x", kF32, x);
      std::vector<TensorData> inputs = {Specials(x, 1)};
      if (constant) {
        b.Constant("s", Specials(s, 2));
      } else {
        b.Input("s", kF32, s);
        inputs.push_back(Specials(s, 2));
      }
      b.Constant("c", RandomData(kF32, {33}, 3));
      b.Node("Mul", {"x", "s"}, {"m"});
      b.Node("Add", {"c", "m"}, {"a"});
      b.Node("HardSwish", {"a"}, {"y"});
      b.Output("y");
      b.proto().mutable_opset_import(0)->set_version(14);
      Expect(b.Bytes(), inputs, 1, 1);
    }
  }
}

// A root of a column is not computed again for each element.
TEST(FuseElementwise, SmallerResultsStay) {
  ModelBuilder b;
  b.Input("x", kF32, {30, 100});
  b.Input("v", kF32, {30, 1});
  b.Constant("epsilon", Floats({}, {1e-5f}));
  b.Node("Add", {"v", "epsilon"}, {"e"});
  b.Node("Sqrt", {"e"}, {"r"});
  b.Node("Div", {"x", "r"}, {"n"});
  b.Node("Relu", {"n"}, {"y"});
  b.Output("y");
  Expect(b.Bytes(), {Specials({30, 100}, 1), Specials({30, 1}, 2)}, 2, 2);
}

// Erf of a long row is not cut into rows of three for the sake of a product.
TEST(FuseElementwise, KeepsLanesFull) {
  ModelBuilder b;
  b.Input("x", kF32, {5, 3});
  b.Constant("s", RandomData(kF32, {3}, 2));
  b.Node("Erf", {"x"}, {"e"});
  b.Node("Mul", {"e", "s"}, {"y"});
  b.Output("y");
  Expect(b.Bytes(), {Specials({5, 3}, 1)}, 0, 2);
}

TEST(FuseElementwise, AtMostThreeTensors) {
  ModelBuilder b;
  std::vector<TensorData> inputs;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    b.Input(name, kF32, {7, 40});
    inputs.push_back(Specials({7, 40}, inputs.size() + 1));
  }
  b.Node("Add", {"a", "b"}, {"s"});
  b.Node("Mul", {"s", "c"}, {"t"});
  b.Node("Sub", {"t", "d"}, {"u"});
  b.Node("Max", {"u", "e", "a"}, {"y"});
  b.Output("y");
  // Four go into the last two, and into the first three.
  Expect(b.Bytes(), inputs, 1, 3);
}

// More than 16 registers, or than 256 instructions: several programs.
TEST(FuseElementwise, LongChains) {
  ModelBuilder b;
  b.Input("x", kF32, {3, 70});
  std::string at = "x";
  for (int i = 0; i < 20; ++i) {
    const std::string next = "t" + std::to_string(i);
    b.Node(i % 3 == 0 ? "Erf" : i % 3 == 1 ? "Tanh" : "Sigmoid", {at}, {next});
    at = next;
  }
  b.Output(at);
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_GE(Count(*graph, "Elementwise"), 2);
  EXPECT_LE(graph->nodes.size(), 6u) << graph->ToString();
  ExpectCardEqualsReference(b.Bytes(), {Specials({3, 70}, 1)});
}

TEST(FuseElementwise, ManyValues) {
  ModelBuilder b;
  b.Input("x", kF32, {3, 70});
  std::string at = "x";
  for (int i = 0; i < 9; ++i) {
    const std::string next = "t" + std::to_string(i),
                      value = "v" + std::to_string(i);
    b.Constant(value, Floats({}, {0.5f + 0.37f * static_cast<float>(i)}));
    b.Node(i % 2 ? "Mul" : "Sub", {at, value}, {next});
    at = next;
  }
  b.Constant("four", Floats({}, {4}));
  b.Constant("low", Floats({}, {-7}));
  b.Constant("high", Floats({}, {7}));
  b.Node("Div", {at, "four"}, {"d"});  // exact as a product
  b.Node("Clip", {"d", "low", "high"}, {"y"});
  b.Output("y");
  Expect(b.Bytes(), {Specials({3, 70}, 1)}, 1, 1);
}

TEST(FuseElementwise, ConditionsAndBatchNormalization) {
  ModelBuilder b;
  b.Input("x", kF32, {2, 6, 5, 17});
  b.Input("c", DataType::kBool, {2, 6, 5, 17});
  for (const char* name : {"s", "t", "m"}) {
    b.Constant(name, RandomData(kF32, {6}, name[0]));
  }
  b.Constant("v", RandomData(kF32, {6}, 9, 0.5f, 2));
  b.Node("BatchNormalization", {"x", "s", "t", "m", "v"}, {"n"});
  b.Node("Relu", {"n"}, {"r"});
  b.Constant("zero", Floats({}, {0}));
  b.Node("Where", {"c", "x", "zero"}, {"w"});
  b.Node("Exp", {"w"}, {"z"});
  b.Output("r");
  b.Output("z");
  Expect(b.Bytes(),
         {Specials({2, 6, 5, 17}, 1),
          RandomData(DataType::kBool, {2, 6, 5, 17}, 2)},
         2, 2);
}

// A condition is no tensor where one selection reads it.
TEST(FuseElementwise, Comparisons) {
  const Shape shape = {3, 5, 33};
  for (const DataType type : {kF32, kF16}) {
    ModelBuilder b;
    b.Input("x", type, shape);
    b.Input("i", DataType::kInt32, shape);
    b.Constant("bound", Narrowed(Floats({}, {0.5f}), type));
    b.Constant("two", Int32s({}, {2}));
    b.Node("Mul", {"x", "x"}, {"s"});
    b.Node("GreaterOrEqual", {"s", "bound"}, {"g"});
    b.Node("Where", {"g", "s", "bound"}, {"w"});
    b.Node("Less", {"two", "i"}, {"l"});
    b.Node("Where", {"l", "w", "x"}, {"y"});
    b.Output("y");
    b.Node("Neg", {"x"}, {"n"});
    b.Node("Equal", {"n", "x"}, {"z"});
    b.Output("z");
    Expect(b.Bytes(),
           {Specials(shape, 1, type),
            RandomData(DataType::kInt32, shape, 2, -9, 9)},
           2, 2);
  }
}

// The clamp of vmac costs nothing.
TEST(FuseElementwise, LeavesTheClampToTheConvolution) {
  ModelBuilder b;
  b.Input("x", kF32, {1, 3, 8, 20});
  b.Constant("w", RandomData(kF32, {4, 3, 1, 1}, 2));
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("Relu", {"c"}, {"r"});
  b.Node("Neg", {"r"}, {"n"});
  b.Node("Exp", {"n"}, {"y"});
  b.Output("y");
  auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Count(*graph, "Relu"), 1) << graph->ToString();
  EXPECT_EQ(Count(*graph, "Elementwise"), 1) << graph->ToString();
  ExpectCardEqualsReference(b.Bytes(), {RandomData(kF32, {1, 3, 8, 20}, 1)});
}

// Float16 results are rounded in their registers.
TEST(FuseElementwise, Float16) {
  for (const Shape& shape : {Shape{1, 40, 200}, Shape{2, 3, 20, 21}}) {
    ModelBuilder b;
    b.Input("x", kF16, shape);
    b.Constant("root", Halves({}, {1.41421356f}));
    b.Constant("one", Halves({1}, {1.0f}));
    b.Constant("half", Halves({}, {0.5f}));
    b.Node("Div", {"x", "root"}, {"d"});
    b.Node("Erf", {"d"}, {"e"});
    b.Node("Add", {"e", "one"}, {"p"});
    b.Node("Mul", {"x", "p"}, {"m"});
    b.Node("Mul", {"m", "half"}, {"y"});
    b.Output("y");
    Expect(b.Bytes(), {Specials(shape, 1, kF16)}, 1, 1);
  }
}

TEST(FuseElementwise, Float16Choices) {
  const Shape shape = {3, 5, 33};
  ModelBuilder b;
  b.Input("x", kF16, shape);
  b.Input("c", DataType::kBool, shape);
  b.Constant("three", Halves({}, {3}));
  b.Constant("zero", Halves({}, {0}));
  b.Constant("six", Halves({}, {6}));
  b.Constant("slope", RandomData(kF16, {5, 1}, 4));
  b.Node("Add", {"x", "three"}, {"a"});
  b.Node("Clip", {"a", "zero", "six"}, {"l"});
  b.Node("Mul", {"x", "l"}, {"m"});
  b.Node("Div", {"m", "six"}, {"d"});
  b.Node("PRelu", {"d", "slope"}, {"p"});
  b.Node("Where", {"c", "p", "zero"}, {"w"});
  b.Node("Abs", {"w"}, {"s"});
  b.Node("Max", {"s", "three", "x"}, {"y"});
  b.Output("y");
  Expect(b.Bytes(),
         {Specials(shape, 1, kF16), RandomData(DataType::kBool, shape, 2)}, 1,
         1);
}

// Casts are roundings, and alone they stay what they are.
TEST(FuseElementwise, Casts) {
  const auto cast = [](ModelBuilder* b, const std::string& x,
                       const std::string& y, DataType to) {
    SetInt(b->Node("Cast", {x}, {y}), "to", static_cast<int64_t>(to));
  };
  for (const DataType narrow : {kF16, DataType::kBfloat16}) {
    const Shape shape = {5, 70};
    {
      ModelBuilder b;
      b.Input("x", kF32, shape);
      b.Node("Exp", {"x"}, {"e"});
      cast(&b, "e", "h", narrow);
      cast(&b, "h", "w", kF32);
      b.Node("Sub", {"e", "w"}, {"y"});
      b.Output("y");
      Expect(b.Bytes(), {Specials(shape, 1)}, 1, 1);
    }
    {
      ModelBuilder b;
      b.Input("x", narrow, shape);
      cast(&b, "x", "w", kF32);
      b.Node("Neg", {"w"}, {"n"});
      b.Node("Tanh", {"n"}, {"t"});
      cast(&b, "t", "y", narrow);
      b.Output("y");
      Expect(b.Bytes(), {Specials(shape, 1, narrow)}, 1, 1);
    }
    // Through a type that loses something; one that does not is no change
    // (passes/algebra.h).
    for (const DataType wide : {kF32, DataType::kBfloat16}) {
      if (narrow == wide) continue;
      ModelBuilder b;
      b.Input("x", narrow, shape);
      cast(&b, "x", "w", wide);
      cast(&b, "w", "y", narrow);
      b.Output("y");
      const int fused = wide == kF32 ? 0 : 1;
      Expect(b.Bytes(), {Specials(shape, 1, narrow)}, fused, 1);
    }
  }
}

// A division by a constant that costs one cycle is worth a program.
TEST(FuseElementwise, ADivisionAlone) {
  for (const DataType type : {kF32, kF16}) {
    ModelBuilder b;
    b.Input("x", type, {5, 70});
    b.Constant("by", Narrowed(Floats({}, {8}), type));
    b.Node("Div", {"x", "by"}, {"y"});
    b.Output("y");
    Expect(b.Bytes(), {Specials({5, 70}, 1, type)}, 1, 1);
  }
}

// Two tensors of codes, a function that no table is, codes again: codes are
// read and written, in the layout of the convolution behind.
TEST(FuseElementwise, FromCodesToCodes) {
  for (DataType type : {DataType::kUint8, DataType::kInt8}) {
    for (const Shape& shape : {Shape{2, 20, 5, 6}, Shape{30, 40}, Shape{50},
                               Shape{2, 3, 4, 5, 6}, Shape{2, 20, 7}}) {
      SCOPED_TRACE(ShapeToString(shape));
      TensorData zero = TensorData::Zeros(type, {});
      zero.bytes[0] = 3;
      ModelBuilder b;
      b.Input("a", type, shape);
      b.Input("c", type, shape);
      b.Dequantize("a", "da", Floats({}, {0.03f}), zero);
      b.Dequantize("c", "dc", Floats({}, {0.05f}), zero);
      b.Node("Sigmoid", {"da"}, {"s"});
      b.Node("Mul", {"s", "dc"}, {"y"});
      b.Quantize("y", "q", 0.02f, zero);
      b.Output("q");
      Expect(b.Bytes(),
             {RandomData(type, shape, 1), RandomData(type, shape, 2)}, 1, 1);
    }
  }
}

// PRelu with a slope for each channel between codes: one pass over codes.
TEST(FuseElementwise, PReluOfChannels) {
  const TensorData zero = Uint8s({}, {120});
  for (bool first : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kUint8, {2, 20, 5, 6});
    b.Constant("slope", RandomData(kF32, {20, 1, 1}, 4));
    b.Dequantize("x", "d", Floats({}, {0.03f}), zero);
    b.Node("PRelu", {"d", "slope"}, {"p"});
    b.Quantize("p", "q", 0.02f, zero);
    if (first) {
      b.Constant("w", RandomData(DataType::kInt8, {8, 20, 1, 1}, 5));
      b.Constant("ws", Floats({}, {0.01f}));
      b.Constant("wz", Int8s({}, {0}));
      b.Constant("s", Floats({}, {0.02f}));
      b.Constant("z", zero);
      b.Node("QLinearConv", {"q", "s", "z", "w", "ws", "wz", "s", "z"}, {"y"});
      b.Output("y");
    } else {
      b.Output("q");
    }
    Expect(b.Bytes(), {RandomData(DataType::kUint8, {2, 20, 5, 6}, 1)}, 1,
           first ? 2 : 1);
  }
}

TEST(FuseElementwise, ScalesOfChannels) {
  ModelBuilder b;
  b.Input("x", DataType::kInt8, {2, 20, 5, 6});
  b.Input("r", kF32, {2, 20, 5, 6});
  TensorData scales = RandomData(kF32, {20}, 4, 0.01f, 0.1f);
  b.Constant("s", scales);
  b.Constant("z", RandomData(DataType::kInt8, {20}, 5));
  b.Node("DequantizeLinear", {"x", "s", "z"}, {"d"});
  b.Node("Tanh", {"d"}, {"t"});
  b.Node("Neg", {"t"}, {"y"});
  b.Node("QuantizeLinear", {"y", "s", "z"}, {"q"});
  b.Output("q");
  b.Node("Exp", {"r"}, {"e"});
  b.Node("QuantizeLinear", {"e", "s", "z"}, {"f"});
  b.Output("f");
  // Five streams would be needed for the first.
  Expect(b.Bytes(),
         {RandomData(DataType::kInt8, {2, 20, 5, 6}, 1),
          Specials({2, 20, 5, 6}, 2)},
         2, 3);
}

// A DequantizeLinear is done again where its readers are all elementwise.
TEST(FuseElementwise, DequantizesAgain) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {30, 40});
  b.Input("r", kF32, {30, 40});
  b.Dequantize("x", "d", Floats({}, {0.03f}), Uint8s({}, {7}));
  b.Node("Add", {"d", "r"}, {"y"});
  b.Node("Mul", {"d", "r"}, {"m"});
  b.Node("Exp", {"m"}, {"z"});
  b.Output("y");
  b.Output("z");
  Expect(b.Bytes(),
         {RandomData(DataType::kUint8, {30, 40}, 1), Specials({30, 40}, 2)}, 2,
         2);
}

// Random trees of all kinds of operators over a few tensors of one shape and
// what broadcasts to it.
TEST(FuseElementwise, RandomTrees) {
  int fused = 0;
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    const DataType type = seed % 3 == 0 ? kF16 : kF32;
    std::mt19937_64 random(seed);
    const auto below = [&](size_t n) { return (random() >> 11) % n; };
    const Shape shapes[] = {
        {3, 40}, {2, 5, 6, 7}, {65}, {4, 3, 17}, {1, 2, 3, 4, 20}};
    const Shape shape = shapes[below(5)];
    ModelBuilder b(14);
    std::vector<TensorData> inputs;
    std::vector<std::string> tensors;
    const size_t count = 1 + below(3);
    for (size_t i = 0; i < count; ++i) {
      Shape own = shape;
      if (i > 0 && below(3) == 0) own[below(own.size())] = 1;
      tensors.push_back("x" + std::to_string(i));
      b.Input(tensors.back(), type, own);
      inputs.push_back(Specials(own, seed * 8 + i, type));
    }
    for (int i = 0; i < 2; ++i) {
      tensors.push_back("c" + std::to_string(i));
      b.Constant(
          tensors.back(),
          i == 0
              ? Narrowed(Floats({}, {static_cast<float>(below(9)) - 3}), type)
              : RandomData(type, {shape.back()}, seed));
    }
    const char* unary[] = {"Abs",      "Neg",  "Exp",  "Sigmoid",   "Tanh",
                           "Relu",     "Sqrt", "Erf",  "HardSwish", "Floor",
                           "Softsign", "Clip", "Sign", "Reciprocal"};
    const char* binary[] = {"Add", "Sub", "Mul", "Div",
                            "Max", "Min", "Pow", "PRelu"};
    const size_t nodes = 3 + below(10);
    std::string at = "x0";
    for (size_t i = 0; i < nodes; ++i) {
      const std::string y = "y" + std::to_string(i);
      if (below(2) == 0) {
        b.Node(unary[below(14)], {at}, {y});
      } else {
        const std::string op = binary[below(8)];
        // The slope of a PRelu broadcasts to its input.
        const std::string other =
            op == "PRelu" ? "c0" : tensors[below(tensors.size())];
        const bool swap = op != "PRelu" && below(2) == 0;
        b.Node(op, {swap ? other : at, swap ? at : other}, {y});
      }
      at = y;
      if (below(3) == 0) tensors.push_back(y);
    }
    b.Output(at);
    auto graph = AnalyseOnnx(b.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    fused += Count(*graph, "Elementwise");
    CompileOptions separate;
    separate.features.fuse_elementwise = false;
    auto plain = AnalyseOnnx(b.Bytes(), separate);
    ASSERT_TRUE(plain.ok()) << plain.status();
    auto results = EvaluateGraph(*graph, inputs);
    auto expected = EvaluateGraph(*plain, inputs);
    ASSERT_TRUE(results.ok() && expected.ok())
        << results.status() << expected.status();
    EXPECT_TRUE((*results)[graph->outputs[0]].bytes ==
                (*expected)[plain->outputs[0]].bytes)
        << plain->ToString() << graph->ToString();
    ExpectCardEqualsReference(b.Bytes(), inputs);
  }
  EXPECT_GT(fused, 90);
}

TEST(FuseElementwise, NoModelMayHaveOne) {
  ModelBuilder b;
  b.Input("x", kF32, {4});
  b.Node("Elementwise", {"x"}, {"y"}, "heddle");
  b.Output("y");
  auto* import = b.proto().add_opset_import();
  import->set_domain("heddle");
  import->set_version(1);
  EXPECT_FALSE(AnalyseOnnx(b.Bytes(), {}).ok());
}

}  // namespace
}  // namespace heddle::compiler
