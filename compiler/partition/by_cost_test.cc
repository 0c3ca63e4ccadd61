// SPDX-License-Identifier: Apache-2.0
// Graphs of both sides, shared by what it costs.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "compiler/base/host_profile.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/partition/support.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

// Double precision, which the card does not hold.
void Island(ModelBuilder* b, const std::string& from, const std::string& to) {
  SetInt(b->Node("Cast", {from}, {to + "/d"}), "to", 11);
  SetInt(b->Node("Cast", {to + "/d"}, {to}), "to", 1);
}

// A convolution that is worth a job, and a function between two islands that
// is not.
ModelBuilder ConvolutionAndIslands() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 64, 32, 32});
  b.Constant("w", RandomData(DataType::kFloat, {4, 64, 3, 3}, 1));
  b.Node("Conv", {"x", "w"}, {"c"});
  Island(&b, "c", "f");
  b.Node("Sigmoid", {"f"}, {"g"});
  Island(&b, "g", "y");
  b.Output("y");
  return b;
}

std::shared_ptr<const HostProfile> Profile(double job_us,
                                           double transfer_byte_ns,
                                           double slower = 1) {
  HostProfile p = DefaultHostProfile();
  p.name = "test";
  p.job_us = job_us;
  p.transfer_byte_ns = transfer_byte_ns;
  for (double HostProfile::*rate :
       {&HostProfile::node_ns, &HostProfile::byte_ns, &HostProfile::element_ns,
        &HostProfile::instruction_ns, &HostProfile::mac_float_ns,
        &HostProfile::mac_int_ns, &HostProfile::row_ns}) {
    p.*rate *= slower;
  }
  return std::make_shared<const HostProfile>(p);
}

// A host that takes longer for a convolution than the card.
std::shared_ptr<const HostProfile> SlowHost() {
  const HostProfile p = DefaultHostProfile();
  return Profile(p.job_us, p.transfer_byte_ns, 4);
}

CompileOptions ByCost(std::shared_ptr<const HostProfile> profile = nullptr) {
  CompileOptions options;
  options.host_nodes = true;
  options.host_profile = std::move(profile);
  return options;
}

std::string Sides(const package::Package& package) {
  std::string sides;
  for (const package::Segment& segment : package.segments) {
    sides += segment.kind() == package::SegmentKind::kCard   ? 'c'
             : segment.kind() == package::SegmentKind::kHost ? 'h'
                                                             : 'l';
  }
  return sides;
}

// The package, after its outputs have been compared with the reference's.
package::Package Check(const ModelBuilder& b, const CompileOptions& options,
                       const std::vector<TensorData>& inputs,
                       CompileReport* report = nullptr) {
  auto made = CompileOnnx(b.Bytes(), options);
  EXPECT_TRUE(made.ok()) << made.status();
  if (!made.ok()) return {};
  auto package = package::Parse(made->package);
  EXPECT_TRUE(package.ok()) << package.status();
  if (!package.ok()) return {};
  EXPECT_EQ(package::Serialize(*package), made->package);
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  const auto expected = EvaluateGraph(*graph, inputs);
  auto run = RunPackage(*package, inputs);
  EXPECT_TRUE(expected.ok() && run.ok()) << expected.status() << run.status();
  if (!expected.ok() || !run.ok()) return {};
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    EXPECT_TRUE(run->outputs[package->outputs[i].name].bytes ==
                (*expected)[graph->outputs[i]].bytes)
        << Sides(*package) << " " << i;
  }
  if (report != nullptr) *report = made->report;
  return *std::move(package);
}

TEST(ByCost, WhatPaysStaysOnTheCard) {
  const ModelBuilder b = ConvolutionAndIslands();
  const std::vector<TensorData> x = {
      RandomData(DataType::kFloat, {1, 64, 32, 32}, 2)};
  CompileReport report;
  EXPECT_EQ(Sides(Check(b, ByCost(SlowHost()), x, &report)), "ch");
  ASSERT_EQ(report.segments.size(), 2u);
  const SegmentReport& card = report.segments[0];
  EXPECT_GT(card.estimated_us, 0);
  EXPECT_NEAR(card.crossing_us, 70 + (65536 + 3600) * 4 * 0.25e-3, 1e-6);
  EXPECT_EQ(report.segments[1].crossing_us, 0);
  EXPECT_EQ(report.host_profile, "test");
  // Crossings that cost nothing, and a slow host; a job that nothing pays.
  EXPECT_EQ(Sides(Check(b, ByCost(Profile(0, 0, 10)), x)), "chch");
  EXPECT_EQ(Sides(Check(b, ByCost(Profile(1e6, 0)), x)), "h");
  CompileOptions forced = ByCost(Profile(1e6, 0));
  forced.placement = Placement::kCard;
  EXPECT_EQ(Sides(Check(b, forced, x)), "chch");
  forced = ByCost(Profile(0, 0, 10));
  forced.placement = Placement::kHost;
  EXPECT_EQ(Sides(Check(b, forced, x)), "h");
}

TEST(ByCost, ReasonsAreSaid) {
  const ModelBuilder b = ConvolutionAndIslands();
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok());
  const auto support = SupportOf(*graph, ByCost(SlowHost()));
  ASSERT_TRUE(support.ok()) << support.status();
  int chosen = 0;
  for (size_t n = 0; n < support->size(); ++n) {
    const NodeSupport& s = (*support)[n];
    const std::string& op = graph->nodes[n].op;
    EXPECT_GT(s.cost.host_ns, 0) << op;
    EXPECT_EQ(s.cost.card_ns > 0, op != "Cast") << op;
    EXPECT_EQ(s.by_choice, op == "Sigmoid");
    if (!s.by_choice) continue;
    ++chosen;
    EXPECT_TRUE(absl::StrContains(s.reason.message(), "us on the host"))
        << s.reason;
  }
  EXPECT_EQ(chosen, 1);
}

// The split can be made again from what the package says.
TEST(ByCost, ThePackageHoldsTheProfile) {
  const ModelBuilder b = ConvolutionAndIslands();
  const std::vector<TensorData> x = {
      RandomData(DataType::kFloat, {1, 64, 32, 32}, 2)};
  const package::Package made = Check(b, ByCost(Profile(0, 0, 10)), x);
  EXPECT_EQ(made.placement, "cost");
  for (const package::Segment& s : made.segments) EXPECT_GT(s.estimated_ns, 0u);
  const auto profile = ParseHostProfile(made.host_profile);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->name, "test");
  const package::Package again =
      Check(b, ByCost(std::make_shared<const HostProfile>(*profile)), x);
  EXPECT_EQ(package::Serialize(again), package::Serialize(made));
}

TEST(ByCost, AGraphOfTheCardKeepsItsBytes) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3});
  b.Node("Sigmoid", {"x"}, {"y"});
  b.Output("y");
  CompileOptions card;
  const auto alone = CompileOnnx(b.Bytes(), card);
  const auto cost = CompileOnnx(b.Bytes(), ByCost(Profile(1e9, 1e9)));
  ASSERT_TRUE(alone.ok() && cost.ok());
  EXPECT_EQ(alone->package, cost->package);
  EXPECT_TRUE(cost->report.segments.empty());
}

// Of an If or Loop the bodies are shared by cost, too.
TEST(ByCost, Bodies) {
  const auto side_of_body = [](std::shared_ptr<const HostProfile> profile) {
    const auto made =
        CompileOnnx(RepeatedModel().Bytes(), ByCost(std::move(profile)));
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return std::string();
    const auto package = package::Parse(made->package);
    EXPECT_TRUE(package.ok()) << package.status();
    std::string sides;
    for (const package::Segment& s : package->segments) {
      for (const package::Body& body : s.bodies) {
        sides += body.package->segments.empty() ? "c" : Sides(*body.package);
      }
    }
    return sides;
  };
  EXPECT_EQ(side_of_body(Profile(0, 0, 1000)), "c");
  EXPECT_EQ(side_of_body(nullptr), "h");
}

// Operators that passes would compose: the host takes each, and the card as
// many as are left composed.
TEST(ByCost, ComposedOnTheCardAlone) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 4});
  b.Node("Sigmoid", {"x"}, {"s"});
  b.Node("Mul", {"s", "x"}, {"m"});
  b.Node("Relu", {"m"}, {"r"});
  Island(&b, "r", "y");
  b.Output("y");
  const std::vector<TensorData> x = {RandomData(DataType::kFloat, {4, 4}, 3)};
  EXPECT_EQ(Sides(Check(b, ByCost(), x)), "h");
  CompileReport report;
  EXPECT_EQ(Sides(Check(b, ByCost(Profile(0, 0, 100)), x, &report)), "ch");
  EXPECT_EQ(report.layers.size(), 1u);
  EXPECT_EQ(report.segments[0].nodes.size(), 3u);
  CompileOptions host = ByCost();
  host.placement = Placement::kHost;
  EXPECT_EQ(Sides(Check(b, host, x)), "h");
}

}  // namespace
}  // namespace heddle::compiler
