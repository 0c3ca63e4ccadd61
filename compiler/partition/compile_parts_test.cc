// SPDX-License-Identifier: Apache-2.0
// Graphs that card and host share, in all configurations, against the reference
// semantics of the whole.
#include "compiler/partition/compile_parts.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kDouble = 11, kToFloat = 1;
const Shape kShape = {1, 4, 6, 5};

// Three nodes that compute in double, which the card does not hold.
void Island(ModelBuilder* b, const std::string& from, const std::string& to) {
  SetInt(b->Node("Cast", {from}, {to + "/d"}), "to", kDouble);
  SetInts(b->Node("Transpose", {to + "/d"}, {to + "/t"}), "perm", {0, 1, 3, 2});
  SetInt(b->Node("Cast", {to + "/t"}, {to}), "to", kToFloat);
}

CompileOptions WithHost() {
  CompileOptions options;
  options.host_nodes = true;
  options.placement = Placement::kCard;
  return options;
}

// The package, which must be one of segments: "chc" is card, host, card.
package::Package Compile(const ModelBuilder& b, const std::string& sides) {
  auto result = CompileOnnx(b.Bytes(), WithHost());
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  auto package = package::Parse(result->package);
  EXPECT_TRUE(package.ok()) << package.status();
  if (!package.ok()) return {};
  std::string found;
  for (const package::Segment& segment : package->segments) {
    found += segment.card != nullptr ? 'c' : 'h';
  }
  EXPECT_EQ(found, sides);
  EXPECT_EQ(result->report.segments.size(), found.size());
  return *std::move(package);
}

// As the card alone refuses it.
void ExpectSplit(const ModelBuilder& b, const std::string& sides,
                 const std::vector<TensorData>& inputs) {
  const auto refused = CompileOnnx(b.Bytes(), {});
  EXPECT_NE(RejectionOf(refused.status()), Rejection::kNone);
  const auto host = CheckGraph(*AnalyseOnnx(b.Bytes(), {}), WithHost());
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_TRUE(*host);
  EXPECT_EQ(CheckGraph(*AnalyseOnnx(b.Bytes(), {}), {}).status(),
            refused.status());
  Compile(b, sides);
  CardCase options;
  options.host_nodes = true;
  EXPECT_FALSE(ExpectCardEqualsReference(b.Bytes(), inputs, options).empty());
}

TEST(CompileParts, InTheMiddle) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Relu", {"x"}, {"a"});
  Island(&b, "a", "f");
  b.Node("Sigmoid", {"f"}, {"y"});
  b.Output("y");
  ExpectSplit(b, "chc", {RandomData(DataType::kFloat, kShape, 1)});
}

TEST(CompileParts, AtTheBeginning) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  Island(&b, "x", "f");
  b.Node("Sigmoid", {"f"}, {"y"});
  b.Output("y");
  ExpectSplit(b, "hc", {RandomData(DataType::kFloat, kShape, 2)});
}

TEST(CompileParts, AtTheEnd) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Sigmoid", {"x"}, {"a"});
  SetInt(b.Node("Cast", {"a"}, {"y"}), "to", kDouble);
  b.Output("y");
  ExpectSplit(b, "ch", {RandomData(DataType::kFloat, kShape, 3)});
}

TEST(CompileParts, Several) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Relu", {"x"}, {"a"});
  Island(&b, "a", "f");
  b.Node("Sigmoid", {"f"}, {"g"});
  Island(&b, "g", "h");
  b.Node("Add", {"h", "a"}, {"y"});
  b.Output("y");
  b.Output("g");
  ExpectSplit(b, "chchc", {RandomData(DataType::kFloat, kShape, 4)});
}

TEST(CompileParts, AllOfIt) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {5, 4});
  b.Constant("axes", Int64s({1}, {1}));
  b.Node("ReduceSum", {"x", "axes"}, {"y"});
  b.Output("y");
  // Sums that the card's 32 bits do not hold.
  TensorData x = TensorData::Zeros(DataType::kInt64, {5, 4});
  for (int64_t i = 0; i < 20; ++i) x.as<int64_t>()[i] = i * 3'000'000'000;
  ExpectSplit(b, "h", {x});
}

// Branches that meet, weights on the card, and an output that is an input.
TEST(CompileParts, Branches) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Input("n", DataType::kInt64, {2, 3});
  b.Constant("w", RandomData(DataType::kFloat, {8, 4, 3, 3}, 5));
  b.Constant("axes", Int64s({1}, {0}));
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("ReduceSum", {"n", "axes"}, {"s"});
  SetInt(b.Node("Cast", {"s"}, {"k"}), "to", kToFloat);
  b.Node("ReduceMean", {"c"}, {"m"});
  b.Node("Add", {"m", "k"}, {"y"});
  b.Output("y");
  b.Output("n");
  ExpectSplit(b, "hc",
              {RandomData(DataType::kFloat, kShape, 6),
               RandomData(DataType::kInt64, {2, 3}, 7)});
}

TEST(CompileParts, AProductThatIsOneTooMany) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4});
  b.Node("Mul", {"x", "x"}, {"a"});
  b.Node("Mul", {"a", "a"}, {"y"});
  b.Output("y");
  ExpectSplit(b, "ch", {Int64s({4}, {1, -200, 20'000, 7})});
}

// Nothing changes for those whom the card takes.
TEST(CompileParts, APackageOfTheCardIsWhatItWas) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y");
  const auto with = CompileOnnx(b.Bytes(), WithHost());
  const auto without = CompileOnnx(b.Bytes(), {});
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->package, without->package);
  EXPECT_EQ(with->package[8], 1);
  EXPECT_TRUE(with->report.segments.empty());
}

TEST(CompileParts, TheReportSaysWhy) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Relu", {"x"}, {"a"});
  Island(&b, "a", "f");
  b.Node("Sigmoid", {"f"}, {"y"});
  b.Output("y");
  const auto result = CompileOnnx(b.Bytes(), WithHost());
  ASSERT_TRUE(result.ok()) << result.status();
  const CompileReport& report = result->report;
  ASSERT_EQ(report.host_nodes.size(), 3u);
  EXPECT_EQ(report.host_nodes[1].op, "Transpose");
  EXPECT_NE(report.host_nodes[1].reason.find("double"), std::string::npos);
  ASSERT_EQ(report.segments.size(), 3u);
  EXPECT_TRUE(report.segments[1].host);
  EXPECT_EQ(report.segments[1].bytes_in, 120 * 4u);
  EXPECT_EQ(report.segments[1].bytes_out, 120 * 4u);
  EXPECT_EQ(report.segments[1].host_bytes, 2 * 120 * 8u);
  EXPECT_EQ(report.estimated_cycles,
            report.segments[0].cycles + report.segments[2].cycles);
  EXPECT_GT(report.segments[2].cycles, 0u);
}

TEST(CompileParts, DeterministicOnAnyNumberOfThreads) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("Relu", {"x"}, {"a"});
  Island(&b, "a", "y");
  b.Output("y");
  CompileOptions options = WithHost();
  const auto one = CompileOnnx(b.Bytes(), options);
  options.threads = 3;
  const auto three = CompileOnnx(b.Bytes(), options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->package, three->package);
}

// What neither side has stays refused, with the card's reason.
TEST(CompileParts, RefusedByBoth) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, kShape);
  b.Node("RandomNormalLike", {"x"}, {"y"});
  b.Output("y");
  EXPECT_EQ(RejectionOf(CompileOnnx(b.Bytes(), WithHost()).status()),
            Rejection::kUnsupportedOperator);
}

// The card has no tensors whose size values decide, and knows all others.
TEST(CompileParts, TheHostFollowsWhatValuesDecide) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 8});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("NonZero", {"r"}, {"rows"});
  b.Node("Transpose", {"rows"}, {"indices"});
  b.Node("GatherND", {"r", "indices"}, {"y"});
  b.Output("y");
  const auto made = CompileOnnx(b.Bytes(), WithHost());
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->report.segments.size(), 2u);
  EXPECT_FALSE(made->report.segments[0].host);
  EXPECT_EQ(made->report.segments[1].nodes.size(), 3u);
  const auto package = package::Parse(made->package);
  ASSERT_TRUE(package.ok()) << package.status();
  EXPECT_EQ(package->outputs[0].shape, Shape{32});
  // On the card alone it is refused.
  EXPECT_NE(RejectionOf(CompileOnnx(b.Bytes(), {}).status()), Rejection::kNone);
}

TEST(CompileParts, TheSegmentsShareTheCardsMemory) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 64, 64});
  b.Node("Relu", {"x"}, {"a"});
  Island(&b, "a", "f");
  b.Node("Relu", {"f"}, {"y"});
  b.Output("y");
  CompileOptions options = WithHost();
  options.device_memory_bytes = 200'000;  // enough for one of them
  EXPECT_EQ(RejectionOf(CompileOnnx(b.Bytes(), options).status()),
            Rejection::kNoDeviceMemory);
  options.device_memory_bytes = 400'000;
  EXPECT_TRUE(CompileOnnx(b.Bytes(), options).ok());
}

}  // namespace
}  // namespace heddle::compiler
