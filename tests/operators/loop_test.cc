// SPDX-License-Identifier: Apache-2.0
// Loops and Scans whose number of iterations is known when compiling, against
// ONNX Runtime: carried values, results of every iteration, values from
// outside, conditions that end early, one inside of another.
#include <gtest/gtest.h>

#include <string>

#include "compiler/testing/control_models.h"
#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::AddConstant;
using compiler::AddGraph;
using compiler::AddNode;
using compiler::Bool;
using compiler::DataType;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;

// Floats without a shape; others are one number.
void DeclarePlain(onnx::ValueInfoProto* info, const std::string& name,
                  DataType type) {
  compiler::Declare(info, name, type, type != DataType::kFloat);
}

// v = 0.5 v + outside + number, until `last` iterations are done; u = -v.
void FillLoop(onnx::GraphProto* body, const std::string& prefix,
              const std::string& outside, int64_t last) {
  const auto own = [&](const char* name) { return prefix + name; };
  DeclarePlain(body->add_input(), own("i"), DataType::kInt64);
  DeclarePlain(body->add_input(), own("c"), DataType::kBool);
  DeclarePlain(body->add_input(), own("v"), DataType::kFloat);
  AddConstant(body, own("half"), compiler::Floats({}, {0.5f}));
  AddConstant(body, own("last"), Int64s({}, {last - 1}));
  compiler::SetInt(AddNode(body, "Cast", {own("i")}, {own("number")}), "to", 1);
  AddNode(body, "Mul", {own("v"), own("half")}, {own("less")});
  AddNode(body, "Add", {own("less"), outside}, {own("more")});
  AddNode(body, "Add", {own("more"), own("number")}, {own("next")});
  AddNode(body, "Neg", {own("next")}, {own("seen")});
  AddNode(body, "Less", {own("i"), own("last")}, {own("on")});
  DeclarePlain(body->add_output(), own("on"), DataType::kBool);
  DeclarePlain(body->add_output(), own("next"), DataType::kFloat);
  DeclarePlain(body->add_output(), own("seen"), DataType::kFloat);
}

void Loop(RandomSource* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 3, 4);
  const int64_t count = random->Between(1, 5), last = random->Between(1, 5);
  const int64_t missing = random->Below(3);
  c->inputs = {missing == 0 ? TensorData() : Int64s({}, {count}),
               missing == 1 ? TensorData() : Bool(true),
               random->Floats(shape, 2)};
  c->constant = {true, true, false};
  c->outputs = 2;
  c->attributes = [=](onnx::NodeProto* node) {
    FillLoop(AddGraph(node, "body"), "", "x2", last);
  };
}

// Each iteration has a loop of its own that starts at what the outer one has.
void NestedLoop(RandomSource* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 2, 4);
  const int64_t last = random->Between(1, 3);
  c->inputs = {Int64s({}, {random->Between(1, 3)}), Bool(true),
               random->Floats(shape, 2)};
  c->constant = {true, true, false};
  c->outputs = 2;
  c->attributes = [=](onnx::NodeProto* node) {
    onnx::GraphProto* body = AddGraph(node, "body");
    DeclarePlain(body->add_input(), "i", DataType::kInt64);
    DeclarePlain(body->add_input(), "c", DataType::kBool);
    DeclarePlain(body->add_input(), "v", DataType::kFloat);
    AddConstant(body, "often", Int64s({}, {4}));
    AddNode(body, "Identity", {"c"}, {"on"});
    AddNode(body, "Neg", {"v"}, {"outer"});
    auto* inner = AddNode(body, "Loop", {"often", "c", "v"}, {"next", "all"});
    FillLoop(AddGraph(inner, "body"), "inner_", "outer", last);
    DeclarePlain(body->add_output(), "on", DataType::kBool);
    DeclarePlain(body->add_output(), "next", DataType::kFloat);
    DeclarePlain(body->add_output(), "all", DataType::kFloat);
  };
}

// state = state + x, result = state * y; y from the other end now and then.
void Scan(RandomSource* random, RuntimeCase* c) {
  const int64_t steps = random->Between(1, 5), size = random->Between(1, 4);
  const int64_t axis = random->Below(2), out_axis = random->Below(2);
  const int64_t turn = random->Below(2), out_turn = random->Below(2);
  c->inputs = {
      random->Floats({size}, 2),
      random->Floats(axis ? Shape{size, steps} : Shape{steps, size}, 2),
      random->Floats({steps, size}, 2)};
  c->outputs = 2;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "num_scan_inputs", 2);
    compiler::SetInts(node, "scan_input_axes", {axis, 0});
    compiler::SetInts(node, "scan_input_directions", {0, turn});
    compiler::SetInts(node, "scan_output_axes", {out_axis});
    compiler::SetInts(node, "scan_output_directions", {out_turn});
    onnx::GraphProto* body = AddGraph(node, "body");
    for (const char* name : {"state", "x", "y"}) {
      DeclarePlain(body->add_input(), name, DataType::kFloat);
    }
    AddNode(body, "Add", {"state", "x"}, {"next"});
    AddNode(body, "Mul", {"next", "y"}, {"z"});
    DeclarePlain(body->add_output(), "next", DataType::kFloat);
    DeclarePlain(body->add_output(), "z", DataType::kFloat);
  };
}

struct Kind {
  const char* name;
  OperatorVersion version;
  void (*make)(RandomSource*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.name; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  RandomSource random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 1e-6,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(Kind{"Loop11", {"Loop", "", 11}, Loop},
                    Kind{"Loop16", {"Loop", "", 16}, Loop},
                    Kind{"NestedLoop", {"Loop", "", 16}, NestedLoop},
                    Kind{"Scan9", {"Scan", "", 9}, Scan},
                    Kind{"Scan16", {"Scan", "", 16}, Scan}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::tests
