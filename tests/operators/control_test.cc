// SPDX-License-Identifier: Apache-2.0
// Ifs and Loops whose course a run decides, against ONNX Runtime: conditions
// and trip counts that are inputs or computed, no trips at all, results of each
// iteration, values from outside, one inside of another. As in all tests of
// this folder by the reference semantics; card and host give its bytes
// (ControlTest).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/run_package.h"
#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::AddConstant;
using compiler::AddGraph;
using compiler::AddNode;
using compiler::Bool;
using compiler::DataType;
using compiler::Declare;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;

constexpr const char* kUnary[] = {"Neg", "Relu", "Tanh", "Abs", "Sigmoid"};
constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "Max", "Min"};

std::string AnyOf(RandomSource* random, const char* const (&list)[5]) {
  return list[random->Below(5)];
}

// A random chain over `names`, which has the result last.
void AddChain(uint64_t seed, onnx::GraphProto* graph, const std::string& prefix,
              std::vector<std::string>* names) {
  RandomSource random(seed);
  const int64_t count = random.Between(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    const std::string next = prefix + std::to_string(i);
    const auto any = [&] {
      return (*names)[static_cast<size_t>(
          random.Below(static_cast<int64_t>(names->size())))];
    };
    if (random.OneIn(2)) {
      AddNode(graph, AnyOf(&random, kUnary), {names->back()}, {next});
    } else {
      AddNode(graph, AnyOf(&random, kBinary), {names->back(), any()}, {next});
    }
    names->push_back(next);
  }
}

void AddBranch(uint64_t seed, onnx::NodeProto* node, const std::string& which,
               const std::vector<std::string>& outside) {
  auto* branch = AddGraph(node, which);
  std::vector<std::string> names = outside;
  AddChain(seed, branch, which + "_" + std::to_string(seed % 1000) + "_",
           &names);
  Declare(branch->add_output(), names.back(), DataType::kFloat);
}

// The condition is an input; both branches read what is outside.
void If(RandomSource* random, RuntimeCase* c) {
  const uint64_t seed = random->Next();
  c->inputs = {Bool(random->OneIn(2)),
               random->Floats(random->AnyShape(1, 3, 4), 2)};
  c->outputs = 1;
  c->operands = 1;
  c->attributes = [=](onnx::NodeProto* node) {
    AddBranch(seed, node, "then_branch", {"x1"});
    AddBranch(seed + 1, node, "else_branch", {"x1"});
  };
}

// How a Loop ends: each is an input, a constant, or missing.
struct Ending {
  int64_t trips, last;
  bool condition, conditional;
};

// v = chain(v, outside), while i < last if the Loop is conditional.
void FillLoop(const Ending& e, uint64_t seed, const std::string& prefix,
              const std::vector<std::string>& outside, bool scans, bool choice,
              onnx::GraphProto* body) {
  const auto own = [&](const char* name) { return prefix + name; };
  Declare(body->add_input(), own("i"), DataType::kInt64, true);
  Declare(body->add_input(), own("c"), DataType::kBool, true);
  Declare(body->add_input(), own("v"), DataType::kFloat);
  AddConstant(body, own("last"), Int64s({}, {e.last - 1}));
  std::vector<std::string> names = outside;
  names.push_back(own("v"));
  if (choice) {
    // On odd iterations another branch.
    AddConstant(body, own("two"), Int64s({}, {2}));
    AddConstant(body, own("zero"), Int64s({}, {0}));
    AddNode(body, "Mod", {own("i"), own("two")}, {own("odd")});
    AddNode(body, "Equal", {own("odd"), own("zero")}, {own("even")});
    auto* node = AddNode(body, "If", {own("even")}, {own("chosen")});
    AddBranch(seed + 7, node, "then_branch", names);
    AddBranch(seed + 8, node, "else_branch", names);
    names.push_back(own("chosen"));
  }
  AddChain(seed, body, own("t"), &names);
  if (e.conditional) {
    AddNode(body, "Less", {own("i"), own("last")}, {own("on")});
  } else {
    AddNode(body, "Identity", {own("c")}, {own("on")});
  }
  Declare(body->add_output(), own("on"), DataType::kBool, true);
  AddNode(body, "Identity", {names.back()}, {own("next")});
  Declare(body->add_output(), own("next"), DataType::kFloat);
  if (!scans) return;
  AddNode(body, "Neg", {own("next")}, {own("seen")});
  Declare(body->add_output(), own("seen"), DataType::kFloat);
}

int64_t Iterations(const Ending& e) {
  if (!e.condition) return 0;
  const int64_t most = std::max<int64_t>(e.trips, 0);
  // The body always runs once before it is asked.
  return e.conditional ? std::min(most, std::max<int64_t>(e.last, 1)) : most;
}

void AnyLoop(RandomSource* random, RuntimeCase* c, bool scans, bool choice) {
  const uint64_t seed = random->Next();
  Ending e;
  e.trips = random->Between(-1, 5);
  e.last = random->Between(1, 5);
  e.condition = !random->OneIn(5);
  e.conditional = random->OneIn(2);
  if (scans) {
    // (ONNX Runtime does not say what no rows look like.)
    e.trips = std::max<int64_t>(e.trips, 1);
    e.condition = true;
  }
  const Shape shape = random->AnyShape(1, 2, 4);
  c->inputs = {Int64s({}, {e.trips}), Bool(e.condition),
               random->Floats(shape, 2), random->Floats(shape, 2)};
  // At least one of them is of the run.
  c->constant = {random->OneIn(3), false, false, false};
  if (!c->constant[0] && random->OneIn(2)) {
    e.condition = true;
    c->inputs[1] = TensorData();
  }
  c->outputs = scans ? 2 : 1;
  c->operands = 3;
  if (scans) {
    Shape rows = shape;
    rows.insert(rows.begin(), Iterations(e));
    c->declared = {{}, rows};
  }
  c->attributes = [=](onnx::NodeProto* node) {
    FillLoop(e, seed, "", {"x3"}, scans, choice, AddGraph(node, "body"));
  };
}
void Loop(RandomSource* random, RuntimeCase* c) {
  AnyLoop(random, c, false, false);
}
void LoopWithRows(RandomSource* random, RuntimeCase* c) {
  AnyLoop(random, c, true, false);
}
void LoopWithChoice(RandomSource* random, RuntimeCase* c) {
  AnyLoop(random, c, false, true);
}

// The trip count of the inner one is the number of the outer iteration.
void LoopInLoop(RandomSource* random, RuntimeCase* c) {
  const uint64_t seed = random->Next();
  const int64_t last = random->Between(1, 4);
  const bool conditional = random->OneIn(2);
  const Shape shape = random->AnyShape(1, 2, 4);
  c->inputs = {Int64s({}, {random->Between(0, 4)}), TensorData(),
               random->Floats(shape, 2), random->Floats(shape, 2)};
  c->operands = 3;
  c->attributes = [=](onnx::NodeProto* node) {
    auto* body = AddGraph(node, "body");
    Declare(body->add_input(), "i", DataType::kInt64, true);
    Declare(body->add_input(), "c", DataType::kBool, true);
    Declare(body->add_input(), "v", DataType::kFloat);
    AddNode(body, "Add", {"v", "x3"}, {"sum"});
    auto* inner = AddNode(body, "Loop", {"i", "c", "sum"}, {"next"});
    FillLoop({0, last, true, conditional}, seed, "inner_", {"x3", "v"}, false,
             false, AddGraph(inner, "body"));
    AddNode(body, "Identity", {"c"}, {"on"});
    Declare(body->add_output(), "on", DataType::kBool, true);
    Declare(body->add_output(), "next", DataType::kFloat);
  };
}

struct Kind {
  const char* name;
  OperatorVersion version;
  void (*make)(RandomSource*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.name; }

class ControlAgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(ControlAgainstRuntime, RandomCases) {
  RandomSource random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 1e-5,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, ControlAgainstRuntime,
    testing::Values(Kind{"If11", {"If", "", 11}, If},
                    Kind{"If16", {"If", "", 16}, If},
                    Kind{"Loop11", {"Loop", "", 11}, Loop},
                    Kind{"Loop16", {"Loop", "", 16}, Loop},
                    Kind{"LoopWithRows", {"Loop", "", 13}, LoopWithRows},
                    Kind{"LoopWithChoice", {"Loop", "", 13}, LoopWithChoice},
                    Kind{"LoopInLoop", {"Loop", "", 13}, LoopInLoop}),
    [](const auto& info) { return std::string(info.param.name); });

// The same cases as packages: bodies on the card where that is possible, and on
// the host where that is, give the bytes of the reference.
TEST(ControlTest, CardAndHostGiveTheBytesOfTheReference) {
  constexpr int kCases = 12;
  void (*const makers[])(RandomSource*, RuntimeCase*) = {
      If, Loop, LoopWithRows, LoopWithChoice, LoopInLoop};
  RandomSource random(7);
  for (int k = 0; k < 5 * kCases; ++k) {
    RuntimeCase c;
    c.op = k % 5 == 0 ? "If" : "Loop";
    c.opset = 13;
    makers[k % 5](&random, &c);
    std::vector<TensorData> inputs;
    const std::string model = ModelOf(c, &inputs).Bytes();
    const auto graph = compiler::AnalyseOnnx(model, {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto expected = compiler::EvaluateGraph(*graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const auto placement :
         {compiler::Placement::kCard, compiler::Placement::kHost}) {
      compiler::CompileOptions options;
      options.config = k % 2 == 0 ? "h256" : "h1024";
      options.host_nodes = true;
      options.placement = placement;
      const auto made = compiler::CompileOnnx(model, options);
      ASSERT_TRUE(made.ok()) << made.status();
      const auto package = package::Parse(made->package);
      ASSERT_TRUE(package.ok()) << package.status();
      auto run = compiler::RunPackage(*package, inputs);
      ASSERT_TRUE(run.ok()) << run.status();
      for (size_t i = 0; i < graph->outputs.size(); ++i) {
        const TensorData& ours = run->outputs[package->outputs[i].name];
        const TensorData& theirs = (*expected)[graph->outputs[i]];
        EXPECT_TRUE(ours.bytes == theirs.bytes)
            << "case " << k << ", output " << i << ", placement "
            << static_cast<int>(placement);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::tests
