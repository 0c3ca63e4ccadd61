// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// One node with its constants, then what scales and shifts its result.
class Chain {
 public:
  Chain(const std::string& op, const Shape& x, const Shape& w, const Shape& c,
        const Shape& y, std::map<std::string, Attribute> attributes = {})
      : y_(y) {
    x_ = Computed("x", x);
    graph.inputs = {x_};
    Node node;
    node.op = op;
    node.name = node.op;
    node.opset = 13;
    node.sources = {op};
    node.inputs = {x_, Constant(w)};
    if (!c.empty()) node.inputs.push_back(Constant(c));
    node.attributes = std::move(attributes);
    last = Computed("result", y);
    node.outputs = {last};
    graph.nodes = {node};
    channels = static_cast<size_t>(y[1]);
    scale.assign(channels, 1);
    shift.assign(channels, 0);
  }

  void Append(const std::string& op, std::vector<TensorId> inputs) {
    Node node;
    node.op = op;
    node.name = op;
    node.opset = 13;
    node.sources = {op};
    node.inputs = std::move(inputs);
    last = Computed(op + std::to_string(graph.nodes.size()), y_);
    node.outputs = {last};
    graph.nodes.push_back(node);
  }
  TensorId Constant(const Shape& shape, float low = -1, float high = 1) {
    TensorData data = TensorData::Zeros(DataType::kFloat, shape);
    std::uniform_real_distribution<float> value(low, high);
    for (int64_t i = 0; i < data.count(); ++i)
      data.as<float>()[i] = value(random_);
    return graph.AddConstant("c" + std::to_string(graph.tensors.size()), data);
  }
  const float* Data(TensorId id) const {
    return graph.tensors[id].constant->as<float>();
  }

  void Batch() {
    const auto n = static_cast<int64_t>(channels);
    const TensorId s = Constant({n}), b = Constant({n}), m = Constant({n}),
                   v = Constant({n}, 0.1f, 2);
    Append("BatchNormalization", {last, s, b, m, v});
    for (size_t c = 0; c < channels; ++c) {
      const double f = Data(s)[c] / std::sqrt(Data(v)[c] + 1e-5);
      scale[c] *= f;
      shift[c] = shift[c] * f + Data(b)[c] - Data(m)[c] * f;
    }
  }
  void Binary(const std::string& op, const Shape& shape, bool constant_first) {
    const TensorId t = Constant(shape);
    Append(op, constant_first ? std::vector<TensorId>{t, last}
                              : std::vector<TensorId>{last, t});
    const bool one = ElementCount(shape) == 1;
    for (size_t c = 0; c < channels; ++c) {
      const double v = Data(t)[one ? 0 : c];
      if (op == "Mul") scale[c] *= v, shift[c] *= v;
      if (op == "Add") shift[c] += v;
      if (op == "Sub") shift[c] -= v;
    }
  }

  // The number of nodes after the pass; values are compared with the first
  // node's results scaled and shifted in double.
  size_t Fold() {
    graph.outputs = {last};
    TensorData x = TensorData::Zeros(DataType::kFloat, graph.tensors[x_].shape);
    std::uniform_real_distribution<float> value(-1, 1);
    for (int64_t i = 0; i < x.count(); ++i) x.as<float>()[i] = value(random_);
    Graph first = graph;
    first.nodes.resize(1);
    first.outputs = first.nodes[0].outputs;
    auto before = EvaluateGraph(first, {x});
    EXPECT_TRUE(before.ok()) << before.status();
    EXPECT_TRUE(FoldAffine(&graph).ok());
    EXPECT_TRUE(graph.Verify().ok());
    if (graph.nodes.size() != 1 || !before.ok()) return graph.nodes.size();
    auto after = EvaluateGraph(graph, {x});
    EXPECT_TRUE(after.ok()) << after.status();
    if (!after.ok()) return 0;
    const TensorData& a = (*before)[first.outputs[0]];
    const TensorData& b = (*after)[graph.outputs[0]];
    const int64_t inner = ElementCount(Shape(y_.begin() + 2, y_.end()));
    for (int64_t i = 0; i < a.count(); ++i) {
      const size_t c = static_cast<size_t>(i / inner) % channels;
      EXPECT_NEAR(a.as<float>()[i] * scale[c] + shift[c], b.as<float>()[i],
                  1e-4)
          << i;
    }
    return 1;
  }

  Graph graph;
  TensorId last = kNoTensor;
  size_t channels = 0;
  std::vector<double> scale, shift;

 private:
  TensorId Computed(const std::string& name, const Shape& shape) {
    Tensor t;
    t.name = name;
    t.type = DataType::kFloat;
    t.shape = shape;
    t.shape_known = true;
    return graph.AddTensor(t);
  }

  TensorId x_;
  Shape y_;
  std::mt19937 random_{11};
};

Chain Conv(bool bias = true) {
  return Chain("Conv", {2, 4, 5, 5}, {6, 2, 3, 3}, bias ? Shape{6} : Shape{},
               {2, 6, 3, 3}, {{"group", int64_t{2}}});
}

TEST(FoldAffineTest, BatchNormalization) {
  for (const bool bias : {true, false}) {
    Chain conv = Conv(bias);
    conv.Batch();
    EXPECT_EQ(conv.Fold(), 1u);
    EXPECT_EQ(conv.graph.nodes[0].sources,
              (std::vector<std::string>{"Conv", "BatchNormalization"}));
  }
  Chain transposed("ConvTranspose", {1, 4, 3, 3}, {4, 3, 2, 2}, {6},
                   {1, 6, 4, 4}, {{"group", int64_t{2}}});
  transposed.Batch();
  EXPECT_EQ(transposed.Fold(), 1u);
  for (const int64_t trans : {0, 1}) {
    Chain gemm("Gemm", {3, 4}, trans ? Shape{5, 4} : Shape{4, 5}, {1, 5},
               {3, 5}, {{"transB", trans}, {"alpha", 0.5f}, {"beta", 3.0f}});
    gemm.Batch();
    EXPECT_EQ(gemm.Fold(), 1u);
  }
}

TEST(FoldAffineTest, ConstantsInAnyOrder) {
  Chain conv = Conv();
  conv.Binary("Mul", {6, 1, 1}, false);
  conv.Binary("Add", {1, 6, 1, 1}, true);
  conv.Batch();
  conv.Binary("Sub", {1}, false);
  conv.Binary("Mul", {}, true);
  EXPECT_EQ(conv.Fold(), 1u);
}

TEST(FoldAffineTest, ABiasLeavesTheWeights) {
  Chain conv = Conv(false);
  const TensorId weights = conv.graph.nodes[0].inputs[1];
  conv.Binary("Add", {6, 1, 1}, false);
  EXPECT_EQ(conv.Fold(), 1u);
  EXPECT_EQ(conv.graph.nodes[0].inputs[1], weights);
}

TEST(FoldAffineTest, OthersStay) {
  // c - x, a constant that varies along columns, another reader.
  Chain sub = Conv();
  sub.Binary("Sub", {6, 1, 1}, true);
  EXPECT_EQ(sub.Fold(), 2u);
  Chain columns = Conv();
  columns.Append("Mul", {columns.last, columns.Constant({3})});
  EXPECT_EQ(columns.Fold(), 2u);
  Chain output = Conv();
  const TensorId between = output.last;
  output.Batch();
  output.graph.outputs = {output.last, between};
  ASSERT_TRUE(FoldAffine(&output.graph).ok());
  EXPECT_EQ(output.graph.nodes.size(), 2u);
  // An infinite factor, which a weight of 0 would make a NaN.
  Chain infinite = Conv();
  infinite.Append(
      "Mul",
      {infinite.last,
       infinite.graph.AddConstant(
           "inf", Floats({}, {std::numeric_limits<float>::infinity()}))});
  EXPECT_EQ(infinite.Fold(), 2u);
  // Half precision.
  Chain half = Conv();
  half.Binary("Add", {6, 1, 1}, false);
  for (TensorId id : {half.last, half.graph.nodes[0].outputs[0]}) {
    half.graph.tensors[id].type = DataType::kFloat16;
  }
  half.graph.outputs = {half.last};
  ASSERT_TRUE(FoldAffine(&half.graph).ok());
  EXPECT_EQ(half.graph.nodes.size(), 2u);
}

}  // namespace
}  // namespace heddle::compiler
