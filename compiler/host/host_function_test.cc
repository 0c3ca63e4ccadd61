// SPDX-License-Identifier: Apache-2.0
#include "compiler/host/host_function.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TensorId Add(Graph* graph, const std::string& name, DataType type,
             Shape shape) {
  Tensor t;
  t.name = name;
  t.type = type;
  t.shape = std::move(shape);
  t.shape_known = true;
  return graph->AddTensor(std::move(t));
}

void Append(Graph* graph, const std::string& op, std::vector<TensorId> inputs,
            TensorId output) {
  Node node;
  node.op = op;
  node.name = op + "_" + std::to_string(graph->nodes.size());
  node.opset = 13;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  graph->nodes.push_back(std::move(node));
}

// y = -(x + 2), of float [2,3].
Graph AddAndNegate() {
  Graph g;
  const TensorId x = Add(&g, "x", DataType::kFloat, {2, 3});
  const TensorId two = g.AddConstant("two", Floats({1}, {2}));
  const TensorId sum = Add(&g, "sum", DataType::kFloat, {2, 3});
  const TensorId y = Add(&g, "y", DataType::kFloat, {2, 3});
  Append(&g, "Add", {x, two}, sum);
  Append(&g, "Neg", {sum}, y);
  g.inputs = {x};
  g.outputs = {y};
  return g;
}

absl::Status Go() { return absl::OkStatus(); }

TEST(HostFunction, ComputesWhatTheReferenceDoes) {
  const Graph graph = AddAndNegate();
  const auto function = HostFunction::Make(graph);
  ASSERT_TRUE(function.ok()) << function.status();
  const TensorData x = Floats({2, 3}, {1, 2, 3, -4, 5, 6});
  TensorData y = TensorData::Zeros(DataType::kFloat, {2, 3});
  ASSERT_TRUE(function->Run({x.bytes.data()}, {y.bytes.data()}, Go).ok());
  const auto expected = EvaluateGraph(graph, {x});
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(y.bytes, (*expected)[graph.outputs[0]].bytes);
  EXPECT_EQ(y.as<float>()[3], 2);
}

// The sum is needed while its negation is computed, and no longer.
TEST(HostFunction, CountsWhatItNeedsAtOnce) {
  Graph graph = AddAndNegate();
  const TensorId last = Add(&graph, "z", DataType::kFloat, {2, 3});
  Append(&graph, "Abs", {graph.outputs[0]}, last);
  graph.outputs = {last};
  const auto function = HostFunction::Make(graph);
  ASSERT_TRUE(function.ok()) << function.status();
  EXPECT_EQ(function->working_bytes(), 2 * 24u);
}

TEST(HostFunction, OutputsMayBeConstants) {
  Graph graph = AddAndNegate();
  graph.outputs.push_back(graph.FindTensor("two"));
  const auto function = HostFunction::Make(graph);
  ASSERT_TRUE(function.ok()) << function.status();
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  float y[6], two = 0;
  ASSERT_TRUE(function
                  ->Run({x.bytes.data()},
                        {reinterpret_cast<uint8_t*>(y),
                         reinterpret_cast<uint8_t*>(&two)},
                        Go)
                  .ok());
  EXPECT_EQ(two, 2);
  EXPECT_EQ(y[0], -3);
}

TEST(HostFunction, EndsBetweenNodes) {
  const auto function = HostFunction::Make(AddAndNegate());
  ASSERT_TRUE(function.ok()) << function.status();
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorData y = TensorData::Zeros(DataType::kFloat, {2, 3});
  int asked = 0;
  const absl::Status status = function->Run(
      {x.bytes.data()}, {y.bytes.data()},
      [&] { return ++asked == 2 ? absl::UnavailableError("gone") : Go(); });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(asked, 2);
}

// One node that takes an hour: windows of 1024 by 1024 of an image.
TEST(HostFunction, EndsInTheMiddleOfANode) {
  Graph g;
  const TensorId x = Add(&g, "x", DataType::kUint8, {1, 1, 2048, 2048});
  const TensorId y = Add(&g, "y", DataType::kUint8, {1, 1, 1025, 1025});
  Append(&g, "MaxPool", {x}, y);
  g.nodes[0].attributes["kernel_shape"] = std::vector<int64_t>{1024, 1024};
  g.inputs = {x};
  g.outputs = {y};
  const auto function = HostFunction::Make(std::move(g));
  ASSERT_TRUE(function.ok()) << function.status();
  const TensorData in = TensorData::Zeros(DataType::kUint8, {1, 1, 2048, 2048});
  TensorData out = TensorData::Zeros(DataType::kUint8, {1, 1, 1025, 1025});
  for (int last : {1, 2, 20}) {
    int asked = 0;
    const absl::Status status =
        function->Run({in.bytes.data()}, {out.bytes.data()}, [&] {
          return ++asked == last ? absl::CancelledError("enough") : Go();
        });
    EXPECT_EQ(status, absl::CancelledError("enough"));
    EXPECT_EQ(asked, last) << "and never again";
  }
}

// A file may say anything.
TEST(HostFunction, RefusesWhatIsNotSo) {
  Graph wrong = AddAndNegate();
  wrong.tensors[wrong.outputs[0]].shape = {2, 4};
  EXPECT_EQ(RejectionOf(HostFunction::Make(wrong).status()),
            Rejection::kMismatchingShape);
  wrong = AddAndNegate();
  wrong.tensors[wrong.outputs[0]].type = DataType::kDouble;
  EXPECT_FALSE(HostFunction::Make(wrong).ok());
  wrong = AddAndNegate();
  wrong.tensors[wrong.inputs[0]].type = DataType::kInt32;
  EXPECT_FALSE(HostFunction::Make(wrong).ok()) << "types of the sum differ";
  wrong = AddAndNegate();
  wrong.nodes[1].op = "Nonsense";
  EXPECT_EQ(RejectionOf(HostFunction::Make(wrong).status()),
            Rejection::kUnsupportedOperator);
  wrong = AddAndNegate();
  wrong.nodes[1].opset = 1'000'000;
  EXPECT_FALSE(HostFunction::Make(wrong).ok());
  wrong = AddAndNegate();
  wrong.nodes[1].attributes["axis"] = int64_t{1};
  EXPECT_FALSE(HostFunction::Make(wrong).ok());
  wrong = AddAndNegate();
  wrong.nodes[0].inputs.pop_back();
  EXPECT_FALSE(HostFunction::Make(wrong).ok());
}

// Operators that passes make are not in any file: nobody has checked what they
// would take.
// y = GRU(x) of 3 steps, and GridSample of an image: nodes that are computed
// as they are (compiler/direct).
Graph Recurrent() {
  Graph g;
  Node node;
  node.op = "GRU";
  node.name = "gru";
  node.opset = 14;
  node.inputs = {Add(&g, "x", DataType::kFloat, {3, 1, 2}),
                 g.AddConstant("w", Floats({1, 3, 2}, {1, -2, 3, -4, 5, 6})),
                 g.AddConstant("r", Floats({1, 3, 1}, {0.5f, -1, 2}))};
  node.outputs = {Add(&g, "y", DataType::kFloat, {3, 1, 1, 1})};
  node.attributes["hidden_size"] = int64_t{1};
  g.inputs = {node.inputs[0]};
  g.outputs = node.outputs;
  g.nodes.push_back(std::move(node));
  return g;
}
Graph Sampled() {
  Graph g;
  Node node;
  node.op = "GridSample";
  node.name = "sample";
  node.opset = 16;
  node.inputs = {Add(&g, "x", DataType::kFloat, {1, 1, 2, 3}),
                 g.AddConstant("grid", Floats({1, 1, 1, 2}, {0.3f, -0.4f}))};
  node.outputs = {Add(&g, "y", DataType::kFloat, {1, 1, 1, 1})};
  g.inputs = {node.inputs[0]};
  g.outputs = node.outputs;
  g.nodes.push_back(std::move(node));
  return g;
}

TEST(HostFunction, ComputesNodesAsTheyAre) {
  for (const Graph& graph : {Recurrent(), Sampled()}) {
    const auto function = HostFunction::Make(graph);
    ASSERT_TRUE(function.ok()) << function.status();
    const TensorData x =
        Floats(graph.tensors[graph.inputs[0]].shape, {1, 2, 3, -4, 5, 6});
    TensorData y = TensorData::Zeros(DataType::kFloat,
                                     graph.tensors[graph.outputs[0]].shape);
    ASSERT_TRUE(function->Run({x.bytes.data()}, {y.bytes.data()}, Go).ok());
    const auto expected = EvaluateGraph(graph, {x});
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_EQ(y.bytes, (*expected)[graph.outputs[0]].bytes);
  }
}

// Whatever a file says of them: a status, or what the reference says.
TEST(HostFunction, RefusesSuchNodesThatAreNotSo) {
  using Change = std::function<void(Graph*)>;
  const auto set = [](const char* name, Attribute value) {
    return [=](Graph* g) { g->nodes[0].attributes[name] = value; };
  };
  const auto shape = [](size_t input, Shape s) {
    return [=](Graph* g) {
      Tensor& t = g->tensors[g->nodes[0].inputs[input]];
      t.shape = s;
      if (t.is_constant()) {
        t.constant =
            std::make_shared<const TensorData>(TensorData::Zeros(t.type, s));
      }
    };
  };
  const auto lengths = [](int32_t n) {
    return [=](Graph* g) {
      const TensorId id = g->AddConstant("n", Int32s({1}, {n}));
      g->nodes[0].inputs.resize(4, kNoTensor);
      g->nodes[0].inputs.push_back(id);
    };
  };
  const std::vector<Change> of_gru = {
      shape(0, {3, 1, 3}),
      shape(0, {4, 1, 2}),
      shape(0, {3, 2}),
      shape(1, {1, 3, 1}),
      shape(1, {0, 3, 2}),
      shape(2, {1, 3, 2}),
      shape(2, {2, 3, 1}),
      shape(2, {3, 1}),
      set("hidden_size", int64_t{2}),
      set("hidden_size", int64_t{-1}),
      set("hidden_size", std::string("1")),
      set("direction", std::string("bidirectional")),
      set("direction", std::string("sideways")),
      set("layout", int64_t{2}),
      set("clip", -1.0f),
      set("clip", std::string("1")),
      set("activations", std::vector<std::string>{"Sigmoid"}),
      set("activations", std::vector<std::string>{"Sigmoid", "Exp"}),
      set("activations", std::vector<std::string>{"Sigmoid", "ScaledTanh"}),
      set("activations", int64_t{1}),
      lengths(4),
      lengths(-1),
      [](Graph* g) { g->nodes[0].inputs[2] = kNoTensor; },
      [](Graph* g) { g->nodes[0].inputs.resize(2); },
      [](Graph* g) { g->nodes[0].outputs.clear(); },
      [](Graph* g) { g->nodes[0].opset = 0; },
      [](Graph* g) {
        g->tensors[g->nodes[0].inputs[1]].type = DataType::kInt8;
      },
  };
  const std::vector<Change> of_sample = {
      shape(0, {1, 1, 2, 3, 4}),
      shape(0, {2, 1, 2, 3}),
      shape(0, {1, 1, 0, 3}),
      shape(1, {1, 1, 1, 3}),
      shape(1, {1, 1, 2, 2}),
      shape(1, {1, 1, 2}),
      set("mode", std::string("cubic")),
      set("mode", int64_t{1}),
      set("padding_mode", std::string("wrap")),
      [](Graph* g) { g->nodes[0].inputs.resize(1); },
      [](Graph* g) { g->nodes[0].inputs[0] = kNoTensor; },
  };
  for (const bool sample : {false, true}) {
    const std::vector<Change>& changes = sample ? of_sample : of_gru;
    for (size_t i = 0; i < changes.size(); ++i) {
      Graph graph = sample ? Sampled() : Recurrent();
      changes[i](&graph);
      EXPECT_FALSE(HostFunction::Make(graph).ok()) << sample << ' ' << i;
    }
  }
}

TEST(HostFunction, RefusesOperatorsOfTheCompiler) {
  Graph graph = AddAndNegate();
  graph.nodes[1].domain = kInternalDomain;
  graph.nodes[1].op = "Gelu";
  const auto function = HostFunction::Make(graph);
  EXPECT_EQ(RejectionOf(function.status()), Rejection::kUnsupportedOperator)
      << function.status();
}

}  // namespace
}  // namespace heddle::compiler
