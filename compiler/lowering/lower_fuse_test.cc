// SPDX-License-Identifier: Apache-2.0
// Stages behind the matrix engine: equal to the separate operators byte for
// byte, really fused, with taps of what is fused away.
#include <gtest/gtest.h>

#include <string>

#include "compiler/compiler.h"
#include "compiler/device_ops/fuse.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

constexpr DataType kU8 = DataType::kUint8;

class Net {
 public:
  explicit Net(DataType type = kU8) : type_(type) {}

  Net& Input(const std::string& name, const Shape& shape) {
    b_.Input(name, type_, shape);
    inputs_.push_back(RandomData(type_, shape, inputs_.size() + 1));
    return *this;
  }
  // Convolution of x to y with weights [co, ci, k, k].
  onnx::NodeProto* Conv(const std::string& x, const std::string& y, int64_t co,
                        int64_t ci, int64_t k, int64_t pad = 0) {
    auto* node =
        b_.Node("QLinearConv",
                {x, Scale(0.02f), Zero(3),
                 Data(RandomData(DataType::kInt8, {co, ci, k, k}, ++seed_)),
                 Scale(0.004f), Data(Int8s({}, {0})), Scale(0.05f), Zero(7)},
                {y});
    SetInts(node, "pads", {pad, pad, pad, pad});
    return node;
  }
  void Binary(const std::string& op, const std::string& a, const std::string& b,
              const std::string& y) {
    b_.Node(op,
            {a, Scale(0.05f), Zero(9), b, Scale(0.031f), Zero(4), Scale(0.07f),
             Zero(11)},
            {y}, "com.microsoft");
  }
  void Unary(const std::string& op, const std::string& x,
             const std::string& y) {
    b_.Node(op, {x, Scale(0.05f), Zero(7), Scale(0.01f), Zero(2)}, {y},
            "com.microsoft");
  }
  onnx::NodeProto* Node(const std::string& op, const std::string& x,
                        const std::string& y) {
    return b_.Node(op, {x}, {y});
  }
  // The card equals the reference; one layer per matrix operation named in
  // `ops`, in this order, with all of h256's SRAM.
  void Expect(const std::string& output, const std::vector<std::string>& ops) {
    b_.Output(output);
    CardCase sizes;
    sizes.sram_bytes = {0, 24 << 10, 12 << 10, 8 << 10};
    ExpectCardEqualsReference(b_.Bytes(), inputs_, sizes);
    CompileOptions single;
    single.features.cascade = false;
    auto result = CompileOnnx(b_.Bytes(), single);
    ASSERT_TRUE(result.ok()) << result.status();
    std::vector<std::string> made;
    for (const LayerReport& l : result->report.layers) made.push_back(l.op);
    EXPECT_EQ(made, ops);
    ExpectTaps();
  }

 private:
  // Every quantized tensor, fused away or not.
  void ExpectTaps() {
    auto graph = AnalyseOnnx(b_.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    auto expected = EvaluateGraph(*graph, inputs_);
    ASSERT_TRUE(expected.ok()) << expected.status();
    CompileOptions options;
    auto production = CompileOnnx(b_.Bytes(), options);
    ASSERT_TRUE(production.ok());
    options.taps = true;
    auto result = CompileOnnx(b_.Bytes(), options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->report.estimated_cycles > 0,
              production->report.estimated_cycles > 0);
    auto package = package::Parse(result->package);
    ASSERT_TRUE(package.ok()) << package.status();
    model::Options model_options;
    model_options.detect_races = true;
    auto run = RunPackage(*package, inputs_, model_options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(run->findings.empty());
    size_t computed = 0;
    for (size_t id = 0; id < graph->tensors.size(); ++id) {
      const Tensor& t = graph->tensors[id];
      if (t.is_constant()) continue;
      ++computed;
      ASSERT_EQ(run->outputs.count(t.name), 1u) << t.name;
      EXPECT_EQ(run->outputs[t.name].bytes, (*expected)[id].bytes) << t.name;
    }
    EXPECT_EQ(package->taps.size(), computed);
  }

  std::string Data(const TensorData& data) {
    const std::string name = "c" + std::to_string(++constants_);
    b_.Constant(name, data);
    return name;
  }
  std::string Scale(float s) { return Data(Floats({}, {s})); }
  std::string Zero(uint8_t z) {
    TensorData data = TensorData::Zeros(type_, {});
    data.bytes[0] = z;
    return Data(data);
  }

  DataType type_;
  ModelBuilder b_;
  std::vector<TensorData> inputs_;
  uint64_t seed_ = 100;
  int constants_ = 0;
};

TEST(Fuse, AddInBothOrdersAndTypes) {
  for (DataType type : {kU8, DataType::kInt8}) {
    for (bool first : {false, true}) {
      Net net(type);
      net.Input("x", {2, 20, 9, 11});
      net.Input("r", {2, 36, 9, 11});
      net.Conv("x", "m", 36, 20, 3, 1);
      net.Binary("QLinearAdd", first ? "r" : "m", first ? "m" : "r", "y");
      net.Expect("y", {"QLinearConv+QLinearAdd"});
    }
  }
}

TEST(Fuse, Mul) {
  Net net;
  net.Input("x", {1, 20, 9, 11});
  net.Conv("x", "m", 20, 20, 1);
  net.Binary("QLinearMul", "x", "m", "y");
  net.Expect("y", {"QLinearConv+QLinearMul"});
}

TEST(Fuse, TheLaterOfTwoBranchesTakesTheAdd) {
  Net net;
  net.Input("x", {1, 20, 9, 11});
  net.Conv("x", "m", 24, 20, 3, 1);
  net.Conv("x", "s", 24, 20, 1);
  net.Binary("QLinearAdd", "m", "s", "y");
  net.Expect("y", {"QLinearConv", "QLinearConv+QLinearAdd"});
}

TEST(Fuse, AProducerWaitsForTheOtherOperand) {
  // s is read twice, so the add goes into the earlier convolution, which must
  // then come later.
  Net net;
  net.Input("x", {1, 20, 9, 11});
  net.Conv("x", "m", 24, 20, 3, 1);
  net.Conv("x", "s", 24, 20, 1);
  net.Binary("QLinearAdd", "m", "s", "t");
  net.Binary("QLinearAdd", "t", "s", "y");
  net.Expect("y", {"QLinearConv", "QLinearConv+QLinearAdd", "QLinearAdd"});
}

TEST(Fuse, TableThenAddThenAverage) {
  Net net;
  net.Input("x", {1, 20, 9, 11});
  net.Conv("x", "m", 20, 20, 3, 1);
  net.Unary("QLinearLeakyRelu", "m", "t");
  net.Binary("QLinearAdd", "x", "t", "s");
  net.Unary("QLinearGlobalAveragePool", "s", "y");
  net.Expect(
      "y",
      {"QLinearConv+QLinearLeakyRelu+QLinearAdd+QLinearGlobalAveragePool"});
}

TEST(Fuse, SigmoidInGroups) {
  Net net;
  net.Input("x", {1, 40, 3, 5});
  net.Conv("x", "m", 100, 40, 3, 1);
  net.Unary("QLinearSigmoid", "m", "y");
  net.Expect("y", {"QLinearConv+QLinearSigmoid"});
}

TEST(Fuse, MaxPool) {
  struct Case {
    int64_t kernel, stride, pad;
  };
  for (const Case& c : {Case{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {2, 3, 1}}) {
    SCOPED_TRACE(c.kernel * 100 + c.stride * 10 + c.pad);
    Net net(DataType::kInt8);
    net.Input("x", {1, 20, 13, 11});
    net.Input("r", {1, 24, 13, 11});
    net.Conv("x", "m", 24, 20, 3, 1);
    net.Binary("QLinearAdd", "m", "r", "s");
    auto* pool = net.Node("MaxPool", "s", "y");
    SetInts(pool, "kernel_shape", {c.kernel, c.kernel});
    SetInts(pool, "strides", {c.stride, c.stride});
    SetInts(pool, "pads", {c.pad, c.pad, c.pad, c.pad});
    net.Expect("y", {"QLinearConv+QLinearAdd+MaxPool"});
  }
}

TEST(Fuse, ATensorThatIsReadTwiceOrAnOutputStays) {
  Net net;
  net.Input("x", {1, 20, 9, 11});
  net.Conv("x", "m", 20, 20, 1);
  net.Binary("QLinearAdd", "m", "x", "s");
  net.Binary("QLinearAdd", "m", "s", "y");
  net.Expect("y", {"QLinearConv", "QLinearAdd", "QLinearAdd"});
}

}  // namespace
}  // namespace heddle::compiler
