// SPDX-License-Identifier: Apache-2.0
// Nodes that are made of others and that the host computes as they are
// (compiler/direct): whole on the host, expanded on the card, by what each
// costs, and the same bytes wherever they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/compiler.h"
#include "compiler/judge.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/support.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kSteps = 6, kFeatures = 8, kHidden = 16;

// An LSTM, and what only the host has behind it.
ModelBuilder RecurrentModel(bool island = true) {
  ModelBuilder b(16);
  b.Input("x", DataType::kFloat, {kSteps, 1, kFeatures});
  b.Constant("w", RandomData(DataType::kFloat, {1, 4 * kHidden, kFeatures}, 1));
  b.Constant("r", RandomData(DataType::kFloat, {1, 4 * kHidden, kHidden}, 2));
  onnx::NodeProto* node = b.Node("LSTM", {"x", "w", "r"}, {"h", "", "c"});
  node->set_name("lstm");
  SetInt(node, "hidden_size", kHidden);
  if (island) {
    SetInt(b.Node("Cast", {"h"}, {"d"}), "to", 11);
    b.Output("d");
  } else {
    b.Output("h");
  }
  b.Output("c");
  return b;
}

ModelBuilder SampledModel() {
  ModelBuilder b(16);
  b.Input("x", DataType::kFloat, {1, 3, 9, 7});
  b.Input("grid", DataType::kFloat, {1, 5, 6, 2});
  b.Node("GridSample", {"x", "grid"}, {"y"})->set_name("sample");
  SetInt(b.Node("Cast", {"y"}, {"d"}), "to", 11);
  b.Output("d");
  return b;
}

// The host by its default profile, so many times slower; crossings are free.
std::shared_ptr<const HostProfile> Profile(double slower) {
  HostProfile p = DefaultHostProfile();
  p.name = "test";
  p.job_us = p.transfer_byte_ns = 0;
  for (double HostProfile::*rate :
       {&HostProfile::node_ns, &HostProfile::byte_ns, &HostProfile::element_ns,
        &HostProfile::instruction_ns, &HostProfile::mac_float_ns,
        &HostProfile::mac_int_ns, &HostProfile::row_ns}) {
    p.*rate *= slower;
  }
  return std::make_shared<const HostProfile>(p);
}

CompileOptions Options(Placement placement, double slower = 1) {
  CompileOptions options;
  options.host_nodes = true;
  options.placement = placement;
  options.host_profile = Profile(slower);
  return options;
}

// Operators that the card has by others of the compiler's own, and what only
// the host has behind them.
ModelBuilder PickedModel() {
  ModelBuilder b(18);
  b.Input("x", DataType::kFloat, {4, 6});
  b.Input("places", DataType::kInt64, {3, 2});
  b.Input("updates", DataType::kFloat, {3});
  b.Constant("axis", Int64s({}, {1}));
  b.Constant("k", Int64s({1}, {2}));
  b.Constant("sizes", Int64s({4}, {1, 1, 6, 9}));
  b.Node("CumSum", {"x", "axis"}, {"sums"});
  b.Node("ScatterND", {"sums", "places", "updates"}, {"placed"});
  b.Node("GatherND", {"placed", "places"}, {"picked"});
  b.Node("TopK", {"placed", "k"}, {"most", "where"});
  b.Constant("four", Int64s({4}, {1, 1, 4, 6}));
  b.Node("Reshape", {"placed", "four"}, {"image"});
  onnx::NodeProto* resize =
      b.Node("Resize", {"image", "", "", "sizes"}, {"larger"});
  SetString(resize, "mode", "linear");
  SetInt(resize, "antialias", 1);
  for (const char* name : {"picked", "most", "larger"}) {
    SetInt(b.Node("Cast", {name}, {std::string(name) + "_d"}), "to", 11);
    b.Output(std::string(name) + "_d");
  }
  b.Output("where");
  return b;
}

struct Made {
  package::Package package;
  CompileReport report;
  std::vector<TensorData> results;
  // Of host segments, those of control flow's bodies apart.
  std::vector<std::string> host_ops;
  bool card = false;
};

Made Make(const ModelBuilder& b, const CompileOptions& options,
          const std::vector<TensorData>& inputs) {
  Made result;
  auto made = CompileOnnx(b.Bytes(), options);
  EXPECT_TRUE(made.ok()) << made.status();
  if (!made.ok()) return result;
  auto package = package::Parse(made->package);
  EXPECT_TRUE(package.ok()) << package.status();
  if (!package.ok()) return result;
  EXPECT_EQ(package::Serialize(*package), made->package);
  auto run = RunPackage(*package, inputs);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return result;
  for (const auto& output : package->outputs) {
    result.results.push_back(run->outputs[output.name]);
  }
  for (const package::Segment& segment : package->segments) {
    result.card |= segment.kind() == package::SegmentKind::kCard;
    for (const Node& node : segment.host.nodes) {
      result.host_ops.push_back(node.op);
    }
  }
  result.card |= package->segments.empty();
  result.report = std::move(made->report);
  result.package = *std::move(package);
  return result;
}

std::vector<TensorData> Reference(const ModelBuilder& b,
                                  const std::vector<TensorData>& inputs) {
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  const auto values = EvaluateGraph(*graph, inputs);
  EXPECT_TRUE(values.ok()) << values.status();
  std::vector<TensorData> results;
  for (TensorId id : graph->outputs) results.push_back((*values)[id]);
  return results;
}

void ExpectSame(const std::vector<TensorData>& a,
                const std::vector<TensorData>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i].bytes == b[i].bytes) << i;
  }
}

using Ops = std::vector<std::string>;

TEST(DirectNodes, AreWholeOnTheHostAndExpandedOnTheCard) {
  struct Case {
    ModelBuilder model;
    std::vector<TensorData> inputs;
    Ops host;
  };
  const std::vector<Case> cases = {
      {RecurrentModel(),
       {RandomData(DataType::kFloat, {kSteps, 1, kFeatures}, 3)},
       {"LSTM", "Cast"}},
      {SampledModel(),
       {RandomData(DataType::kFloat, {1, 3, 9, 7}, 4),
        RandomData(DataType::kFloat, {1, 5, 6, 2}, 5, -1.2f, 1.2f)},
       {"GridSample", "Cast"}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.host[0]);
    const auto expected = Reference(c.model, c.inputs);
    const Made host = Make(c.model, Options(Placement::kHost), c.inputs);
    EXPECT_EQ(host.host_ops, c.host);
    EXPECT_FALSE(host.card);
    ExpectSame(host.results, expected);
    ASSERT_EQ(host.report.host_nodes.size(), 2u);
    EXPECT_EQ(host.report.host_nodes[0].op, c.host[0]);
    EXPECT_TRUE(host.report.host_nodes[0].by_choice);
    // On the card, by force, and because the host would take longer.
    for (const CompileOptions& options :
         {Options(Placement::kCard), Options(Placement::kCost, 1e4)}) {
      const Made card = Make(c.model, options, c.inputs);
      EXPECT_EQ(card.host_ops, Ops{"Cast"});
      EXPECT_TRUE(card.card);
      ExpectSame(card.results, expected);
    }
    // By cost, with a host that takes less: one node, not a few of many.
    const Made cheap = Make(c.model, Options(Placement::kCost, 1e-3), c.inputs);
    EXPECT_EQ(cheap.host_ops, c.host);
    EXPECT_FALSE(cheap.card);
    ExpectSame(cheap.results, expected);
  }
}

// Those of which the parts are the card's alone, too.
TEST(DirectNodes, TheHostTakesOperatorsOfInternalParts) {
  const ModelBuilder b = PickedModel();
  const std::vector<TensorData> inputs = {
      RandomData(DataType::kFloat, {4, 6}, 1),
      Int64s({3, 2}, {0, 5, 3, 1, 2, 2}), RandomData(DataType::kFloat, {3}, 2)};
  const auto expected = Reference(b, inputs);
  const Made host = Make(b, Options(Placement::kHost), inputs);
  EXPECT_FALSE(host.card);
  for (const char* op : {"CumSum", "ScatterND", "GatherND", "TopK", "Resize"}) {
    EXPECT_EQ(std::count(host.host_ops.begin(), host.host_ops.end(), op), 1)
        << op;
  }
  ExpectSame(host.results, expected);
  for (const CompileOptions& options :
       {Options(Placement::kCard), Options(Placement::kCost, 1e4)}) {
    const Made card = Make(b, options, inputs);
    EXPECT_EQ(card.host_ops, (Ops{"Cast", "Cast", "Cast"}));
    EXPECT_TRUE(card.card);
    ExpectSame(card.results, expected);
  }
}

// What of such parts the card refuses, the host takes, and the verdict says so.
TEST(DirectNodes, TheHostTakesWhatTheCardRefusesOfThem) {
  ModelBuilder b(16);
  b.Input("x", DataType::kFloat, {3, 400});
  b.Constant("k", Int64s({1}, {100}));  // the card finds 64
  b.Node("TopK", {"x", "k"}, {"most", "where"});
  b.Output("most");
  const std::vector<TensorData> inputs = {
      RandomData(DataType::kFloat, {3, 400}, 1)};
  for (const Placement placement :
       {Placement::kHost, Placement::kCost, Placement::kCard}) {
    SCOPED_TRACE(static_cast<int>(placement));
    const Made made = Make(b, Options(placement), inputs);
    EXPECT_EQ(made.host_ops, Ops{"TopK"});
    EXPECT_FALSE(made.card);
    ExpectSame(made.results, Reference(b, inputs));
    const auto verdict = JudgeOnnx(b.Bytes(), Options(placement));
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_TRUE(verdict->uses_host);
  }
}

// The card's side is priced by the expansion, the host's as one node.
TEST(DirectNodes, HaveBothPrices) {
  const CompileOptions options = Options(Placement::kCost);
  const ModelBuilder b = RecurrentModel();
  const auto graph = AnalyseOnnx(b.Bytes(), SharedOptions(options));
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 2u);
  const auto support = SupportOf(*graph, options);
  ASSERT_TRUE(support.ok()) << support.status();
  EXPECT_GT((*support)[0].cost.card_ns, 0);
  EXPECT_GT((*support)[0].cost.host_ns, 0);
  EXPECT_EQ((*support)[1].cost.card_ns, 0);
  const auto expanded = AnalyseOnnx(b.Bytes(), options);
  ASSERT_TRUE(expanded.ok());
  const auto apart = SupportOf(*expanded, options);
  ASSERT_TRUE(apart.ok());
  double card = 0, host = 0;
  for (const NodeSupport& node : *apart) {
    card += node.cost.card_ns;
    host += node.cost.host_ns;
  }
  EXPECT_GT(host, 4 * (*support)[0].cost.host_ns);
  EXPECT_NEAR((*support)[0].cost.card_ns / card, 1, 0.5);
}

// A graph that the card takes as a whole stays there, byte by byte.
TEST(DirectNodes, DoNotMatterToWhatTheCardTakes) {
  const ModelBuilder b = RecurrentModel(false);
  CompileOptions alone;
  const auto without = CompileOnnx(b.Bytes(), alone);
  const auto with = CompileOnnx(b.Bytes(), Options(Placement::kCost));
  ASSERT_TRUE(without.ok() && with.ok()) << without.status() << with.status();
  EXPECT_EQ(with->package, without->package);
}

// In the body of a Loop that a run ends, which has its own places.
TEST(DirectNodes, InABody) {
  ModelBuilder b(16);
  b.Input("most", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {2, 1, 3});
  b.Constant("w", RandomData(DataType::kFloat, {1, 3, 3}, 1));
  b.Constant("r", RandomData(DataType::kFloat, {1, 3, 3}, 2));
  onnx::NodeProto* loop = b.Node("Loop", {"most", "", "x"}, {"y"});
  onnx::GraphProto* body = AddGraph(loop, "body");
  Declare(body->add_input(), "i", DataType::kInt64, true);
  Declare(body->add_input(), "go", DataType::kBool, true);
  Declare(body->add_input(), "v", DataType::kFloat);
  AddNode(body, "Identity", {"go"}, {"again"});
  onnx::NodeProto* rnn = AddNode(body, "RNN", {"v", "w", "r"}, {"all"});
  SetInt(rnn, "hidden_size", 3);
  AddConstant(body, "shape", Int64s({3}, {2, 1, 3}));
  AddNode(body, "Reshape", {"all", "shape"}, {"next"});
  Declare(body->add_output(), "again", DataType::kBool, true);
  Declare(body->add_output(), "next", DataType::kFloat);
  b.Output("y");
  const std::vector<TensorData> inputs = {
      Int64s({}, {3}), RandomData(DataType::kFloat, {2, 1, 3}, 3)};
  const auto expected = Reference(b, inputs);
  for (const Placement placement :
       {Placement::kHost, Placement::kCard, Placement::kCost}) {
    const Made made = Make(b, Options(placement), inputs);
    ExpectSame(made.results, expected);
    if (placement != Placement::kHost) continue;
    Ops ops;
    for (const package::Segment& segment : made.package.segments) {
      for (const auto& inside : segment.bodies) {
        for (const auto& part : inside.package->segments) {
          for (const Node& node : part.host.nodes) ops.push_back(node.op);
        }
      }
    }
    EXPECT_EQ(std::count(ops.begin(), ops.end(), "RNN"), 1);
    EXPECT_EQ(std::count(ops.begin(), ops.end(), "Gemm"), 0);
  }
}

}  // namespace
}  // namespace heddle::compiler
