// SPDX-License-Identifier: Apache-2.0
// Ifs and Loops that a run decides, compiled and executed on the functional
// model, with bodies on the card and on the host, against the reference
// semantics of the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

// "i(c|h)": an If whose then_branch is the card's, whose else_branch the
// host's. "c" alone: a package that the card takes as a whole.
std::string Sides(const package::Package& package) {
  if (package.segments.empty()) return "c";
  std::string text;
  for (const package::Segment& segment : package.segments) {
    switch (segment.kind()) {
      case package::SegmentKind::kCard:
        text += "c";
        break;
      case package::SegmentKind::kHost:
        text += "h";
        break;
      case package::SegmentKind::kControl:
        text += segment.bodies.size() == 2 ? "i(" : "l(";
        for (size_t b = 0; b < segment.bodies.size(); ++b) {
          text += b == 0 ? "" : "|";
          text += Sides(*segment.bodies[b].package);
        }
        text += ")";
        break;
    }
  }
  return text;
}

CompileOptions WithHost(Placement placement = Placement::kCard) {
  CompileOptions options;
  options.host_nodes = true;
  options.placement = placement;
  return options;
}

package::Package Compile(const ModelBuilder& b, const CompileOptions& options) {
  auto result = CompileOnnx(b.Bytes(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  auto package = package::Parse(result->package);
  EXPECT_TRUE(package.ok()) << package.status();
  if (!package.ok()) return {};
  EXPECT_EQ(package::Serialize(*package), result->package);
  return *std::move(package);
}

// On the card where that is possible, on the host where that is, and in the
// reference: the same bytes. Returns them in the order of the outputs.
std::vector<TensorData> ExpectSame(const ModelBuilder& b,
                                   const std::vector<TensorData>& inputs) {
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status();
    return {};
  }
  const auto expected = EvaluateGraph(*graph, inputs);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return {};
  }
  std::vector<TensorData> results;
  for (TensorId id : graph->outputs) results.push_back((*expected)[id]);
  for (Placement placement : {Placement::kCard, Placement::kHost}) {
    const package::Package package = Compile(b, WithHost(placement));
    auto run = RunPackage(package, inputs);
    if (!run.ok()) {
      ADD_FAILURE() << run.status();
      return {};
    }
    for (const std::string& f : run->findings) ADD_FAILURE() << f;
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorData& made = run->outputs[package.outputs[i].name];
      EXPECT_EQ(made.shape, results[i].shape);
      EXPECT_TRUE(made.bytes == results[i].bytes)
          << package.outputs[i].name
          << (placement == Placement::kHost ? " of the host" : "");
    }
  }
  return results;
}

TEST(ControlTest, AnIf) {
  const ModelBuilder b = ChosenModel();
  EXPECT_EQ(Sides(Compile(b, WithHost())), "i(c|c)");
  EXPECT_EQ(Sides(Compile(b, WithHost(Placement::kHost))), "i(h|h)");
  const TensorData x = RandomData(DataType::kFloat, {2, 3}, 1);
  const auto yes = ExpectSame(b, {Bool(true), x});
  const auto no = ExpectSame(b, {Bool(false), x});
  ASSERT_TRUE(yes.size() == 1 && no.size() == 1);
  EXPECT_EQ(no[0].as<float>()[0], x.as<float>()[0] - 0.5f);
  EXPECT_FALSE(yes[0].bytes == no[0].bytes);
}

// A cache that the one branch continues and the other begins: as long as the
// branch makes it, whatever reads it.
TEST(ControlTest, AnIfOfTwoShapes) {
  for (int64_t past : {0, 1, 3}) {
    ModelBuilder b;
    b.Input("flag", DataType::kBool, {});
    b.Input("x", DataType::kFloat, {2, 1, 4});
    b.Input("past", DataType::kFloat, {2, past, 4});
    auto* node = b.Node("If", {"flag"}, {"cache", "sum"});
    auto* taken = AddGraph(node, "then_branch");
    SetInt(AddNode(taken, "Concat", {"past", "x"}, {"longer"}), "axis", 1);
    AddNode(taken, "Relu", {"x"}, {"then"});
    Declare(taken->add_output(), "longer", DataType::kFloat);
    Declare(taken->add_output(), "then", DataType::kFloat);
    auto* other = AddGraph(node, "else_branch");
    AddNode(other, "Identity", {"x"}, {"first"});
    AddNode(other, "Neg", {"x"}, {"else"});
    Declare(other->add_output(), "first", DataType::kFloat);
    Declare(other->add_output(), "else", DataType::kFloat);
    b.Node("Abs", {"cache"}, {"read"});
    b.Output("read").Output("cache").Output("sum");
    const TensorData x = RandomData(DataType::kFloat, {2, 1, 4}, 1, -1, 1);
    const TensorData before =
        RandomData(DataType::kFloat, {2, past, 4}, 2, -1, 1);
    for (bool flag : {true, false}) {
      const auto results = ExpectSame(b, {Bool(flag), x, before});
      ASSERT_EQ(results.size(), 3u);
      const Shape shape = {2, flag ? past + 1 : 1, 4};
      EXPECT_EQ(results[0].shape, shape);
      ASSERT_EQ(results[1].shape, shape);
      EXPECT_EQ(results[1].as<float>()[results[1].count() - 1],
                x.as<float>()[7]);
      EXPECT_EQ(results[2].shape, (Shape{2, 1, 4}));
    }
  }
}

// Each is larger along another axis, and one has nothing at all.
TEST(ControlTest, AnIfOfShapesThatCross) {
  ModelBuilder b;
  b.Input("flag", DataType::kBool, {});
  b.Input("x", DataType::kInt64, {2, 3});
  b.Constant("none", TensorData::Zeros(DataType::kInt64, {0, 5}));
  auto* node = b.Node("If", {"flag"}, {"chosen", "some"});
  auto* taken = AddGraph(node, "then_branch");
  AddNode(taken, "Transpose", {"x"}, {"then"});
  AddNode(taken, "Identity", {"none"}, {"empty"});
  Declare(taken->add_output(), "then", DataType::kInt64);
  Declare(taken->add_output(), "empty", DataType::kInt64);
  auto* other = AddGraph(node, "else_branch");
  AddNode(other, "Identity", {"x"}, {"else"});
  AddNode(other, "Neg", {"x"}, {"less"});
  Declare(other->add_output(), "else", DataType::kInt64);
  Declare(other->add_output(), "less", DataType::kInt64);
  b.Output("chosen").Output("some");
  const TensorData x = Int64s({2, 3}, {0, 1, -2, 3, 90, -100});
  const auto yes = ExpectSame(b, {Bool(true), x});
  const auto no = ExpectSame(b, {Bool(false), x});
  ASSERT_TRUE(yes.size() == 2 && no.size() == 2);
  EXPECT_EQ(yes[0].shape, (Shape{3, 2}));
  EXPECT_EQ(yes[1].shape, (Shape{0, 5}));
  EXPECT_EQ(no[0].bytes, x.bytes);
  EXPECT_EQ(no[1].shape, (Shape{2, 3}));
}

// The card would move them, if it were asked about the branch alone.
TEST(ControlTest, WhatIsBeyond32BitsStaysOnTheHost) {
  constexpr int64_t kLarge = int64_t{1} << 33;
  ModelBuilder b;
  b.Input("flag", DataType::kBool, {});
  b.Input("x", DataType::kInt64, {2, 3});
  b.Constant("large", Int64s({}, {kLarge}));
  b.Node("Mul", {"x", "large"}, {"wide"});
  b.Node("Transpose", {"wide"}, {"turned"});
  auto* node = b.Node("If", {"flag"}, {"chosen"});
  auto* taken = AddGraph(node, "then_branch");
  AddNode(taken, "Transpose", {"wide"}, {"then"});
  Declare(taken->add_output(), "then", DataType::kInt64);
  auto* other = AddGraph(node, "else_branch");
  AddNode(other, "Identity", {"turned"}, {"else"});
  Declare(other->add_output(), "else", DataType::kInt64);
  b.Output("turned").Output("chosen");
  const TensorData x = Int64s({2, 3}, {0, 1, -2, 3, 90, -100});
  for (bool flag : {true, false}) {
    const auto results = ExpectSame(b, {Bool(flag), x});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[1].as<int64_t>()[5], -100 * kLarge);
  }
}

TEST(ControlTest, ALoop) {
  const ModelBuilder b = RepeatedModel();
  EXPECT_EQ(Sides(Compile(b, WithHost())), "hl(c)");
  EXPECT_EQ(Sides(Compile(b, WithHost(Placement::kHost))), "hl(h)");
  const TensorData x = Floats({2, 3}, {1, 1, 1, 1, 1, 1});
  const TensorData v = TensorData::Zeros(DataType::kFloat, {2, 3});
  const auto count = [&](int64_t most, float limit) {
    const auto results =
        ExpectSame(b, {Int64s({}, {most}), Floats({}, {limit}), v, x});
    return results.size() == 2 ? results[1].as<int64_t>()[0] : -1;
  };
  EXPECT_EQ(count(100, 11), 4);  // 6, 9, 10.5, 11.25
  EXPECT_EQ(count(2, 11), 2);
  EXPECT_EQ(count(0, 11), 0);
  EXPECT_EQ(count(-5, 11), 0);
}

TEST(ControlTest, ADecoder) {
  const ModelBuilder b = DecoderModel(12);
  // All of a step is one job of the card.
  EXPECT_EQ(Sides(Compile(b, WithHost())), "hl(c)");
  std::vector<int64_t> counts;
  for (int64_t first = 0; first < 11; ++first) {
    const auto results =
        ExpectSame(b, {Int64s({1}, {first}),
                       RandomData(DataType::kFloat, {1, 8}, first, -1, 1)});
    ASSERT_EQ(results.size(), 2u);
    counts.push_back(results[1].as<int64_t>()[0]);
  }
  // Some end by the end token, some by the buffer.
  EXPECT_LT(*std::min_element(counts.begin(), counts.end()), 12);
}

// A Loop in a branch in a Loop, with values from every level.
ModelBuilder Nested() {
  ModelBuilder b;
  b.Input("often", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {4});
  b.Input("v", DataType::kFloat, {4});
  b.Node("Neg", {"x"}, {"minus"});
  auto* outer = b.Node("Loop", {"often", "", "v"}, {"y"});
  auto* body = AddGraph(outer, "body");
  Declare(body->add_input(), "i", DataType::kInt64, true);
  Declare(body->add_input(), "c", DataType::kBool, true);
  Declare(body->add_input(), "now", DataType::kFloat);
  AddConstant(body, "one", Int64s({}, {1}));
  AddNode(body, "Add", {"now", "x"}, {"sum"});
  SetInt(AddNode(body, "ReduceSum", {"sum"}, {"whole"}), "keepdims", 0);
  AddConstant(body, "nothing", Floats({}, {0}));
  AddNode(body, "Greater", {"whole", "nothing"}, {"positive"});
  auto* choice = AddNode(body, "If", {"positive"}, {"next"});
  auto* taken = AddGraph(choice, "then_branch");
  auto* inner = AddNode(taken, "Loop", {"i", "", "sum"}, {"less"});
  Declare(taken->add_output(), "less", DataType::kFloat);
  auto* other = AddGraph(choice, "else_branch");
  AddNode(other, "Identity", {"x"}, {"same"});
  Declare(other->add_output(), "same", DataType::kFloat);
  auto* deep = AddGraph(inner, "body");
  Declare(deep->add_input(), "j", DataType::kInt64, true);
  Declare(deep->add_input(), "d", DataType::kBool, true);
  Declare(deep->add_input(), "w", DataType::kFloat);
  AddNode(deep, "Add", {"w", "minus"}, {"w1"});
  AddNode(deep, "Add", {"w1", "v"}, {"w2"});
  AddNode(deep, "Identity", {"d"}, {"still"});
  Declare(deep->add_output(), "still", DataType::kBool, true);
  Declare(deep->add_output(), "w2", DataType::kFloat);
  AddNode(body, "Identity", {"c"}, {"on"});
  Declare(body->add_output(), "on", DataType::kBool, true);
  Declare(body->add_output(), "next", DataType::kFloat);
  b.Output("y");
  return b;
}

TEST(ControlTest, NestedWithValuesFromOutside) {
  const ModelBuilder b = Nested();
  EXPECT_EQ(Sides(Compile(b, WithHost())), "cl(ci(l(c)|c))");
  for (int64_t often : {0, 1, 2, 5}) {
    ExpectSame(b, {Int64s({}, {often}), RandomData(DataType::kFloat, {4}, 1),
                   RandomData(DataType::kFloat, {4}, 2)});
  }
}

TEST(ControlTest, BranchesOfConstantsAndInputs) {
  ModelBuilder b;
  b.Input("flag", DataType::kBool, {1});
  b.Input("x", DataType::kFloat, {3});
  auto* node = b.Node("If", {"flag"}, {"y", "z"});
  auto* taken = AddGraph(node, "then_branch");
  AddConstant(taken, "k", Floats({3}, {1, 2, 3}));
  Declare(taken->add_output(), "k", DataType::kFloat);
  Declare(taken->add_output(), "k", DataType::kFloat);
  auto* other = AddGraph(node, "else_branch");
  AddNode(other, "Identity", {"x"}, {"i"});
  Declare(other->add_output(), "i", DataType::kFloat);
  Declare(other->add_output(), "i", DataType::kFloat);
  b.Output("y");
  b.Output("z");
  EXPECT_EQ(Sides(Compile(b, WithHost())), "i(h|c)");
  for (uint8_t flag : {0, 1}) {
    TensorData condition = TensorData::Zeros(DataType::kBool, {1});
    condition.bytes[0] = flag;
    ExpectSame(b, {condition, RandomData(DataType::kFloat, {3}, 3)});
  }
}

// Too long to be unrolled: rows of the sequences go to one body.
TEST(ControlTest, ALongScan) {
  constexpr int64_t kSteps = 3'000;
  ModelBuilder b;
  b.Input("s", DataType::kFloat, {2});
  b.Input("x", DataType::kFloat, {2, kSteps});
  auto* node = b.Node("Scan", {"s", "x"}, {"last", "all"});
  SetInt(node, "num_scan_inputs", 1);
  SetInts(node, "scan_input_axes", {1});
  SetInts(node, "scan_input_directions", {1});
  SetInts(node, "scan_output_axes", {-1});
  SetInts(node, "scan_output_directions", {1});
  auto* body = AddGraph(node, "body");
  Declare(body->add_input(), "state", DataType::kFloat);
  Declare(body->add_input(), "row", DataType::kFloat);
  AddConstant(body, "most", Floats({}, {3}));
  AddNode(body, "Add", {"state", "row"}, {"a"});
  AddNode(body, "Min", {"a", "most"}, {"b"});
  AddNode(body, "Neg", {"b"}, {"n"});
  // As many nodes as make it too many.
  AddNode(body, "Abs", {"n"}, {"z0"});
  constexpr int kMore = 100;
  for (int i = 0; i < kMore; ++i) {
    AddNode(body, "Abs", {absl::StrCat("z", i)}, {absl::StrCat("z", i + 1)});
  }
  AddNode(body, "Identity", {absl::StrCat("z", kMore)}, {"z"});
  Declare(body->add_output(), "b", DataType::kFloat);
  Declare(body->add_output(), "z", DataType::kFloat);
  b.Output("last");
  b.Output("all");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const TensorData s = Floats({2}, {0, 1});
  const TensorData x = RandomData(DataType::kFloat, {2, kSteps}, 4);
  const package::Package package = Compile(b, WithHost(Placement::kHost));
  auto run = RunPackage(package, {s, x});
  ASSERT_TRUE(run.ok()) << run.status();
  const TensorData& all = run->outputs["all"];
  ASSERT_EQ(all.shape, (Shape{2, kSteps}));
  for (int64_t lane = 0; lane < 2; ++lane) {
    float state = s.as<float>()[lane];
    for (int64_t t = kSteps - 1; t >= 0; --t) {
      state = std::min(state + x.as<float>()[lane * kSteps + t], 3.0f);
      // Both turn around: the result of a step lies where its row did.
      ASSERT_EQ(all.as<float>()[lane * kSteps + t], std::fabs(state)) << t;
    }
    EXPECT_EQ(run->outputs["last"].as<float>()[lane], state);
  }
}

// Results of each iteration, where the model says how many there are.
TEST(ControlTest, RowsOfADeclaredNumberOfIterations) {
  const auto model = [](int64_t declared) {
    ModelBuilder b;
    b.Input("often", DataType::kInt64, {});
    b.Input("v", DataType::kFloat, {2});
    auto* node = b.Node("Loop", {"often", "", "v"}, {"y", "rows"});
    node->set_name("repeat");
    auto* body = AddGraph(node, "body");
    Declare(body->add_input(), "i", DataType::kInt64, true);
    Declare(body->add_input(), "c", DataType::kBool, true);
    Declare(body->add_input(), "now", DataType::kFloat);
    AddNode(body, "Identity", {"c"}, {"on"});
    AddNode(body, "Add", {"now", "now"}, {"next"});
    Declare(body->add_output(), "on", DataType::kBool, true);
    Declare(body->add_output(), "next", DataType::kFloat);
    Declare(body->add_output(), "next", DataType::kFloat);
    b.Output("y");
    b.Output("rows", DataType::kFloat, {declared, 2});
    return b;
  };
  const TensorData v = Floats({2}, {1, 3});
  const auto results = ExpectSame(model(3), {Int64s({}, {3}), v});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].as<float>()[5], 24);
  for (int64_t often : {2, 4}) {
    const auto run =
        RunPackage(Compile(model(3), WithHost()), {Int64s({}, {often}), v});
    EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(run.status().message(), "'repeat'"));
  }
  const auto open = CompileOnnx(model(-1).Bytes(), WithHost());
  EXPECT_EQ(RejectionOf(open.status()), Rejection::kUnsupportedShape);
  EXPECT_TRUE(absl::StrContains(open.status().message(), "'rows'"))
      << open.status();
}

TEST(ControlTest, WithoutTheHostTheReasonIsNamed) {
  for (const auto& [model, why] :
       {std::make_pair(ChosenModel(), "If 'choice': condition 'flag'"),
        std::make_pair(RepeatedModel(), "Loop 'repeat': trip count 'most'")}) {
    const auto refused = CompileOnnx(model.Bytes(), {});
    EXPECT_EQ(RejectionOf(refused.status()), Rejection::kUnsupportedOperator);
    EXPECT_TRUE(absl::StrContains(refused.status().message(), why))
        << refused.status();
    const auto host = CheckGraph(*AnalyseOnnx(model.Bytes(), {}), WithHost());
    EXPECT_TRUE(host.ok() && *host) << host.status();
    EXPECT_EQ(CheckGraph(*AnalyseOnnx(model.Bytes(), {}), {}).status(),
              refused.status());
  }
}

TEST(ControlTest, TheReportHasTheBodies) {
  const auto result = CompileOnnx(ChosenModel().Bytes(), WithHost());
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->report.segments.size(), 1u);
  const SegmentReport& segment = result->report.segments[0];
  EXPECT_EQ(segment.control, "If");
  ASSERT_EQ(segment.bodies.size(), 2u);
  EXPECT_EQ(segment.bodies[1].name, "else_branch");
  ASSERT_EQ(segment.bodies[0].segments.size(), 1u);
  EXPECT_FALSE(segment.bodies[0].segments[0].host);
  EXPECT_GT(segment.cycles, segment.bodies[0].segments[0].cycles);
  EXPECT_EQ(result->report.estimated_cycles, segment.cycles);
  ASSERT_EQ(result->report.host_nodes.size(), 1u);
  EXPECT_EQ(result->report.host_nodes[0].op, "If");
  EXPECT_TRUE(absl::StrContains(result->report.host_nodes[0].reason, "'flag'"));
}

TEST(ControlTest, TheGraphIsWrittenDownWithItsBodies) {
  const std::string text = AnalyseOnnx(ChosenModel().Bytes(), {})->ToString();
  EXPECT_TRUE(absl::StrContains(text, "heddle.If 'choice'")) << text;
  EXPECT_TRUE(absl::StrContains(text, "graph then_branch(")) << text;
  EXPECT_TRUE(absl::StrContains(text, "MatMul")) << text;
}

// What no side has inside of a body refuses all of it, by name.
TEST(ControlTest, ABodyThatNobodyTakes) {
  ModelBuilder b = ChosenModel();
  auto* other =
      b.proto().mutable_graph()->mutable_node(0)->mutable_attribute(1);
  other->mutable_g()->mutable_node(0)->set_op_type("RandomNormalLike");
  const auto refused = CompileOnnx(b.Bytes(), WithHost());
  EXPECT_NE(RejectionOf(refused.status()), Rejection::kNone);
  EXPECT_TRUE(absl::StrContains(refused.status().message(), "choice/"))
      << refused.status();
}

// Where x [2,3] is not zero: the sums of the rows and of the columns, [2,1].
void AddFound(onnx::GraphProto* graph) {
  AddConstant(graph, "one", Int64s({1}, {1}));
  AddNode(graph, "NonZero", {"x"}, {"found"});
  auto* cast = AddNode(graph, "Cast", {"found"}, {"f"});
  SetInt(cast, "to", onnx::TensorProto::FLOAT);
  AddNode(graph, "ReduceSum", {"f", "one"}, {"sum"});
}
// Then the card, and behind it the host with its result and what was found.
void AddFoundBehindCard(onnx::GraphProto* graph) {
  AddFound(graph);
  AddConstant(graph, "w", RandomData(DataType::kFloat, {1, 1}, 1));
  AddNode(graph, "MatMul", {"sum", "w"}, {"m"});
  AddNode(graph, "Mul", {"f", "m"}, {"product"});
  AddNode(graph, "ReduceSum", {"product", "one"}, {"last"});
}

// An If whose then_branch `fill`s and gives the [2,1] `result`.
ModelBuilder ChosenFound(void (*fill)(onnx::GraphProto*),
                         const std::string& result) {
  ModelBuilder b;
  b.Input("flag", DataType::kBool, {});
  b.Input("x", DataType::kFloat, {2, 3});
  auto* node = b.Node("If", {"flag"}, {"y"});
  node->set_name("choice");
  auto* taken = AddGraph(node, "then_branch");
  fill(taken);
  Declare(taken->add_output(), result, DataType::kFloat);
  auto* other = AddGraph(node, "else_branch");
  AddConstant(other, "none", Floats({2, 1}, {0, 0}));
  AddNode(other, "Identity", {"none"}, {"else"});
  Declare(other->add_output(), "else", DataType::kFloat);
  b.Output("y");
  return b;
}

TEST(ControlTest, SizesThatValuesDecideInsideOfOneSegment) {
  const ModelBuilder b = ChosenFound(AddFound, "sum");
  for (const float last : {0.0f, 1.0f}) {
    const auto results =
        ExpectSame(b, {Bool(true), Floats({2, 3}, {1, 0, 0, 1, 0, last})});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].as<float>()[0], last == 0 ? 1 : 2);
    EXPECT_EQ(results[0].as<float>()[1], last == 0 ? 0 : 2);
  }
}

// Between segments of a graph they pass; a body that they would have to pass
// between is the host's.
TEST(ControlTest, SizesThatValuesDecideBetweenSegments) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  AddFoundBehindCard(b.proto().mutable_graph());
  b.Output("last");
  EXPECT_EQ(Sides(Compile(b, WithHost())), "hch");
  const auto some = ExpectSame(b, {Floats({2, 3}, {1, 0, 0, 1, 0, 1})});
  ASSERT_EQ(some.size(), 1u);
  EXPECT_NE(some[0].as<float>()[0], 0);
  const auto none = ExpectSame(b, {Floats({2, 3}, {0, 0, 0, 0, 0, 0})});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].as<float>()[0], 0);
  const auto chosen =
      ExpectSame(ChosenFound(AddFoundBehindCard, "last"),
                 {Bool(true), Floats({2, 3}, {1, 0, 0, 1, 0, 1})});
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_TRUE(chosen[0].bytes == some[0].bytes);
}

// Control flow gives them (of a size as large as either branch may have) and
// takes them.
TEST(ControlTest, SizesThatValuesDecideOfBranches) {
  const ModelBuilder given = ChosenFound(AddFound, "f");
  const TensorData x = Floats({2, 3}, {1, 0, 0, 1, 0, 1});
  EXPECT_EQ(ExpectSame(given, {Bool(true), x})[0].shape, (Shape{2, 3}));
  EXPECT_EQ(ExpectSame(given, {Bool(false), x})[0].shape, (Shape{2, 1}));
  for (const std::string op : {"Size", "Abs"}) {
    ModelBuilder b;
    b.Input("flag", DataType::kBool, {});
    b.Input("x", DataType::kFloat, {2, 3});
    b.Node("NonZero", {"x"}, {"found"});
    auto* node = b.Node("If", {"flag"}, {"y"});
    node->set_name("choice");
    for (const std::string name : {"then_branch", "else_branch"}) {
      auto* graph = AddGraph(node, name);
      AddNode(graph, op, {"found"}, {name + "_y"});
      Declare(graph->add_output(), name + "_y", DataType::kInt64);
    }
    b.Output("y");
    for (const bool flag : {false, true}) {
      const auto read = ExpectSame(b, {Bool(flag), x});
      ASSERT_EQ(read.size(), 1u);
      EXPECT_EQ(read[0].shape, op == "Size" ? Shape() : (Shape{2, 3}));
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
