// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others, on the card.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compiler/ops/define.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

using Attributes = void (*)(onnx::NodeProto*);

struct Case {
  const char* name;
  const char* op;
  int opset;
  Shape shape;
  Attributes attributes = nullptr;
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

class ExpandedOnCard : public testing::TestWithParam<Case> {};

TEST_P(ExpandedOnCard, EqualsTheReference) {
  const Case& c = GetParam();
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(c.opset);
    b.Input("x", type, c.shape);
    auto* node = b.Node(c.op, {"x"}, {"y"});
    if (c.attributes != nullptr) c.attributes(node);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, 3)},
                              kSmall);
  }
}

void LastAxis(onnx::NodeProto* n) { SetInts(n, "axes", {-1}); }
void TwoAxes(onnx::NodeProto* n) {
  SetInts(n, "axes", {0, 2});
  SetInt(n, "keepdims", 0);
}
void Axis1(onnx::NodeProto* n) { SetInt(n, "axis", 1); }
void P1(onnx::NodeProto* n) { SetInt(n, "p", 1); }
void P3(onnx::NodeProto* n) { SetInt(n, "p", 3); }
void Kernel(onnx::NodeProto* n) {
  SetInts(n, "kernel_shape", {3, 2});
  SetInts(n, "strides", {2, 1});
  SetInts(n, "pads", {1, 1, 0, 1});
}
void Kernel1(onnx::NodeProto* n) {
  SetInts(n, "kernel_shape", {3});
  SetString(n, "auto_pad", "SAME_UPPER");
}
void Lower(onnx::NodeProto* n) { SetInt(n, "upper", 0); }

INSTANTIATE_TEST_SUITE_P(
    Operators, ExpandedOnCard,
    testing::Values(
        Case{"LogSum", "ReduceLogSum", 13, {3, 5, 40}, LastAxis},
        Case{"LogSumExp", "ReduceLogSumExp", 13, {3, 5, 40}, LastAxis},
        Case{"LogSumExpOfTwo", "ReduceLogSumExp", 13, {3, 5, 40}, TwoAxes},
        Case{"LogSumExpOfAll", "ReduceLogSumExp", 13, {3, 5, 40}},
        Case{"Hardmax", "Hardmax", 13, {3, 5, 40}},
        Case{"HardmaxOfOne", "Hardmax", 13, {3, 5, 40}, Axis1},
        Case{"HardmaxOfOpset12", "Hardmax", 12, {3, 5, 40}},
        Case{"Lp", "LpNormalization", 13, {3, 5, 40}},
        Case{"LpOfMagnitudes", "LpNormalization", 13, {3, 5, 40}, P1},
        Case{"MeanVariance", "MeanVarianceNormalization", 13, {3, 5, 4, 40}},
        Case{"GlobalLp", "GlobalLpPool", 13, {2, 17, 5, 9}},
        Case{"GlobalLp3", "GlobalLpPool", 13, {2, 17, 5, 9}, P3},
        Case{"LpPool", "LpPool", 13, {2, 17, 9, 11}, Kernel},
        Case{"LpPool1", "LpPool", 13, {2, 17, 30}, Kernel1},
        Case{"Upper", "Trilu", 14, {2, 17, 30}},
        Case{"Lower", "Trilu", 14, {2, 17, 30}, Lower}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LowerExpanded, InfiniteSums) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {6, 20});
  SetInts(b.Node("ReduceLogSumExp", {"x"}, {"y"}), "axes", {1});
  b.Output("y");
  TensorData x = RandomData(DataType::kFloat, {6, 20}, 4);
  for (int i = 0; i < 20; ++i) x.as<float>()[20 + i] = -kInf;
  x.as<float>()[45] = kInf;
  x.as<float>()[65] = std::nanf("");
  for (int i = 0; i < 20; ++i) x.as<float>()[80 + i] *= 300;
  const auto y = ExpectCardEqualsReference(b.Bytes(), {x}, kSmall);
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<float>()[1], -kInf);
  EXPECT_EQ(y[0].as<float>()[2], kInf);
  EXPECT_TRUE(std::isnan(y[0].as<float>()[3]));
  EXPECT_TRUE(std::isfinite(y[0].as<float>()[4]));
}

TEST(LowerExpanded, OneHotOfComputedIndices) {
  for (DataType type : {DataType::kInt64, DataType::kInt32, DataType::kFloat}) {
    for (int64_t axis : {-1, 0, 1}) {
      ModelBuilder b;
      b.Input("x", type, {4, 10});
      b.Input("values", DataType::kFloat, {2});
      b.Constant("depth", Int64s({}, {12}));
      SetInt(b.Node("OneHot", {"x", "depth", "values"}, {"y"}), "axis", axis);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {RandomData(type, {4, 10}, 5, -14, 14), Floats({2}, {0.5f, 2})},
          kSmall);
    }
  }
}

// Along each axis; 1,100 elements are more than one command's.
TEST(LowerExpanded, SumsAlongAnAxis) {
  for (DataType type :
       {DataType::kFloat, DataType::kFloat16, DataType::kInt32}) {
    for (const Shape& shape :
         {Shape{3, 5, 40}, Shape{70, 300}, Shape{1100, 2}, Shape{2, 1100}}) {
      for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size());
           ++axis) {
        ModelBuilder b;
        b.Input("x", type, shape);
        b.Constant("axis", Int64s({}, {axis}));
        auto* node = b.Node("CumSum", {"x", "axis"}, {"y"});
        SetInt(node, "exclusive", axis % 2);
        SetInt(node, "reverse", shape.size() == 2 && axis == 1);
        b.Output("y");
        ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 11)},
                                  kSmall);
      }
    }
  }
}

TEST(LowerExpanded, SumsAlongAComputedAxis) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3, 5, 40});
  b.Input("axis", DataType::kInt64, {1});
  b.Node("CumSum", {"x", "axis"}, {"y"});
  b.Output("y");
  const TensorData x = RandomData(DataType::kFloat, {3, 5, 40}, 11);
  for (int64_t axis = -3; axis < 3; ++axis) {
    ExpectCardEqualsReference(b.Bytes(), {x, Int64s({1}, {axis})}, kSmall);
  }
}

TEST(LowerExpanded, Losses) {
  for (const char* op :
       {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    for (const char* reduction : {"mean", "sum", "none"}) {
      ModelBuilder b;
      b.Input("x", DataType::kFloat, {4, 10, 6});
      b.Input("t", DataType::kInt64, {4, 6});
      b.Input("w", DataType::kFloat, {10});
      auto* node = b.Node(op, {"x", "t", "w"}, {"y"});
      SetString(node, "reduction", reduction);
      SetInt(node, "ignore_index", 3);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, {4, 10, 6}, 12),
                      RandomData(DataType::kInt64, {4, 6}, 13, 0, 9.9f),
                      RandomData(DataType::kFloat, {10}, 14, 1, 2)});
    }
  }
}

TEST(LowerExpanded, ComputedStatistics) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(15);
    b.Input("x", type, {6, 5, 7, 3});
    for (const char* name : {"scale", "bias", "mean", "variance"}) {
      b.Input(name, type, {5});
    }
    SetInt(
        b.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
               {"y", "new_mean", "new_variance"}),
        "training_mode", 1);
    for (const char* name : {"y", "new_mean", "new_variance"}) b.Output(name);
    std::vector<TensorData> inputs = {RandomData(type, {6, 5, 7, 3}, 15)};
    for (int i = 0; i < 4; ++i) {
      inputs.push_back(RandomData(type, {5}, 16 + i, 1, 2));
    }
    ExpectCardEqualsReference(b.Bytes(), inputs, kSmall);
  }
}

TEST(LowerExpanded, GroupsWithComputedScales) {
  for (int opset : {18, 21}) {
    for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
      const int64_t count = opset == 18 ? 3 : 12;
      ModelBuilder b(opset);
      b.Input("x", type, {2, 12, 5, 7});
      b.Input("scale", type, {count});
      b.Input("bias", type, {count});
      SetInt(b.Node("GroupNormalization", {"x", "scale", "bias"}, {"y"}),
             "num_groups", 3);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {RandomData(type, {2, 12, 5, 7}, 6), RandomData(type, {count}, 7),
           RandomData(type, {count}, 8)},
          kSmall);
    }
  }
}

TEST(LowerExpanded, RootsOfMeanSquares) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(23);
    b.Input("x", type, {2, 5, 48});
    b.Constant("scale", RandomData(type, {48}, 9));
    b.Node("RMSNormalization", {"x", "scale"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, {2, 5, 48}, 10)},
                              kSmall);
  }
}

// A token of a decoder whose batches have different pasts.
TEST(LowerExpanded, GroupQueryAttention) {
  ModelBuilder b;
  b.Input("q", DataType::kFloat, {2, 1, 4 * 16});
  b.Input("k", DataType::kFloat, {2, 1, 2 * 16});
  b.Input("v", DataType::kFloat, {2, 1, 2 * 16});
  b.Input("past_k", DataType::kFloat, {2, 2, 6, 16});
  b.Input("past_v", DataType::kFloat, {2, 2, 6, 16});
  b.Input("lengths", DataType::kInt32, {2});
  b.Input("total", DataType::kInt32, {1});
  b.Constant("cos", RandomData(DataType::kFloat, {9, 8}, 2));
  b.Constant("sin", RandomData(DataType::kFloat, {9, 8}, 3));
  auto* node = b.Node(
      "GroupQueryAttention",
      {"q", "k", "v", "past_k", "past_v", "lengths", "total", "cos", "sin"},
      {"y", "present_k", "present_v"}, "com.microsoft");
  SetInt(node, "num_heads", 4);
  SetInt(node, "kv_num_heads", 2);
  SetInt(node, "do_rotary", 1);
  for (const char* name : {"y", "present_k", "present_v"}) b.Output(name);
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {2, 1, 64}, 4),
                             RandomData(DataType::kFloat, {2, 1, 32}, 5),
                             RandomData(DataType::kFloat, {2, 1, 32}, 6),
                             RandomData(DataType::kFloat, {2, 2, 6, 16}, 7),
                             RandomData(DataType::kFloat, {2, 2, 6, 16}, 8),
                             Int32s({2}, {6, 2}), Int32s({1}, {7})});
}

}  // namespace
}  // namespace heddle::compiler
