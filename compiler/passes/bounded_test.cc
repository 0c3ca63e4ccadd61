// SPDX-License-Identifier: Apache-2.0
// Operators whose results have a size that values decide, and what follows
// them. Against ONNX Runtime: tests/operators/data_dependent_test.cc.
#include "compiler/ops/bounded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorData Bools(const std::vector<uint8_t>& values) {
  return MakeData(DataType::kBool, {static_cast<int64_t>(values.size())},
                  values);
}

// All outputs of the model for these inputs.
absl::StatusOr<std::vector<TensorData>> RunModel(
    const ModelBuilder& b, const std::vector<TensorData>& inputs) {
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  if (!graph.ok()) return graph.status();
  auto values = EvaluateGraph(*graph, inputs);
  if (!values.ok()) return values.status();
  std::vector<TensorData> outputs;
  for (TensorId id : graph->outputs) outputs.push_back((*values)[id]);
  return outputs;
}

std::vector<int64_t> IntsOf(const TensorData& data) {
  EXPECT_EQ(data.type, DataType::kInt64);
  return {data.as<int64_t>(), data.as<int64_t>() + data.count()};
}

TEST(NonZero, IsARowOfIndicesForEachDimension) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("NonZero", {"x"}, {"y"});
  b.Output("y");
  const auto y = RunModel(b, {Floats({2, 3}, {0, 1, -0.0f, kNan, 0, -2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{2, 3}));
  EXPECT_EQ(IntsOf((*y)[0]), (std::vector<int64_t>{0, 1, 1, 1, 0, 2}));
  const auto none = RunModel(b, {Floats({2, 3}, std::vector<float>(6))});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ((*none)[0].shape, (Shape{2, 0}));
}

// A dimension of 1 at most is not taken for one of 1.
TEST(NonZero, IsTurnedThoughThereIsOneAtMost) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  b.Constant("first", Int64s({1}, {0}));
  b.Node("NonZero", {"x"}, {"found"});
  b.Node("Transpose", {"found"}, {"turned"});
  b.Node("GatherND", {"x", "turned"}, {"values"});
  b.Node("Squeeze", {"turned", "last"}, {"list"});
  b.Node("Unsqueeze", {"list", "first"}, {"row"});
  b.Constant("last", Int64s({1}, {1}));
  for (const char* name : {"turned", "values", "row"}) b.Output(name);
  const auto none = RunModel(b, {Floats({1}, {0})});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ((*none)[0].shape, (Shape{0, 1}));
  EXPECT_EQ((*none)[1].shape, (Shape{0}));
  EXPECT_EQ((*none)[2].shape, (Shape{1, 0}));
  const auto one = RunModel(b, {Floats({1}, {3})});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ((*one)[0].shape, (Shape{1, 1}));
  EXPECT_EQ((*one)[1].as<float>()[0], 3);
  EXPECT_EQ((*one)[2].shape, (Shape{1, 1}));
}

// Moves of what only a run sizes stay in front of elementwise operators.
TEST(NonZero, ItsMovesDoNotSink) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4});
  b.Constant("axes", Int64s({1}, {0})).Constant("half", Floats({}, {0.5f}));
  b.Node("NonZero", {"x"}, {"n"});
  SetInt(b.Node("Cast", {"n"}, {"f"}), "to",
         static_cast<int64_t>(DataType::kFloat));
  b.Node("Squeeze", {"f", "axes"}, {"s"});
  b.Node("Mul", {"s", "half"}, {"m"});
  b.Node("Unsqueeze", {"m", "axes"}, {"u"});
  b.Node("Neg", {"u"}, {"y"});
  b.Output("y");
  const auto y = RunModel(b, {Floats({4}, {0, 1, 0, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{1, 2}));
  EXPECT_EQ((*y)[0].as<float>()[0], -0.5f);
  EXPECT_EQ((*y)[0].as<float>()[1], -1.5f);
}

TEST(Compress, TakesWhereTheConditionIsTrue) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Input("c", DataType::kBool, {2});
  SetInt(b.Node("Compress", {"x", "c"}, {"y"}), "axis", -1);
  b.Node("Compress", {"x", "c"}, {"all"});
  b.Output("y").Output("all");
  const auto y =
      RunModel(b, {Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Bools({0, 1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{2, 1}));
  EXPECT_EQ((*y)[0].as<float>()[0], 2);
  EXPECT_EQ((*y)[0].as<float>()[1], 5);
  EXPECT_EQ((*y)[1].shape, Shape{1});
  EXPECT_EQ((*y)[1].as<float>()[0], 2);
}

TEST(Compress, OfConstantConditionsHasASize) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4});
  b.Constant("c", Bools({1, 0, 1}));
  b.Node("Compress", {"x", "c"}, {"y"});
  b.Node("Shape", {"y"}, {"s"});
  b.Output("y").Output("s");
  const auto y = RunModel(b, {Floats({4}, {1, 2, 3, 4})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, Shape{2});
  EXPECT_EQ(IntsOf((*y)[1]), std::vector<int64_t>{2});
}

TEST(Unique, SortsNanLastAndTellsWhere) {
  for (const bool sorted : {true, false}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {7});
    SetInt(b.Node("Unique", {"x"}, {"y", "i", "inverse", "n"}), "sorted",
           sorted);
    b.Output("y").Output("i").Output("inverse").Output("n");
    const auto y = RunModel(b, {Floats({7}, {3, kNan, -0.0f, 3, 0, kNan, 1})});
    ASSERT_TRUE(y.ok()) << y.status();
    ASSERT_EQ((*y)[0].shape, Shape{4});
    EXPECT_EQ((*y)[0].as<float>()[sorted ? 2 : 0], 3);
    EXPECT_NE((*y)[0].as<float>()[sorted ? 3 : 1],
              (*y)[0].as<float>()[sorted ? 3 : 1]);
    EXPECT_EQ(IntsOf((*y)[1]), sorted ? (std::vector<int64_t>{2, 6, 0, 1})
                                      : (std::vector<int64_t>{0, 1, 2, 6}));
    EXPECT_EQ(IntsOf((*y)[2]),
              sorted ? (std::vector<int64_t>{2, 3, 0, 2, 0, 3, 1})
                     : (std::vector<int64_t>{0, 1, 2, 0, 2, 1, 3}));
    EXPECT_EQ(IntsOf((*y)[3]), sorted ? (std::vector<int64_t>{2, 1, 2, 2})
                                      : (std::vector<int64_t>{2, 2, 2, 1}));
  }
}

TEST(NonMaxSuppression, TakesNoBoxWithoutALimit) {
  ModelBuilder b;
  b.Input("boxes", DataType::kFloat, {1, 2, 4});
  b.Input("scores", DataType::kFloat, {1, 1, 2});
  b.Node("NonMaxSuppression", {"boxes", "scores"}, {"y"});
  b.Output("y");
  const auto y = RunModel(b, {Floats({1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}),
                              Floats({1, 1, 2}, {1, kNan})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{0, 3}));
}

TEST(NonMaxSuppression, PutsScoresThatAreNoNumberLast) {
  ModelBuilder b;
  b.Input("boxes", DataType::kFloat, {1, 3, 4});
  b.Input("scores", DataType::kFloat, {1, 1, 3});
  b.Constant("most", Int64s({1}, {3}));
  b.Node("NonMaxSuppression", {"boxes", "scores", "most"}, {"y"});
  b.Output("y");
  const auto y =
      RunModel(b, {Floats({1, 3, 4}, {0, 0, 1, 1, 5, 5, 6, 6, 0, 0, 1, 1}),
                   Floats({1, 1, 3}, {kNan, -1, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  // The first covers the third, of which nobody knows the score.
  EXPECT_EQ(IntsOf((*y)[0]), (std::vector<int64_t>{0, 0, 2, 0, 0, 1}));
}

// What is not zero, one after another: NonZero, Transpose, GatherND, a sum.
TEST(Bounded, IsFollowedToWhatItBecomes) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {2, 3});
  b.Node("NonZero", {"x"}, {"rows"});
  b.Node("Transpose", {"rows"}, {"indices"});
  b.Node("GatherND", {"x", "indices"}, {"found"});
  b.Node("Add", {"found", "found"}, {"twice"});
  b.Constant("axes", Int64s({1}, {0}));
  SetInt(b.Node("ReduceSum", {"twice", "axes"}, {"sum"}), "keepdims", 0);
  b.Output("indices").Output("twice").Output("sum");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto bounded = FindBounded(*graph);
  ASSERT_TRUE(bounded.ok());
  EXPECT_EQ(bounded->of(graph->outputs[0]), 1u);
  EXPECT_EQ(bounded->of(graph->outputs[1]), 1u);
  EXPECT_EQ(bounded->of(graph->outputs[2]), 0u) << "its size is known";
  const auto y = RunModel(b, {Int64s({2, 3}, {0, 5, 0, 7, 0, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{2, 2}));
  EXPECT_EQ(IntsOf((*y)[1]), (std::vector<int64_t>{10, 14}));
  EXPECT_EQ(IntsOf((*y)[2]), std::vector<int64_t>{24});
}

// What the run's values make of it, not the bound; also of less of it.
TEST(Bounded, IsMeasured) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("NonZero", {"x"}, {"rows"});
  b.Node("Shape", {"rows"}, {"shape"});
  b.Node("Size", {"rows"}, {"size"});
  b.Constant("last", Int64s({1}, {1}));
  b.Node("Gather", {"shape", "last"}, {"count"});
  b.Node("Add", {"count", "count"}, {"twice"});
  b.Output("rows").Output("shape").Output("size").Output("twice");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto bounded = FindBounded(*graph);
  ASSERT_TRUE(bounded.ok());
  for (int i : {1, 2, 3}) EXPECT_EQ(bounded->of(graph->outputs[i]), 0u) << i;
  for (int64_t count : {0, 1, 4, 6}) {
    std::vector<float> x(6);
    std::fill(x.begin(), x.begin() + count, 1.0f);
    const auto y = RunModel(b, {Floats({2, 3}, x)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].shape, (Shape{2, count}));
    EXPECT_EQ(IntsOf((*y)[1]), (std::vector<int64_t>{2, count}));
    EXPECT_EQ(IntsOf((*y)[2]), std::vector<int64_t>{2 * count});
    EXPECT_EQ(IntsOf((*y)[3]), std::vector<int64_t>{2 * count});
  }
}

// What is computed of the first rows of `x` [6,4], as many as a run chooses, is
// what a model computes that has so many rows to begin with.
struct OfRows {
  const char* name;
  std::function<void(ModelBuilder*)> nodes;  // from "rows" to "y"
  int fewest = 0;
};

class BoundedRows : public testing::TestWithParam<OfRows> {};

TEST_P(BoundedRows, AreThoseOfASmallerModel) {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(std::sin(1.0f + 5 * i));
  ModelBuilder chosen(17);
  chosen.Input("x", DataType::kFloat, {6, 4}).Input("c", DataType::kBool, {6});
  SetInt(chosen.Node("Compress", {"x", "c"}, {"rows"}), "axis", 0);
  GetParam().nodes(&chosen);
  chosen.Output("y");
  for (int64_t count = GetParam().fewest; count <= 6; ++count) {
    std::vector<uint8_t> c(6, 0);
    std::fill(c.begin(), c.begin() + count, 1);
    const auto y = RunModel(chosen, {Floats({6, 4}, values), Bools(c)});
    ASSERT_TRUE(y.ok()) << y.status();
    ModelBuilder whole(17);
    whole.Input("rows", DataType::kFloat, {count, 4});
    GetParam().nodes(&whole);
    whole.Output("y");
    const auto z = RunModel(
        whole,
        {Floats({count, 4}, {values.begin(), values.begin() + 4 * count})});
    ASSERT_TRUE(z.ok()) << z.status();
    EXPECT_EQ((*y)[0].shape, (*z)[0].shape);
    EXPECT_TRUE((*y)[0].bytes == (*z)[0].bytes);
  }
}

std::function<void(ModelBuilder*)> Unary(const char* op) {
  return [op](ModelBuilder* b) { b->Node(op, {"rows"}, {"y"}); };
}
std::function<void(ModelBuilder*)> WithInt(const char* op, const char* name,
                                           int64_t value) {
  return [=](ModelBuilder* b) {
    SetInt(b->Node(op, {"rows"}, {"y"}), name, value);
  };
}
std::function<void(ModelBuilder*)> Reshaped(const std::vector<int64_t>& to) {
  return [to](ModelBuilder* b) {
    b->Constant("to", Int64s({static_cast<int64_t>(to.size())}, to));
    b->Node("Reshape", {"rows", "to"}, {"y"});
  };
}
std::function<void(ModelBuilder*)> Sliced(int64_t start, int64_t end) {
  return [=](ModelBuilder* b) {
    b->Constant("s", Int64s({1}, {start})).Constant("e", Int64s({1}, {end}));
    b->Constant("a", Int64s({1}, {0}));
    b->Node("Slice", {"rows", "s", "e", "a"}, {"y"});
  };
}
std::function<void(ModelBuilder*)> Reduced(const char* op, int64_t axis) {
  return [=](ModelBuilder* b) {
    b->Node(op, {"rows"}, {"y"})->add_attribute()->CopyFrom([&] {
      onnx::AttributeProto axes;
      axes.set_name("axes");
      axes.set_type(onnx::AttributeProto::INTS);
      axes.add_ints(axis);
      return axes;
    }());
  };
}
std::function<void(ModelBuilder*)> Image(const char* op, bool weights) {
  return [=](ModelBuilder* b) {
    b->Constant("to", Int64s({4}, {-1, 1, 2, 2}));
    b->Constant("w", Floats({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
    b->Node("Reshape", {"rows", "to"}, {"image"});
    auto* node = weights ? b->Node(op, {"image", "w"}, {"y"})
                         : b->Node(op, {"image"}, {"y"});
    if (weights || std::string(op).find("Global") != std::string::npos) return;
    auto* shape = node->add_attribute();
    shape->set_name("kernel_shape");
    shape->set_type(onnx::AttributeProto::INTS);
    shape->add_ints(2);
    shape->add_ints(2);
  };
}

// As many columns of pixels as there are rows, in two channels.
std::function<void(ModelBuilder*)> Columns(
    const std::function<void(ModelBuilder*)>& nodes) {
  return [=](ModelBuilder* b) {
    b->Constant("to", Int64s({4}, {1, 2, 2, -1}));
    b->Node("Transpose", {"rows"}, {"columns"});
    b->Node("Reshape", {"columns", "to"}, {"image"});
    nodes(b);
  };
}
onnx::NodeProto* WithKernel(onnx::NodeProto* node) {
  auto* shape = node->add_attribute();
  shape->set_name("kernel_shape");
  shape->set_type(onnx::AttributeProto::INTS);
  for (int64_t size : {2, 1}) shape->add_ints(size);
  return node;
}

// "n": how many rows there are, as a list; "count": as a number.
void CountRows(ModelBuilder* b) {
  b->Constant("zero", Int64s({}, {0})).Constant("axis", Int64s({1}, {0}));
  b->Node("Shape", {"rows"}, {"shape"});
  b->Node("Gather", {"shape", "zero"}, {"count"});
  b->Node("Unsqueeze", {"count", "axis"}, {"n"});
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, BoundedRows,
    testing::Values(
        OfRows{"Reshape",
               [](ModelBuilder* b) {
                 CountRows(b);
                 b->Constant("rest", Int64s({2}, {-1, 2}));
                 SetInt(b->Node("Concat", {"n", "rest"}, {"to"}), "axis", 0);
                 b->Node("Reshape", {"rows", "to"}, {"y"});
               },
               1},
        OfRows{"ReshapeToTwiceAsMany",
               [](ModelBuilder* b) {
                 CountRows(b);
                 b->Constant("two", Int64s({1}, {2}));
                 b->Node("Mul", {"n", "two"}, {"more"});
                 SetInt(b->Node("Concat", {"more", "two"}, {"to"}), "axis", 0);
                 b->Node("Reshape", {"rows", "to"}, {"y"});
               },
               1},
        OfRows{"ConstantOfShape",
               [](ModelBuilder* b) {
                 b->Node("Shape", {"rows"}, {"shape"});
                 b->Node("ConstantOfShape", {"shape"}, {"y"});
               }},
        OfRows{"Range",
               [](ModelBuilder* b) {
                 CountRows(b);
                 b->Constant("one", Int64s({}, {1}));
                 b->Node("Range", {"zero", "count", "one"}, {"y"});
               }},
        OfRows{"Expand",
               [](ModelBuilder* b) {
                 b->Constant("row", Floats({1, 4}, {1, 2, 3, 4}));
                 b->Node("Shape", {"rows"}, {"shape"});
                 b->Node("Expand", {"row", "shape"}, {"y"});
               }},
        // As torch.onnx writes expand(n, -1).
        OfRows{"ExpandBehindWhere",
               [](ModelBuilder* b) {
                 CountRows(b);
                 b->Constant("row", Floats({1, 4}, {1, 2, 3, 4}));
                 b->Constant("keep", Int64s({1}, {-1}));
                 b->Constant("ones", Int64s({2}, {1, 1}));
                 b->Constant("minus", Int64s({2}, {-1, -1}));
                 SetInt(b->Node("Concat", {"n", "keep"}, {"want"}), "axis", 0);
                 b->Node("Equal", {"want", "minus"}, {"kept"});
                 b->Node("Where", {"kept", "ones", "want"}, {"to"});
                 b->Node("Expand", {"row", "to"}, {"y"});
               }},
        OfRows{
            "Tile",
            [](ModelBuilder* b) {
              CountRows(b);
              b->Constant("row", Floats({1, 2}, {1, 2}));
              b->Constant("two", Int64s({1}, {2}));
              SetInt(b->Node("Concat", {"n", "two"}, {"repeats"}), "axis", 0);
              b->Node("Tile", {"row", "repeats"}, {"y"});
            }}),
    [](const auto& info) { return std::string(info.param.name); });

// As many rows as another list has, which is another number in some runs.
TEST(Bounded, ReshapeToAnothersSizeEndsWithAnError) {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {6, 4}).Input("c", DataType::kBool, {6});
  b.Input("d", DataType::kBool, {6});
  SetInt(b.Node("Compress", {"x", "c"}, {"few"}), "axis", 0);
  SetInt(b.Node("Compress", {"x", "d"}, {"rows"}), "axis", 0);
  CountRows(&b);
  b.Constant("rest", Int64s({2}, {-1, 2}));
  SetInt(b.Node("Concat", {"n", "rest"}, {"to"}), "axis", 0);
  b.Node("Reshape", {"few", "to"}, {"y"});
  b.Output("y");
  const auto run = [&](const std::vector<uint8_t>& c,
                       const std::vector<uint8_t>& d) {
    return RunModel(
               b, {Floats({6, 4}, std::vector<float>(24)), Bools(c), Bools(d)})
        .status();
  };
  EXPECT_TRUE(run({1, 0, 1, 0, 0, 0}, {0, 0, 1, 0, 1, 0}).ok());
  EXPECT_FALSE(run({1, 1, 1, 1, 0, 0}, {0, 0, 1, 0, 1, 0}).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Operators, BoundedRows,
    testing::Values(
        OfRows{"Sigmoid", Unary("Sigmoid")},
        OfRows{"Softmax", WithInt("Softmax", "axis", -1)},
        OfRows{"LogSoftmax", WithInt("LogSoftmax", "axis", 1)},
        OfRows{"ArgMax", WithInt("ArgMax", "axis", 1)},
        OfRows{"Flatten", Unary("Flatten")},
        OfRows{"FlattenAll", WithInt("Flatten", "axis", 0)},
        OfRows{"ReshapeInner", Reshaped({-1, 2, 2}), 1},
        OfRows{"ReshapeKept", Reshaped({0, 2, 2})},
        OfRows{"ReshapeFlat", Reshaped({-1}), 1},
        OfRows{"ReshapeBehind", Reshaped({2, 2, -1}), 1},
        OfRows{"SliceButLast", Sliced(0, -1)},
        OfRows{"SliceButFirst", Sliced(1, INT64_MAX)},
        OfRows{"SliceLastTwo", Sliced(-2, INT64_MAX)},
        OfRows{"SliceFirstTwo", Sliced(0, 2)},
        OfRows{"ReduceMaxOfEach", Reduced("ReduceMax", 1)},
        OfRows{"ReduceMeanOfAll", Reduced("ReduceMean", 0), 1},
        OfRows{"ReduceMaxOfAll", Reduced("ReduceMax", 0), 1},
        OfRows{"Conv", Image("Conv", true), 1},
        OfRows{"MaxPool", Image("MaxPool", false), 1},
        OfRows{"AveragePool", Image("AveragePool", false), 1},
        OfRows{"GlobalAveragePool", Image("GlobalAveragePool", false), 1},
        OfRows{"MatMul",
               [](ModelBuilder* b) {
                 b->Constant("w", Floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
                 b->Node("MatMul", {"rows", "w"}, {"y"});
               }},
        OfRows{"MatMulOfColumns",
               [](ModelBuilder* b) {
                 b->Constant("w", Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
                 b->Node("Transpose", {"rows"}, {"columns"});
                 b->Node("MatMul", {"w", "columns"}, {"y"});
               }},
        OfRows{"Gemm",
               [](ModelBuilder* b) {
                 b->Constant("w", Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
                 b->Constant("bias", Floats({2}, {1, -1}));
                 SetInt(b->Node("Gemm", {"rows", "w", "bias"}, {"y"}), "transB",
                        1);
               }},
        OfRows{"Split",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Split", {"rows"}, {"a", "b"}), "axis", 1);
                 b->Node("Sub", {"b", "a"}, {"y"});
               }},
        OfRows{"ConcatOfColumns",
               [](ModelBuilder* b) {
                 b->Node("Abs", {"rows"}, {"a"});
                 SetInt(b->Node("Concat", {"rows", "a"}, {"y"}), "axis", 1);
               }},
        OfRows{"GatherColumns",
               [](ModelBuilder* b) {
                 b->Constant("i", Int64s({2}, {3, 0}));
                 SetInt(b->Node("Gather", {"rows", "i"}, {"y"}), "axis", 1);
               }},
        OfRows{"GatherRows",
               [](ModelBuilder* b) {
                 b->Constant("i", Int64s({2, 1}, {-1, 0}));
                 SetInt(b->Node("Gather", {"rows", "i"}, {"y"}), "axis", 0);
               },
               1},
        OfRows{"Where",
               [](ModelBuilder* b) {
                 b->Constant("zero", Floats({}, {0}));
                 b->Constant("four", Floats({1, 4}, {1, 2, 3, 4}));
                 b->Node("Less", {"rows", "zero"}, {"less"});
                 b->Node("Where", {"less", "four", "rows"}, {"y"});
               }}),
    [](const auto& info) { return std::string(info.param.name); });

// Along the axis itself, and operands that vary alike.
INSTANTIATE_TEST_SUITE_P(
    Along, BoundedRows,
    testing::Values(
        OfRows{"Softmax", WithInt("Softmax", "axis", 0)},
        OfRows{"LogSoftmax", WithInt("LogSoftmax", "axis", 0)},
        OfRows{"Hardmax", WithInt("Hardmax", "axis", 0), 1},
        OfRows{"LpNormalization", WithInt("LpNormalization", "axis", 0)},
        OfRows{"ArgMax", WithInt("ArgMax", "axis", 0), 1},
        OfRows{"ArgMinOfOneRow",
               [](ModelBuilder* b) {
                 auto* node = b->Node("ArgMin", {"rows"}, {"y"});
                 SetInt(node, "axis", 0);
                 SetInt(node, "keepdims", 0);
               },
               1},
        OfRows{"CumSum",
               [](ModelBuilder* b) {
                 b->Constant("zero", Int64s({}, {0}));
                 b->Node("CumSum", {"rows", "zero"}, {"y"});
               }},
        OfRows{"Unique",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Unique", {"rows"}, {"y"}), "axis", 0);
               },
               1},
        OfRows{"Trilu", Unary("Trilu")},
        OfRows{"Pad",
               [](ModelBuilder* b) {
                 b->Constant("pads", Int64s({4}, {1, 0, 2, 1}));
                 b->Node("Pad", {"rows", "pads"}, {"y"});
               }},
        OfRows{"MatMulOfRows",
               [](ModelBuilder* b) {
                 b->Node("Transpose", {"rows"}, {"columns"});
                 b->Node("MatMul", {"columns", "rows"}, {"y"});
               },
               1},
        OfRows{"Attention",
               [](ModelBuilder* b) {
                 b->Node("Transpose", {"rows"}, {"columns"});
                 b->Node("MatMul", {"rows", "columns"}, {"scores"});
                 SetInt(b->Node("Softmax", {"scores"}, {"p"}), "axis", -1);
                 b->Node("MatMul", {"p", "rows"}, {"y"});
               }},
        OfRows{"Einsum",
               [](ModelBuilder* b) {
                 SetString(b->Node("Einsum", {"rows", "rows"}, {"y"}),
                           "equation", "ik,jk->ij");
               }},
        OfRows{"LayerNormalization",
               [](ModelBuilder* b) {
                 b->Constant("w", Floats({4}, {1, 2, 3, 4}));
                 b->Node("LayerNormalization", {"rows", "w"}, {"y"});
               }},
        OfRows{"GatherElements",
               [](ModelBuilder* b) {
                 b->Constant("zero", Int64s({}, {0}));
                 b->Node("Mul", {"rows", "rows"}, {"squares"});
                 SetInt(b->Node("Cast", {"squares"}, {"at"}), "to",
                        static_cast<int64_t>(DataType::kInt64));
                 SetInt(b->Node("GatherElements", {"rows", "at"}, {"y"}),
                        "axis", 1);
               }},
        OfRows{"OneHot",
               [](ModelBuilder* b) {
                 b->Constant("depth", Int64s({}, {3}));
                 b->Constant("off_on", Floats({2}, {0, 1}));
                 SetInt(b->Node("Cast", {"rows"}, {"at"}), "to",
                        static_cast<int64_t>(DataType::kInt64));
                 SetInt(b->Node("OneHot", {"at", "depth", "off_on"}, {"y"}),
                        "axis", 1);
               }},
        OfRows{
            "GridSample",
            [](ModelBuilder* b) {
              b->Constant("to", Int64s({4}, {1, 1, -1, 2}));
              b->Constant("x4", Floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
              b->Node("Reshape", {"rows", "to"}, {"grid"});
              b->Node("GridSample", {"x4", "grid"}, {"y"});
            },
            1},
        OfRows{"ConvOfColumns", Columns([](ModelBuilder* b) {
                 b->Constant("w", Floats({1, 2, 2, 1}, {1, 2, 3, 4}));
                 b->Node("Conv", {"image", "w"}, {"y"});
               }),
               1},
        OfRows{"ConvTransposeOfColumns", Columns([](ModelBuilder* b) {
                 b->Constant("w", Floats({2, 1, 2, 1}, {1, 2, 3, 4}));
                 b->Node("ConvTranspose", {"image", "w"}, {"y"});
               }),
               1},
        OfRows{"MaxPoolOfColumns", Columns([](ModelBuilder* b) {
                 WithKernel(b->Node("MaxPool", {"image"}, {"y"}));
               }),
               1},
        OfRows{"GlobalAveragePoolOfColumns", Columns([](ModelBuilder* b) {
                 b->Node("GlobalAveragePool", {"image"}, {"y"});
               }),
               1},
        OfRows{"InstanceNormalizationOfColumns", Columns([](ModelBuilder* b) {
                 b->Constant("w", Floats({2}, {1, 2}));
                 b->Node("InstanceNormalization", {"image", "w", "w"}, {"y"});
               }),
               1},
        OfRows{"ResizeOfColumns", Columns([](ModelBuilder* b) {
                 b->Constant("scales", Floats({4}, {1, 1, 2, 1.5f}));
                 SetString(b->Node("Resize", {"image", "", "scales"}, {"y"}),
                           "mode", "linear");
               }),
               1},
        OfRows{"PRelu",
               [](ModelBuilder* b) {
                 b->Constant("slope", Floats({4}, {1, 2, 3, 4}));
                 b->Node("PRelu", {"rows", "slope"}, {"y"});
               }},
        OfRows{"ReduceLogSumExp", Reduced("ReduceLogSumExp", 0), 1},
        OfRows{"ReduceSumSquare", Reduced("ReduceSumSquare", 1)},
        OfRows{"Sin", Unary("Sin")}, OfRows{"Softsign", Unary("Softsign")}),
    [](const auto& info) { return std::string(info.param.name); });

// From a place before the end to one behind the start: of fewer rows that may
// be more.
TEST(Bounded, IsRefusedWhereFewerMayGiveMore) {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {6, 4}).Input("c", DataType::kBool, {6});
  SetInt(b.Node("Compress", {"x", "c"}, {"rows"}), "axis", 0);
  Sliced(-3, 2)(&b);
  b.Output("y");
  EXPECT_EQ(RejectionOf(AnalyseOnnx(b.Bytes(), {}).status()),
            Rejection::kUnsupportedOperator);
}

// A shape of which only a run says how many dimensions it has.
TEST(Bounded, ConstantOfAnOpenRankIsRefused) {
  ModelBuilder b(17);
  b.Input("x", DataType::kInt64, {3}).Input("c", DataType::kBool, {3});
  SetInt(b.Node("Compress", {"x", "c"}, {"few"}), "axis", 0);
  b.Node("ConstantOfShape", {"few"}, {"y"});
  b.Output("y");
  EXPECT_NE(RejectionOf(AnalyseOnnx(b.Bytes(), {}).status()), Rejection::kNone);
}

// Shapes alone ask for nothing: of 2^40 elements, and of as many starts.
TEST(Bounded, SlicesByValuesOfHugeShapesAreRefused) {
  for (const bool starts : {false, true}) {
    ModelBuilder b(17);
    const int64_t huge = int64_t{1} << 40;
    b.Input("x", DataType::kUint8, {starts ? 4 : huge});
    b.Input("s", DataType::kInt64, {starts ? huge : 1});
    b.Input("e", DataType::kInt64, {starts ? huge : 1});
    b.Node("Slice", {"x", "s", "e"}, {"y"});
    b.Output("y");
    EXPECT_NE(RejectionOf(AnalyseOnnx(b.Bytes(), {}).status()),
              Rejection::kNone);
  }
}

// A Slice of places that a run computes, along two axes.
TEST(Bounded, IsWhatASliceByValuesTakes) {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {4, 3});
  b.Input("s", DataType::kInt64, {2}).Input("e", DataType::kInt64, {2});
  b.Node("Slice", {"x", "s", "e"}, {"y"});
  b.Output("y");
  const std::vector<float> x = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  const auto take = [&](int64_t s0, int64_t s1, int64_t e0, int64_t e1) {
    return RunModel(
        b, {Floats({4, 3}, x), Int64s({2}, {s0, s1}), Int64s({2}, {e0, e1})});
  };
  const auto check = [&](const absl::StatusOr<std::vector<TensorData>>& y,
                         const Shape& shape,
                         const std::vector<float>& expected) {
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].shape, shape);
    const float* values = (*y)[0].as<float>();
    EXPECT_EQ(std::vector<float>(values, values + (*y)[0].count()), expected);
  };
  check(take(1, 0, 3, 2), {2, 2}, {10, 11, 20, 21});
  check(take(-1, -2, 100, INT64_MAX), {1, 2}, {31, 32});
  check(take(-100, 1, -3, -1), {1, 1}, {1});
  check(take(3, 0, 1, 3), {0, 3}, {});
}

// Where an operand of a stated size must be as large.
TEST(Bounded, IsRefusedWhereItsSizeIsNeeded) {
  const OfRows refused[] = {
      {"products",
       [](ModelBuilder* b) {
         b->Constant("w", Floats({2, 6}, std::vector<float>(12, 1)));
         b->Node("MatMul", {"w", "rows"}, {"y"})->set_name("reads");
       }},
      {"indices",
       [](ModelBuilder* b) {
         b->Constant("w", Floats({2, 6}, std::vector<float>(12, 1)));
         auto* node = b->Node("Einsum", {"rows", "w"}, {"y"});
         node->set_name("reads");
         SetString(node, "equation", "ij,ki->kj");
       }},
      {"parameters", [](ModelBuilder* b) {
         b->Constant("w", Floats({6, 4}, std::vector<float>(24, 1)));
         auto* node = b->Node("LayerNormalization", {"rows", "w"}, {"y"});
         node->set_name("reads");
         SetInt(node, "axis", 0);
       }}};
  for (const OfRows& form : refused) {
    ModelBuilder b(17);
    b.Input("x", DataType::kFloat, {6, 4}).Input("c", DataType::kBool, {6});
    SetInt(b.Node("Compress", {"x", "c"}, {"rows"}), "axis", 0);
    form.nodes(&b);
    b.Output("y");
    const absl::Status status = AnalyseOnnx(b.Bytes(), {}).status();
    EXPECT_EQ(RejectionOf(status), Rejection::kUnsupportedOperator)
        << form.name;
    EXPECT_TRUE(absl::StrContains(status.message(), "'reads': it reads 'rows'"))
        << status;
  }
}

TEST(Bounded, TakesADeclaredSizeForTheBound) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {6});
  b.Node("NonZero", {"x"}, {"y"});
  b.Output("y", DataType::kInt64, {1, 2});
  EXPECT_TRUE(RunModel(b, {Floats({6}, {0, 1, 0, 0, 2, 0})}).ok());
  EXPECT_FALSE(RunModel(b, {Floats({6}, {3, 1, 0, 0, 2, 0})}).ok()) << "three";
  ModelBuilder larger;
  larger.Input("x", DataType::kFloat, {6});
  larger.Node("NonZero", {"x"}, {"y"});
  larger.Output("y", DataType::kInt64, {1, 7});
  EXPECT_EQ(RejectionOf(AnalyseOnnx(larger.Bytes(), {}).status()),
            Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
