// SPDX-License-Identifier: Apache-2.0
// Packages with an If or a Loop: what is written is read again, and what does
// not fit together is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/package/package.h"
#include "rtl/spec/version.h"

namespace heddle::package {
namespace {

using compiler::ControlFlow;
using compiler::DataType;

TensorInfo Value(const std::string& name, DataType type, compiler::Shape shape,
                 uint64_t at) {
  TensorInfo info;
  info.name = name;
  info.type = type;
  info.shape = std::move(shape);
  info.offset = at;
  info.size = static_cast<uint64_t>(compiler::ElementCount(info.shape)) *
              compiler::ElementBytes(type);
  return info;
}

Package Empty() {
  Package p;
  p.producer = "test";
  p.config = "h256";
  p.hw_version = reg::kVersionReset;
  return p;
}

// The host copies "a" to "b", of two floats.
std::shared_ptr<const Package> Copying() {
  Package p = Empty();
  p.values = {Value("a", DataType::kFloat, {2}, 0),
              Value("b", DataType::kFloat, {2}, 64)};
  p.io_bytes = 72;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1]};
  Segment segment;
  for (const char* name : {"a", "b"}) {
    compiler::Tensor tensor;
    tensor.name = name;
    tensor.type = DataType::kFloat;
    tensor.shape = {2};
    tensor.shape_known = true;
    segment.host.AddTensor(std::move(tensor));
  }
  compiler::Node node;
  node.op = "Identity";
  node.name = "copy";
  node.opset = 13;
  node.inputs = segment.host.inputs = {0};
  node.outputs = segment.host.outputs = {1};
  segment.host.nodes = {node};
  segment.inputs = {0};
  segment.outputs = {1};
  p.segments = {segment};
  return std::make_shared<const Package>(std::move(p));
}

// c ? x : x -> y
Package Choice(std::shared_ptr<const Package> body) {
  Package p = Empty();
  p.values = {Value("c", DataType::kBool, {}, 0),
              Value("x", DataType::kFloat, {2}, 64),
              Value("y", DataType::kFloat, {2}, 128)};
  p.io_bytes = 136;
  p.inputs = {p.values[0], p.values[1]};
  p.outputs = {p.values[2]};
  Segment segment;
  segment.control.kind = ControlFlow::Kind::kIf;
  segment.control.name = "If 'c'";
  segment.bodies = {{body, {0}}, {body, {0}}};
  segment.inputs = {0, 1};
  segment.outputs = {2};
  p.segments = {segment};
  return p;
}

// n times y = x -> y, and all of them, of three.
Package Repeated() {
  Package p = Empty();
  p.values = {Value("n", DataType::kInt64, {1}, 0),
              Value("x", DataType::kFloat, {2}, 64),
              Value("rows", DataType::kFloat, {3, 2}, 128),
              Value("y", DataType::kFloat, {2}, 192)};
  p.io_bytes = 200;
  p.inputs = {p.values[0], p.values[1], p.values[2]};
  p.outputs = {p.values[3]};
  Segment segment;
  ControlFlow& control = segment.control;
  control.kind = ControlFlow::Kind::kLoop;
  control.name = "Loop 'n'";
  control.has_trip_count = true;
  control.carried = 1;
  control.sequences = 1;
  control.trips = 3;
  segment.bodies = {{Copying(), {2}}};  // the row
  segment.inputs = {0, 1, 2};
  segment.outputs = {3};
  p.segments = {segment};
  return p;
}

TEST(ControlPackageTest, IsReadAsItWasWritten) {
  for (const Package& package : {Choice(Copying()), Repeated()}) {
    const std::string bytes = Serialize(package);
    EXPECT_EQ(bytes[8], 4) << "the format's version";
    const auto read = Parse(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Serialize(*read), bytes);
    const Segment& was = package.segments[0];
    const Segment& is = read->segments[0];
    ASSERT_EQ(is.kind(), SegmentKind::kControl);
    EXPECT_EQ(is.control.kind, was.control.kind);
    EXPECT_EQ(is.control.name, was.control.name);
    EXPECT_EQ(is.control.trips, was.control.trips);
    EXPECT_EQ(is.control.carried, was.control.carried);
    EXPECT_EQ(is.control.sequences, was.control.sequences);
    EXPECT_EQ(is.control.has_trip_count, was.control.has_trip_count);
    ASSERT_EQ(is.bodies.size(), was.bodies.size());
    EXPECT_EQ(is.bodies[0].slots, was.bodies[0].slots);
    EXPECT_EQ(is.bodies[0].package->segments[0].host.nodes[0].name, "copy");
    EXPECT_TRUE(CardPackages(*read).empty());
  }
}

TEST(ControlPackageTest, DepthIsBounded) {
  std::shared_ptr<const Package> body = Copying();
  for (int depth = 1; depth <= compiler::kMostControlDepth + 1; ++depth) {
    Package p = Choice(body);
    const auto read = Parse(Serialize(p));
    EXPECT_EQ(read.ok(), depth <= compiler::kMostControlDepth) << depth;
    // The same with one input: the condition is read where x is.
    Package next = Empty();
    next.values = p.values;
    next.io_bytes = p.io_bytes;
    next.inputs = {p.values[1]};
    next.outputs = p.outputs;
    Segment constant;
    constant.host.AddConstant("c",
                              compiler::TensorData::Zeros(DataType::kBool, {}));
    constant.host.outputs = {0};
    constant.outputs = {0};
    next.segments = {constant, p.segments[0]};
    body = std::make_shared<const Package>(std::move(next));
  }
}

TEST(ControlPackageTest, SingleChangesAreRefused) {
  struct Change {
    const char* what;
    std::function<void(Package*)> apply;
  };
  const auto in_body = [](size_t b, std::function<void(Package*)> apply) {
    return [b, apply](Package* p) {
      Body& body = p->segments[0].bodies[b];
      Package copy = *body.package;
      apply(&copy);
      body.package = std::make_shared<const Package>(std::move(copy));
    };
  };
  const std::vector<Change> both = {
      {"no bodies", [](Package* p) { p->segments[0].bodies.clear(); }},
      {"a body more",
       [](Package* p) {
         p->segments[0].bodies.push_back(p->segments[0].bodies[0]);
       }},
      {"a slot more",
       [](Package* p) { p->segments[0].bodies[0].slots.push_back(0); }},
      {"no slot", [](Package* p) { p->segments[0].bodies[0].slots.clear(); }},
      {"a slot that is none",
       [](Package* p) { p->segments[0].bodies[0].slots = {1000}; }},
      {"a value that is none",
       [](Package* p) { p->segments[0].inputs[0] = 1000; }},
      {"an output that is none",
       [](Package* p) { p->segments[0].outputs[0] = 1000; }},
      {"no outputs", [](Package* p) { p->segments[0].outputs.clear(); }},
      {"no inputs", [](Package* p) { p->segments[0].inputs.clear(); }},
      {"inputs in another order",
       [](Package* p) {
         std::swap(p->segments[0].inputs[0], p->segments[0].inputs[1]);
       }},
      {"a body of another configuration",
       in_body(0, [](Package* p) { p->config = "h512"; })},
      {"a body of newer hardware",
       in_body(0, [](Package* p) { p->hw_version = 0xffff0000; })},
      {"a body with another result",
       in_body(0,
               [](Package* p) {
                 p->outputs = {p->values[0], p->values[1]};
               })},
      {"a body that writes nothing",
       in_body(0, [](Package* p) { p->segments[0].outputs.clear(); })},
      {"another kind",
       [](Package* p) {
         ControlFlow& control = p->segments[0].control;
         control.kind = control.kind == ControlFlow::Kind::kIf
                            ? ControlFlow::Kind::kLoop
                            : ControlFlow::Kind::kIf;
       }},
      {"a kind that is none",
       [](Package* p) {
         p->segments[0].control.kind = static_cast<ControlFlow::Kind>(7);
       }},
  };
  const std::vector<Change> of_loop = {
      {"other trips", [](Package* p) { p->segments[0].control.trips = 4; }},
      {"no trips", [](Package* p) { p->segments[0].control.trips = -1; }},
      {"many carried",
       [](Package* p) { p->segments[0].control.carried = UINT32_MAX; }},
      {"none carried", [](Package* p) { p->segments[0].control.carried = 0; }},
      {"many sequences",
       [](Package* p) { p->segments[0].control.sequences = UINT32_MAX; }},
      {"a condition that is not there",
       [](Package* p) { p->segments[0].control.has_condition = true; }},
      {"a result that is no condition",
       [](Package* p) { p->segments[0].control.conditional = true; }},
  };
  for (const bool loop : {false, true}) {
    std::vector<Change> changes = both;
    if (loop) changes.insert(changes.end(), of_loop.begin(), of_loop.end());
    for (const Change& change : changes) {
      Package package = loop ? Repeated() : Choice(Copying());
      change.apply(&package);
      const auto read = Parse(Serialize(package));
      EXPECT_FALSE(read.ok()) << change.what << (loop ? " of a Loop" : "");
      EXPECT_TRUE(absl::IsInvalidArgument(read.status()) ||
                  absl::IsFailedPrecondition(read.status()))
          << read.status();
    }
  }
}

}  // namespace
}  // namespace heddle::package
