// SPDX-License-Identifier: Apache-2.0
// Each fusion pattern: the operators that remain and, where it matters, the
// codes.
#include "compiler/passes/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"

namespace heddle::compiler {
namespace {

// What is left of float operators stays apart, so that it can be seen.
Graph Analyse(const ModelBuilder& b) {
  CompileOptions options;
  options.features.fuse_elementwise = false;
  auto graph = AnalyseOnnx(b.Bytes(), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

// "QLinearConv MaxPool", the boundary operators left out.
std::string Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) {
    if (node.op != "QuantizeLinear" && node.op != "DequantizeLinear") {
      ops.push_back(node.op);
    }
  }
  return absl::StrJoin(ops, " ");
}

int Count(const Graph& graph, const std::string& op) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&op](const Node& n) { return n.op == op; }));
}

TensorData Zero(DataType type, int value) {
  return type == DataType::kInt8 ? Int8s({}, {static_cast<int8_t>(value)})
                                 : Uint8s({}, {static_cast<uint8_t>(value)});
}

// x -> Q -> DQ "xd".
void Begin(ModelBuilder* b, const Shape& shape,
           DataType type = DataType::kUint8, const std::string& x = "x") {
  b->Input(x, DataType::kFloat, shape);
  b->Quantize(x, x + "q", 0.25f, Zero(type, 3));
  b->Dequantize(x + "q", x + "d", Floats({}, {0.25f}), Zero(type, 3));
}

// `t` -> Q "yq" -> DQ "y".
void End(ModelBuilder* b, const std::string& t, float scale, int zero,
         DataType type = DataType::kUint8) {
  b->Quantize(t, "yq", scale, Zero(type, zero));
  b->Dequantize("yq", "y", Floats({}, {scale}), Zero(type, zero));
  b->Output("y");
}

void Weights(ModelBuilder* b, const Shape& shape) {
  std::vector<int8_t> codes(static_cast<size_t>(ElementCount(shape)));
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<int8_t>(i * 37 % 101) - 50;
  }
  b->Constant("w", Int8s(shape, codes));
  b->Dequantize("w", "wd", Floats({}, {0.5f}), Int8s({}, {0}));
}

void BiasInDq(ModelBuilder* b, float scale) {
  b->Constant("b", Int32s({2}, {5, -9}));
  b->Dequantize("b", "bd", Floats({}, {scale}), Int32s({}, {0}));
}

TEST(ConvPattern, QuantizedBias) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  BiasInDq(&b, 0.125f);
  b.Node("Conv", {"xd", "wd", "bd"}, {"c"});
  End(&b, "c", 0.5f, 9);
  const Graph graph = Analyse(b);
  EXPECT_EQ(Ops(graph), "QLinearConv");
  // The fused node writes the ONNX tensor and remembers whom it stands for.
  const TensorId yq = graph.FindTensor("yq");
  ASSERT_NE(yq, kNoTensor);
  const Node& conv = graph.nodes[graph.Producers()[yq]];
  EXPECT_EQ(conv.name, "c_node");
  for (const char* name :
       {"c_node", "yq_node", "xd_node", "wd_node", "bd_node"}) {
    EXPECT_EQ(std::count(conv.sources.begin(), conv.sources.end(), name), 1)
        << name;
  }
}

TEST(ConvPattern, BiasScaleOutsideTheToleranceStaysFloat) {
  for (float scale : {0.125f, 0.126f, 0.127f, 0.2f}) {
    ModelBuilder b;
    Begin(&b, {1, 1, 4, 4});
    Weights(&b, {2, 1, 3, 3});
    BiasInDq(&b, scale);
    b.Node("Conv", {"xd", "wd", "bd"}, {"c"});
    End(&b, "c", 0.5f, 9);
    EXPECT_EQ(Ops(Analyse(b)), scale < 0.1265f ? "QLinearConv" : "Conv")
        << scale;
  }
}

// What keeps a group in floating point, or "" if nothing does.
std::string WhyFloat(const ModelBuilder& b) {
  const Graph graph = Analyse(b);
  if (graph.float_groups.empty()) return "";
  EXPECT_EQ(graph.float_groups.size(), 1u);
  const FloatGroup& group = graph.float_groups[0];
  EXPECT_NE(graph.ToString().find(group.node), std::string::npos);
  return absl::StrCat(group.op, ": ", group.reason);
}

TEST(FloatGroups, OfAConvolution) {
  struct Case {
    float bias_scale;
    DataType out;
    int zero;
    bool relu, read_twice;
    const char* why;
  };
  for (const Case& c : {
           Case{0.125f, DataType::kUint8, 9, false, false, ""},
           Case{0.125f, DataType::kUint8, 0, true, false, ""},
           Case{0.2f, DataType::kUint8, 9, false, false,
                "Conv: its bias 'b' has scale 0.2 where input and weights give "
                "0.125"},
           Case{0.125f, DataType::kInt8, 9, false, false,
                "Conv: 'xq' is uint8, 'yq' is int8"},
           Case{0.125f, DataType::kUint8, 9, true, false,
                "Conv: the Relu 'r_node' after it clips values that 'yq' "
                "can hold"},
           Case{0.125f, DataType::kUint8, 0, false, true,
                "Conv: 'c' is read by others too, not only quantized"},
       }) {
    ModelBuilder b;
    Begin(&b, {1, 1, 4, 4});
    Weights(&b, {2, 1, 3, 3});
    BiasInDq(&b, c.bias_scale);
    b.Node("Conv", {"xd", "wd", "bd"}, {"c"});
    if (c.relu) b.Node("Relu", {"c"}, {"r"});
    End(&b, c.relu ? "r" : "c", 0.5f, c.zero, c.out);
    if (c.read_twice) b.Output("c");
    EXPECT_EQ(WhyFloat(b), c.why);
  }
}

TEST(FloatGroups, OfOtherOperators) {
  const auto one = [](const std::string& op, float scale) {
    ModelBuilder b;
    Begin(&b, {1, 2, 4, 4});
    auto* node = b.Node(op, {"xd"}, {"t"});
    if (op == "MaxPool") SetInts(node, "kernel_shape", {2, 2});
    End(&b, "t", scale, 3);
    return WhyFloat(b);
  };
  EXPECT_EQ(one("Sigmoid", 0.5f), "");
  EXPECT_EQ(one("Exp", 0.5f), "");  // a table (fold_table.h)
  EXPECT_EQ(one("GlobalMaxPool", 0.5f),
            "GlobalMaxPool: the card has no integer form of GlobalMaxPool");
  EXPECT_EQ(one("Transpose", 0.25f), "");
  // The pass moves pairs through it, so that it computes on codes all the same.
  EXPECT_EQ(one("MaxPool", 0.25f), "");
  ModelBuilder b;
  Begin(&b, {2, 8});
  b.Constant("w", Int8s({8, 3}, std::vector<int8_t>(24, 2)));
  SetInt(b.Node("DequantizeLinear", {"w", "ws", "wz"}, {"wd"}), "axis", 0);
  b.Constant("ws", Floats({8}, std::vector<float>(8, 0.5f)));
  b.Constant("wz", Int8s({8}, std::vector<int8_t>(8)));
  b.Node("MatMul", {"xd", "wd"}, {"m"});
  b.Output("m");
  EXPECT_EQ(WhyFloat(b),
            "MatMul: its weights 'w' are int8 with scales along axis 0; they "
            "must be int8 or uint8 with one scale, or with scales along axis "
            "1");
  ModelBuilder sum;
  Begin(&sum, {1, 4});
  sum.Input("z", DataType::kFloat, {1, 4});
  sum.Node("Add", {"xd", "z"}, {"t"});
  End(&sum, "t", 0.5f, 3);
  EXPECT_EQ(WhyFloat(sum), "Add: its input 'z' is not quantized");
  // Weights alone are no quantized computation.
  ModelBuilder weights;
  weights.Input("x", DataType::kFloat, {1, 1, 4, 4});
  Weights(&weights, {2, 1, 3, 3});
  weights.Node("Conv", {"x", "wd"}, {"c"});
  End(&weights, "c", 0.5f, 9);
  EXPECT_EQ(WhyFloat(weights), "");
}

TEST(ConvPattern, FloatBiasIsQuantized) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  b.Constant("b", Floats({2}, {0.3125f, -1.0f}));  // 2.5 and -8 steps
  b.Node("Conv", {"xd", "wd", "b"}, {"c"});
  End(&b, "c", 0.5f, 9);
  const Graph graph = Analyse(b);
  EXPECT_EQ(Ops(graph), "QLinearConv");
  const TensorId bias = graph.FindTensor("b/quantized");
  ASSERT_NE(bias, kNoTensor);
  EXPECT_EQ(
      Difference(*graph.tensors[bias].constant, Int32s({2}, {2, -8}), 0, 0),
      "");
}

TEST(ConvPattern, FloatWeightsAreQuantized) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  b.Constant("w", Floats({2, 1, 1, 1}, {1.0f, -1.55f}));
  b.Node("Conv", {"xd", "w"}, {"c"});
  End(&b, "c", 0.5f, 9);
  const Graph graph = Analyse(b);
  EXPECT_EQ(Ops(graph), "QLinearConv");
  // s = 2.55/255 = 0.01, z = -128 + 155 = 27.
  const TensorId zero = graph.FindTensor("w/zero_point");
  ASSERT_NE(zero, kNoTensor);
  EXPECT_EQ(graph.tensors[zero].constant->as<int8_t>()[0], 27);
  const TensorId codes = graph.FindTensor("w/quantized");
  EXPECT_EQ(graph.tensors[codes].constant->as<int8_t>()[0], 127);
  EXPECT_EQ(graph.tensors[codes].constant->as<int8_t>()[1], -128);
}

struct Activation {
  const char* op;
  float low, high;  // of a Clip
  float scale;
  int zero;
  const char* expected;
};

class ActivationPattern : public testing::TestWithParam<Activation> {};

TEST_P(ActivationPattern, IsAbsorbedWhenImplied) {
  const Activation& p = GetParam();
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"xd", "wd"}, {"c"});
  if (std::string(p.op) == "Clip") {
    b.Constant("lo", Floats({}, {p.low})).Constant("hi", Floats({}, {p.high}));
    b.Node("Clip", {"c", "lo", "hi"}, {"r"});
  } else {
    b.Node(p.op, {"c"}, {"r"});
  }
  End(&b, "r", p.scale, p.zero);
  EXPECT_EQ(Ops(Analyse(b)), p.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ActivationPattern,
    testing::Values(Activation{"Relu", 0, 0, 0.5f, 0, "QLinearConv"},
                    Activation{"Relu", 0, 0, 0.5f, 1, "Conv Relu"},
                    Activation{"Clip", 0, 6, 6 / 255.0f, 0, "QLinearConv"},
                    Activation{"Clip", 0, 6, 0.5f, 0, "Conv Clip"},
                    Activation{"Clip", -100, 200, 0.5f, 100, "QLinearConv"},
                    Activation{"Clip", -1, 200, 0.5f, 100, "Conv Clip"},
                    Activation{"Sigmoid", 0, 0, 0.5f, 0, "Conv Sigmoid"}));

TEST(ConvPattern, StaysFloatWhenTheValueIsSeen) {
  // No QuantizeLinear behind; a second consumer; a graph output.
  for (int variant = 0; variant < 3; ++variant) {
    ModelBuilder b;
    Begin(&b, {1, 1, 4, 4});
    Weights(&b, {2, 1, 3, 3});
    b.Node("Conv", {"xd", "wd"}, {"c"});
    if (variant == 0) {
      b.Output("c");
    } else {
      End(&b, "c", 0.5f, 9);
      if (variant == 1) b.Node("Relu", {"c"}, {"other"});
      b.Output(variant == 1 ? "other" : "c");
    }
    EXPECT_EQ(Count(Analyse(b), "Conv"), 1) << variant;
  }
}

TEST(ConvPattern, TypesOfActivationAndOutput) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4}, DataType::kInt8);
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"xd", "wd"}, {"c"});
  End(&b, "c", 0.5f, 9, DataType::kInt8);
  EXPECT_EQ(Ops(Analyse(b)), "QLinearConv");
  ModelBuilder mixed;
  Begin(&mixed, {1, 1, 4, 4}, DataType::kInt8);
  Weights(&mixed, {2, 1, 3, 3});
  mixed.Node("Conv", {"xd", "wd"}, {"c"});
  End(&mixed, "c", 0.5f, 9, DataType::kUint8);
  EXPECT_EQ(Ops(Analyse(mixed)), "Conv");
}

TEST(ConvPattern, OneDequantizeFeedsTwoConvolutions) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"xd", "wd"}, {"c"});
  b.Node("Conv", {"xd", "wd"}, {"c2"});
  b.Quantize("c2", "zq", 0.5f, Zero(DataType::kUint8, 0));
  b.Output("zq");
  End(&b, "c", 0.5f, 9);
  EXPECT_EQ(Count(Analyse(b), "QLinearConv"), 2);
}

TEST(MatMulPattern, WithAndWithoutQuantizeBehind) {
  ModelBuilder b;
  Begin(&b, {2, 3});
  Weights(&b, {3, 4});
  b.Node("MatMul", {"xd", "wd"}, {"m"});
  End(&b, "m", 0.5f, 9);
  EXPECT_EQ(Ops(Analyse(b)), "QLinearMatMul");
  ModelBuilder open;
  Begin(&open, {2, 3});
  Weights(&open, {3, 4});
  open.Node("MatMul", {"xd", "wd"}, {"m"});
  open.Output("m");
  EXPECT_EQ(Ops(Analyse(open)), "MatMulIntegerToFloat");
}

TEST(GemmPattern, AlphaBetaAndBias) {
  struct {
    bool bias;
    float alpha, beta;
    const char* expected;
  } cases[] = {{true, 1, 1, "QGemm"},
               {false, 2, 1, "QGemm"},
               {true, 2, 1, "Gemm"},
               {true, 1, 2, "Gemm"}};
  for (const auto& c : cases) {
    ModelBuilder b;
    Begin(&b, {1, 3});
    Weights(&b, {3, 2});
    std::vector<std::string> inputs = {"xd", "wd"};
    if (c.bias) {
      BiasInDq(&b, 0.125f);
      inputs.push_back("bd");
    }
    auto* gemm = b.Node("Gemm", inputs, {"g"});
    SetFloat(gemm, "alpha", c.alpha);
    SetFloat(gemm, "beta", c.beta);
    End(&b, "g", 0.5f, 9);
    EXPECT_EQ(Ops(Analyse(b)), c.expected) << c.alpha << c.beta << c.bias;
  }
  ModelBuilder open;
  Begin(&open, {1, 3});
  Weights(&open, {3, 2});
  BiasInDq(&open, 0.125f);
  open.Node("Gemm", {"xd", "wd", "bd"}, {"g"});
  open.Output("g");
  EXPECT_EQ(Ops(Analyse(open)), "QGemm");
}

TEST(ElementwisePattern, AddAndMul) {
  for (const char* op : {"Add", "Mul"}) {
    ModelBuilder b;
    Begin(&b, {1, 2, 3});
    Begin(&b, {1, 2, 3}, DataType::kUint8, "z");
    b.Node(op, {"xd", "zd"}, {"s"});
    b.Node("Relu", {"s"}, {"r"});
    End(&b, "r", 0.5f, 0);
    EXPECT_EQ(Ops(Analyse(b)), std::string("QLinear") + op);
  }
  ModelBuilder b;  // not in the list
  Begin(&b, {1, 2, 3});
  Begin(&b, {1, 2, 3}, DataType::kUint8, "z");
  b.Node("Sub", {"xd", "zd"}, {"s"});
  End(&b, "s", 0.5f, 0);
  EXPECT_EQ(Ops(Analyse(b)), "Sub");
}

TEST(UnaryPattern, PoolsTablesAndConcat) {
  for (const char* op : {"GlobalAveragePool", "Sigmoid", "LeakyRelu"}) {
    ModelBuilder b;
    Begin(&b, {1, 2, 3, 3});
    b.Node(op, {"xd"}, {"s"});
    End(&b, "s", 0.5f, 7);
    EXPECT_EQ(Ops(Analyse(b)), std::string("QLinear") + op);
  }
  ModelBuilder pool;
  Begin(&pool, {1, 2, 3, 3});
  SetInts(pool.Node("AveragePool", {"xd"}, {"s"}), "kernel_shape", {2, 2});
  End(&pool, "s", 0.5f, 7);
  EXPECT_EQ(Ops(Analyse(pool)), "QLinearAveragePool");
  ModelBuilder concat;
  Begin(&concat, {1, 2});
  Begin(&concat, {1, 3}, DataType::kUint8, "z");
  SetInt(concat.Node("Concat", {"xd", "zd"}, {"s"}), "axis", 1);
  End(&concat, "s", 0.5f, 7);
  EXPECT_EQ(Ops(Analyse(concat)), "QLinearConcat");
}

TEST(LayoutPattern, RunsOnCodesOnlyWithEqualParameters) {
  for (const float scale : {0.25f, 0.5f}) {
    for (const char* op : {"MaxPool", "Transpose", "Flatten"}) {
      ModelBuilder b(11);  // pairs do not move across MaxPool
      Begin(&b, {1, 2, 3, 3});
      auto* node = b.Node(op, {"xd"}, {"s"});
      if (node->op_type() == "MaxPool") SetInts(node, "kernel_shape", {2, 2});
      End(&b, "s", scale, 3);
      const Graph graph = Analyse(b);
      const TensorId yq = graph.FindTensor("yq");
      ASSERT_NE(yq, kNoTensor);
      const bool on_codes = graph.nodes[graph.Producers()[yq]].op == op;
      if (std::string(op) != "Transpose") {
        EXPECT_EQ(on_codes, scale == 0.25f) << op << scale;
      }
      // A Flatten of floats keeps nothing apart: it goes behind what fuses.
      EXPECT_EQ(Count(graph, op) + Count(graph, "Reshape"), 1);
    }
  }
}

// Patterns of operators that may be registered or not.

TEST(LayoutPattern, SplitNeedsAQuantizeBehindEveryResult) {
  for (const bool equal : {true, false}) {
    ModelBuilder b;
    Begin(&b, {1, 4, 3, 3});
    SetInt(b.Node("Split", {"xd"}, {"s", "t"}), "axis", 1);
    b.Quantize("t", "tq", equal ? 0.25f : 0.5f, Zero(DataType::kUint8, 3));
    b.Output("tq");
    End(&b, "s", 0.25f, 3);
    const Graph graph = Analyse(b);
    EXPECT_EQ(Count(graph, "Split"), 1);
    const TensorId tq = graph.FindTensor("tq");
    ASSERT_NE(tq, kNoTensor);
    EXPECT_EQ(graph.nodes[graph.Producers()[tq]].op == "Split", equal);
  }
}

TEST(LayoutPattern, ArgMaxOfCodes) {
  ModelBuilder b;
  Begin(&b, {2, 5});
  SetInt(b.Node("ArgMax", {"xd"}, {"y"}), "axis", 1);
  b.Output("y");
  const Graph graph = Analyse(b);
  const TensorId y = graph.FindTensor("y");
  const Node& node = graph.nodes[graph.Producers()[y]];
  EXPECT_EQ(node.op, "ArgMax");
  // Where ArgMax takes codes, it reads them.
  if (graph.tensors[node.inputs[0]].type == DataType::kFloat) {
    EXPECT_EQ(Count(graph, "DequantizeLinear"), 1);
  }
}

TEST(UnaryPattern, Softmax) {
  for (int opset : {12, 13}) {
    ModelBuilder b(opset);
    Begin(&b, {2, 3, 4});
    b.Node("Softmax", {"xd"}, {"s"});
    End(&b, "s", 1 / 256.0f, 0);
    const Graph graph = Analyse(b);
    EXPECT_EQ(Ops(graph), "QLinearSoftmax");
    for (const Node& node : graph.nodes) {
      if (node.op != "QLinearSoftmax") continue;
      EXPECT_EQ(node.IntAttribute("axis", 7), opset < 13 ? 1 : -1);
      EXPECT_EQ(node.IntAttribute("opset", 7), opset);
    }
  }
}

TEST(ElementwisePattern, Where) {
  ModelBuilder b;
  b.Input("c", DataType::kBool, {2, 3});
  Begin(&b, {2, 3});
  Begin(&b, {1, 3}, DataType::kUint8, "z");
  b.Node("Where", {"c", "xd", "zd"}, {"s"});
  End(&b, "s", 0.5f, 7);
  EXPECT_EQ(Ops(Analyse(b)), "QLinearWhere");
}

TEST(MotionPattern, QuantizeMovesBackAcrossMaxPoolAndReshape) {
  ModelBuilder b;
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"xd", "wd"}, {"c"});
  b.Node("Relu", {"c"}, {"r"});
  SetInts(b.Node("MaxPool", {"r"}, {"p"}), "kernel_shape", {2, 2});
  b.Constant("to", Int64s({2}, {1, 2}));
  b.Node("Reshape", {"p", "to"}, {"s"});
  End(&b, "s", 0.5f, 0);
  const Graph graph = Analyse(b);
  EXPECT_EQ(Ops(graph), "QLinearConv MaxPool Reshape");
  EXPECT_EQ(graph.tensors[graph.FindTensor("yq")].type, DataType::kUint8);
}

TEST(MotionPattern, MaxPoolOfOldOpsetsIsABarrier) {
  ModelBuilder b(11);
  Begin(&b, {1, 1, 4, 4});
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"xd", "wd"}, {"c"});
  SetInts(b.Node("MaxPool", {"c"}, {"p"}), "kernel_shape", {2, 2});
  End(&b, "p", 0.5f, 0);
  EXPECT_EQ(Ops(Analyse(b)), "Conv MaxPool");
}

TEST(MotionPattern, DequantizeMovesForward) {
  ModelBuilder b;
  Begin(&b, {1, 4, 4});
  b.Constant("to", Int64s({4}, {1, 1, 4, 4}));
  b.Node("Reshape", {"xd", "to"}, {"s"});
  Weights(&b, {2, 1, 3, 3});
  b.Node("Conv", {"s", "wd"}, {"c"});
  End(&b, "c", 0.5f, 9);
  EXPECT_EQ(Ops(Analyse(b)), "Reshape QLinearConv");
}

TEST(DoublePairs, EqualParametersOnlyRemove) {
  ModelBuilder b;
  Begin(&b, {1, 4});
  End(&b, "xd", 0.25f, 3);
  const Graph graph = Analyse(b);
  EXPECT_EQ(Count(graph, "QuantizeLinear"), 1);
  EXPECT_EQ(Count(graph, "DequantizeLinear"), 1);
}

TEST(DoublePairs, AMoveThatLeavesAllInPlaceKeepsThemApart) {
  ModelBuilder b;
  Begin(&b, {1, 4});
  SetInts(b.Node("Transpose", {"xd"}, {"t"}), "perm", {1, 0});
  End(&b, "t", 0.5f, 128);
  const Graph graph = Analyse(b);
  // The first one keeps its parameters.
  ASSERT_GE(graph.nodes.size(), 1u);
  const Node& q = graph.nodes[0];
  ASSERT_EQ(q.op, "QuantizeLinear");
  EXPECT_EQ(graph.tensors[q.inputs[1]].constant->as<float>()[0], 0.25f);
}

TEST(DoublePairs, IntersectionOfTheRanges) {
  // [-0.75, 63] and [-64, 63.5]: low = -0.75, high = 63.
  ModelBuilder b;
  Begin(&b, {1, 4});
  End(&b, "xd", 0.5f, 128);
  const Graph graph = Analyse(b);
  ASSERT_EQ(Count(graph, "QuantizeLinear"), 1);
  const Node& q = graph.nodes[0];
  ASSERT_EQ(q.op, "QuantizeLinear");
  EXPECT_EQ(graph.tensors[q.inputs[1]].constant->as<float>()[0],
            (63.0f + 0.75f) / 255.0f);
  EXPECT_EQ(graph.tensors[q.inputs[2]].constant->as<uint8_t>()[0], 3);
}

TEST(RealFiles, RedundantCastAndIdentities) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, 4, 4});
  b.Quantize("x", "xq", 0.25f, Zero(DataType::kUint8, 3));
  SetInt(b.Node("Cast", {"xq"}, {"xc"}), "to", 2);
  b.Dequantize("xc", "xd", Floats({}, {0.25f}), Zero(DataType::kUint8, 3));
  b.Constant("w0", Int8s({2, 1, 1, 1}, {3, 4}));
  b.Node("Identity", {"w0"}, {"w"});
  b.Dequantize("w", "wd", Floats({}, {0.5f}), Int8s({}, {0}));
  b.Node("Conv", {"xd", "wd"}, {"c"});
  End(&b, "c", 0.5f, 9);
  EXPECT_EQ(Ops(Analyse(b)), "QLinearConv");
}

// The card's promise: what fuses computes the integer formula, not the float
// one. Conv of one tap: acc = (x-3)*w, M = f32(f32(0.25*0.5)/0.5) = 0.25.
TEST(ConvPattern, ComputesTheIntegerFormula) {
  ModelBuilder b;
  Begin(&b, {1, 1, 1, 4});
  b.Constant("w", Int8s({1, 1, 1, 1}, {2}));
  b.Dequantize("w", "wd", Floats({}, {0.5f}), Int8s({}, {0}));
  b.Node("Conv", {"xd", "wd"}, {"c"});
  End(&b, "c", 0.5f, 9);
  const Graph graph = Analyse(b);
  auto values = EvaluateGraph(
      graph, {Floats({1, 1, 1, 4}, {0.25f, 0.75f, 1.25f, -0.25f})});
  ASSERT_TRUE(values.ok()) << values.status();
  // acc = 2, 6, 10, -2; times 0.25: 0.5, 1.5, 2.5, -0.5; ties to even; + 9.
  EXPECT_EQ(Difference((*values)[graph.FindTensor("yq")],
                       Uint8s({1, 1, 1, 4}, {9, 11, 11, 9}), 0, 0),
            "");
}

}  // namespace
}  // namespace heddle::compiler
