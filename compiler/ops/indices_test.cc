// SPDX-License-Identifier: Apache-2.0
// What chooses elements by indices, and TopK: ONNX's definitions by example.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/bounded.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

TEST(GatherElementsTest, AlongEitherAxis) {
  const TensorData x = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto along = [&](int64_t axis, const TensorData& i) {
    return RunNode({"GatherElements", "", 13, {{"axis", axis}}}, {x, i});
  };
  auto y = along(0, Int64s({2, 2}, {1, -1, 0, 0}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {3, 6, 1, 2}), 0, 0), "");
  y = along(-1, Int32s({1, 3}, {1, -2, 1}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({1, 3}, {2, 1, 2}), 0, 0), "");
  for (int64_t bad : {3, -4}) {
    EXPECT_EQ(RejectionOf(along(0, Int64s({1, 1}, {bad})).status()),
              Rejection::kInvalidModel);
  }
  EXPECT_EQ(RejectionOf(along(0, Int64s({1, 3}, {0, 0, 0})).status()),
            Rejection::kMismatchingShape);
}

TEST(ScatterElementsTest, InTheOrderOfTheAxis) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData i = Int64s({2, 2}, {2, -1, 0, 0});
  const TensorData u = Floats({2, 2}, {10, 20, 30, 40});
  const auto by = [&](const std::string& reduction, const TensorData& index) {
    return RunNode({"ScatterElements",
                    "",
                    16,
                    {{"axis", int64_t{1}}, {"reduction", reduction}}},
                   {x, index, u});
  };
  auto y = by("none", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 20, 40, 5, 6}), 0, 0), "");
  y = by("add", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 33, 74, 5, 6}), 0, 0), "");
  y = by("mul", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 600, 4800, 5, 6}), 0, 0), "");
  EXPECT_EQ(RejectionOf(by("max", i).status()),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(RejectionOf(by("add", Int64s({2, 2}, {3, 0, 0, 0})).status()),
            Rejection::kInvalidModel);
}

TEST(ScatterElementsTest, LeavesTheRest) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y =
      RunNode({"ScatterElements",
               "",
               18,
               {{"axis", int64_t{1}}, {"reduction", std::string("max")}}},
              {x, Int64s({1, 2}, {2, 2}), Floats({1, 2}, {7, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 7, 4, 5, 6}), 0, 0), "");
}

TEST(GatherNdTest, RowsAndBatches) {
  const TensorData x = Floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  auto y =
      RunNode({"GatherND", "", 13, {}}, {x, Int64s({2, 2}, {0, 1, -1, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {2, 3, 4, 5}), 0, 0), "");
  y = RunNode({"GatherND", "", 13, {{"batch_dims", int64_t{1}}}},
              {x, Int64s({2, 1}, {1, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {2, 3, 4, 5}), 0, 0), "");
  EXPECT_EQ(
      RejectionOf(RunNode({"GatherND", "", 13, {}}, {x, Int64s({1, 2}, {0, 2})})
                      .status()),
      Rejection::kInvalidModel);
}

TEST(ScatterNdTest, InOrder) {
  const TensorData x = Floats({4}, {1, 2, 3, 4});
  const TensorData i = Int64s({3, 1}, {1, -1, 1});
  const TensorData u = Floats({3}, {10, 20, 30});
  const auto by = [&](const std::string& reduction) {
    return RunNode({"ScatterND", "", 18, {{"reduction", reduction}}},
                   {x, i, u});
  };
  auto y = by("none");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 30, 3, 20}), 0, 0), "");
  y = by("add");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 42, 3, 24}), 0, 0), "");
  y = by("min");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 2, 3, 4}), 0, 0), "");
}

TEST(ReverseSequenceTest, EitherAxisIsTime) {
  const TensorData x = Floats({2, 3}, {0, 1, 2, 3, 4, 5});
  auto y = RunNode({"ReverseSequence",
                    "",
                    10,
                    {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}},
                   {x, Int64s({2}, {3, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {2, 1, 0, 4, 3, 5}), 0, 0), "");
  y = RunNode({"ReverseSequence", "", 10, {}}, {x, Int64s({3}, {2, 1, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {3, 1, 5, 0, 4, 2}), 0, 0), "");
  EXPECT_EQ(RejectionOf(RunNode({"ReverseSequence", "", 10, {}},
                                {x, Int64s({3}, {2, 3, 2})})
                            .status()),
            Rejection::kInvalidModel);
}

TEST(TopKTest, Values) {
  const TensorData x = Floats({2, 4}, {0, 1, 2, 3, 7, 7, 6, 6});
  auto y = RunNode({"TopK", "", 11, {}}, {x, Int64s({1}, {3})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {3, 2, 1, 7, 7, 6}), 0, 0), "");
  y = RunNode({"TopK", "", 11, {{"largest", int64_t{0}}, {"axis", int64_t{0}}}},
              {x, Int64s({1}, {1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({1, 4}, {0, 1, 2, 3}), 0, 0), "");
  for (int64_t k : {0, 5}) {
    EXPECT_EQ(
        RejectionOf(
            RunNode({"TopK", "", 11, {}}, {x, Int64s({1}, {k})}).status()),
        Rejection::kInvalidModel);
  }
}

// The results have room for the axis, and the size that k says.
TEST(TopKTest, OfAComputedK) {
  Graph graph;
  Tensor x, k, output;
  x.name = "x";
  x.type = DataType::kDouble;
  x.shape = {2, 4};
  k.name = "k";
  k.type = DataType::kInt64;
  k.shape = {1};
  x.shape_known = k.shape_known = true;
  Node node;
  node.op = "TopK";
  node.name = "n";
  node.opset = 11;
  node.inputs = {graph.AddTensor(x), graph.AddTensor(k)};
  graph.inputs = node.inputs;
  output.name = "values";
  node.outputs.push_back(graph.AddTensor(output));
  output.name = "indices";
  node.outputs.push_back(graph.AddTensor(output));
  graph.outputs = node.outputs;
  ASSERT_TRUE(CheckNode(graph, node).ok());
  const auto inferred = FindOperator("", "TopK", 11)->infer(&graph, node);
  ASSERT_TRUE(inferred.ok()) << inferred;
  graph.nodes = {node};
  EXPECT_EQ(graph.tensors[node.outputs[1]].shape, (Shape{2, 4}));
  const auto bounded = FindBounded(graph);
  ASSERT_TRUE(bounded.ok()) << bounded.status();
  for (TensorId id : node.outputs) EXPECT_EQ(bounded->of(id), 2u);
  TensorData data = TensorData::Zeros(DataType::kDouble, {2, 4});
  const double values[] = {0, 1, 2, 3, 7, 7, 6, 6};
  std::copy(values, values + 8, data.as<double>());
  for (int64_t count : {0, 1, 3, 4}) {
    const auto y = EvaluateGraph(graph, {data, Int64s({1}, {count})});
    ASSERT_TRUE(y.ok()) << y.status();
    const TensorData& indices = (*y)[node.outputs[1]];
    EXPECT_EQ(indices.shape, (Shape{2, count}));
    const int64_t all[] = {3, 2, 1, 0, 0, 1, 2, 3};
    for (int64_t i = 0; i < indices.count(); ++i) {
      const int64_t at = i / count * 4 + i % count;
      EXPECT_EQ(indices.as<int64_t>()[i], all[at]);
      EXPECT_EQ((*y)[node.outputs[0]].as<double>()[i],
                values[i / count * 4 + all[at]]);
    }
  }
  for (int64_t count : {-1, 5}) {
    EXPECT_EQ(
        EvaluateGraph(graph, {data, Int64s({1}, {count})}).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace heddle::compiler
