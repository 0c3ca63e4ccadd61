// SPDX-License-Identifier: Apache-2.0
// Graphs at the edges: what the card cannot describe is refused with a kind and
// the node's name, everything else equals the reference semantics.
#include "compiler/backend/backend.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

class Builder {
 public:
  TensorId Input(DataType type, const Shape& shape) {
    Tensor t;
    t.name = "x" + std::to_string(graph.tensors.size());
    t.type = type;
    t.shape = shape;
    t.shape_known = true;
    const TensorId id = graph.AddTensor(t);
    graph.inputs.push_back(id);
    return id;
  }
  TensorId Constant(TensorData data) {
    return graph.AddConstant("c" + std::to_string(graph.tensors.size()),
                             std::move(data));
  }
  // Codes that are all different enough.
  TensorId Codes(DataType type, const Shape& shape) {
    TensorData data = TensorData::Zeros(type, shape);
    for (uint8_t& b : data.bytes) b = static_cast<uint8_t>(random());
    return Constant(std::move(data));
  }
  TensorId Real(float v) { return Constant(Floats({}, {v})); }
  TensorId Node(const std::string& op, std::vector<TensorId> inputs,
                std::map<std::string, Attribute> attributes = {},
                const std::string& domain = "") {
    heddle::compiler::Node node;
    node.op = op;
    node.domain = domain;
    node.opset = domain.empty() ? 13 : 1;
    node.name = "the_" + op;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    const TensorId out = graph.AddTemporary("y", DataType::kUndefined, {});
    node.outputs = {out};
    const OperatorInfo* info = FindOperator(domain, op, node.opset);
    EXPECT_NE(info, nullptr);
    const absl::Status checked = CheckNode(graph, node);
    EXPECT_TRUE(checked.ok()) << checked;
    const absl::Status inferred = info->infer(&graph, node);
    EXPECT_TRUE(inferred.ok()) << inferred;
    graph.tensors[out].shape_known = true;
    graph.nodes.push_back(node);
    return out;
  }
  // QLinearConv of codes with weights of shape `w`.
  TensorId Conv(TensorId x, const Shape& w,
                std::map<std::string, Attribute> attributes = {}) {
    const TensorId zero = Codes(DataType::kUint8, {});
    return Node("QLinearConv",
                {x, Real(0.02f), zero, Codes(DataType::kInt8, w), Real(0.01f),
                 Codes(DataType::kInt8, {}), Real(0.5f), zero},
                std::move(attributes));
  }

  Graph graph;
  std::mt19937 random{1};
};

// Compiles with `outputs`, runs on every configuration and compares.
void ExpectEqual(Builder* b, std::vector<TensorId> outputs,
                 std::vector<TensorData> inputs = {}, uint64_t sram_bytes = 0) {
  b->graph.outputs = std::move(outputs);
  ASSERT_TRUE(b->graph.Verify().ok()) << b->graph.Verify();
  if (inputs.empty()) {
    for (TensorId id : b->graph.inputs) {
      const Tensor& t = b->graph.tensors[id];
      TensorData data = TensorData::Zeros(t.type, t.shape);
      if (t.type == DataType::kFloat) {
        for (int64_t i = 0; i < data.count(); ++i) {
          data.as<float>()[i] =
              static_cast<float>(b->random() % 2001) / 500 - 2;
        }
      } else {
        for (uint8_t& v : data.bytes) v = static_cast<uint8_t>(b->random());
      }
      inputs.push_back(std::move(data));
    }
  }
  auto expected = EvaluateGraph(b->graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const isa::Config& config : isa::kConfigs) {
    CompileOptions options;
    options.config = config.name;
    options.sram_bytes = sram_bytes;
    auto result = GeneratePackage(b->graph, options);
    ASSERT_TRUE(result.ok()) << config.name << ": " << result.status();
    const auto package = package::Parse(
        package::Serialize(result->package, std::move(result->weights)));
    ASSERT_TRUE(package.ok()) << package.status();
    auto run = RunPackage(*package, inputs);
    ASSERT_TRUE(run.ok()) << config.name << ": " << run.status();
    for (TensorId id : b->graph.outputs) {
      EXPECT_TRUE(run->outputs[b->graph.tensors[id].name].bytes ==
                  (*expected)[id].bytes)
          << config.name << " " << b->graph.tensors[id].name;
    }
  }
}

// Refused with `kind` and a message that holds `text`.
void ExpectRefused(Builder* b, TensorId output, Rejection kind,
                   const std::string& text) {
  b->graph.outputs = {output};
  for (const isa::Config& config : isa::kConfigs) {
    CompileOptions options;
    options.config = config.name;
    auto result = GeneratePackage(b->graph, options);
    ASSERT_FALSE(result.ok()) << config.name;
    EXPECT_EQ(RejectionOf(result.status()), kind) << result.status();
    EXPECT_NE(result.status().message().find(text), std::string::npos)
        << result.status();
  }
}

// Strides, kernels, dilations and rows beyond a command's fields.
TEST(Backend, WhatNoMatrixCommandDescribesIsDoneInSeveral) {
  {
    Builder b;
    const TensorId x = b.Input(DataType::kUint8, {1, 16, 40, 40});
    ExpectEqual(&b, {b.Conv(x, {16, 16, 1, 1}, {{"strides", Shape{16, 16}}})});
  }
  {
    Builder b;
    const TensorId x = b.Input(DataType::kUint8, {1, 16, 300, 1});
    ExpectEqual(&b, {b.Conv(x, {16, 16, 256, 1})});
  }
  {
    Builder b;
    const TensorId x = b.Input(DataType::kInt8, {1, 1, 8, 300});
    ExpectEqual(&b, {b.Node("MaxPool", {x},
                            {{"kernel_shape", Shape{1, 2}},
                             {"dilations", Shape{1, 256}}})});
  }
  {
    Builder b;
    const TensorId x = b.Input(DataType::kUint8, {70000, 4});
    const TensorId z = b.Codes(DataType::kUint8, {});
    ExpectEqual(&b, {b.Node("QLinearMatMul",
                            {x, b.Real(1), z, b.Codes(DataType::kUint8, {4, 4}),
                             b.Real(1), z, b.Real(1), z})});
  }
}

TEST(Backend, LongDimensionsOnTheVectorEngine) {
  {
    Builder b;
    const TensorId x = b.Input(DataType::kFloat, {70001, 2});
    const TensorId w = b.Constant(Floats({2, 1}, {0.5f, -3}));
    ExpectEqual(&b, {b.Node("MatMul", {x, w}), b.Node("Relu", {x})});
  }
  {
    Builder b;
    const TensorId x = b.Input(DataType::kFloat, {1, 1, 1, 70001});
    const TensorId w = b.Constant(Floats({1, 1, 1, 1}, {0.5f}));
    ExpectEqual(&b, {b.Node("Conv", {x, w})});
  }
}

TEST(Backend, WhatCommandsCannotAddressIsRefused) {
  {
    Builder b;
    const TensorId x = b.Input(DataType::kFloat, {int64_t{1} << 29});
    ExpectRefused(&b, b.Node("Relu", {x}), Rejection::kNoDeviceMemory,
                  "inputs and outputs take 4294967296 bytes");
  }
  {
    // Every image is a tile.
    Builder b;
    const TensorId x = b.Input(DataType::kUint8, {9 << 20, 1, 1, 1});
    ExpectRefused(&b, b.Node("MaxPool", {x}, {{"kernel_shape", Shape{1, 1}}}),
                  Rejection::kUnsupportedShape, "a package has at most");
  }
}

TEST(Backend, GroupsThatWouldBecomeHugeWeightsAreRefused) {
  Builder b;
  // (a number that no multiple of 16 divides)
  const TensorId x = b.Input(DataType::kUint8, {1, 32767, 1, 1});
  ExpectRefused(&b, b.Conv(x, {65534, 1, 1, 1}, {{"group", int64_t{32767}}}),
                Rejection::kUnsupportedShape, "in 32767 groups");
}

TEST(Backend, TensorsWithoutElementsAreRefused) {
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {0, 3});
  ExpectRefused(&b, b.Node("Relu", {x}), Rejection::kUnsupportedShape,
                "has no elements");
}

TEST(Backend, IntegersAreDivided) {
  Builder b;
  const TensorId x = b.Input(DataType::kInt32, {4});
  ExpectEqual(&b, {b.Node("Div", {x, b.Constant(Int32s({}, {3}))})});
}

TEST(Backend, AnInputMayBeAnOutputTwiceAndUsed) {
  Builder b;
  const TensorId x = b.Input(DataType::kUint8, {1, 3, 5, 7});
  const TensorId same = b.Node("Identity", {x});
  ExpectEqual(&b, {b.Conv(x, {16, 3, 3, 3}), x, same});
}

TEST(Backend, ConstantOperandsAndOutputs) {
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {2, 3, 4, 5});
  TensorData data = TensorData::Zeros(DataType::kFloat, {2, 3, 4, 5});
  for (int64_t i = 0; i < data.count(); ++i) data.as<float>()[i] = i;
  const TensorId c = b.Constant(data);
  const TensorId codes = b.Codes(DataType::kInt8, {1, 5, 6, 6});
  ExpectEqual(&b, {b.Node("Relu", {c}), b.Node("Add", {x, c}), c,
                   b.Node("MaxPool", {codes}, {{"kernel_shape", Shape{2, 2}}}),
                   b.Node("Reshape", {c, b.Constant(Int64s({1}, {-1}))})});
}

TEST(Backend, OneImageServesAllImages) {
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {3, 4, 5, 6});
  const TensorId y = b.Input(DataType::kFloat, {1, 4, 1, 6});
  ExpectEqual(&b,
              {b.Node("Sub", {b.Node("Relu", {y}), x}), b.Node("Mul", {x, y})});
}

TEST(Backend, ProductOfAFlattenedMatrix) {
  // A blocked matrix of several rows is no image: it may not be read in place.
  Builder b;
  const TensorId x = b.Input(DataType::kUint8, {4, 8});
  const TensorId z = b.Codes(DataType::kUint8, {});
  const TensorId flat =
      b.Node("Reshape", {x, b.Constant(Int64s({2}, {1, 32}))});
  ExpectEqual(&b, {b.Node("QLinearMatMul",
                          {flat, b.Real(0.02f), z,
                           b.Codes(DataType::kInt8, {32, 5}), b.Real(0.02f),
                           b.Codes(DataType::kInt8, {}), b.Real(0.1f), z})});
}

TEST(Backend, BiasOfAProductPerRow) {
  for (const Shape& shape : {Shape{5, 1}, Shape{1, 5}}) {
    Builder b;
    const TensorId a = b.Input(DataType::kUint8, {5, 7});
    const TensorId z = b.Codes(DataType::kUint8, {});
    const TensorId y =
        b.Node("QGemm",
               {a, b.Real(0.02f), z, b.Codes(DataType::kInt8, {7, 5}),
                b.Real(0.02f), b.Codes(DataType::kInt8, {}),
                b.Constant(Int32s(shape, {1, 10000, -20000, 400, -5})),
                b.Real(0.1f), z},
               {}, "com.microsoft");
    ExpectEqual(&b, {y});
  }
}

TEST(Backend, MaxPoolKeepsANanBesideThePadding) {
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {1, 1, 2, 3});
  const TensorId y =
      b.Node("MaxPool", {b.Node("Identity", {x})},
             {{"kernel_shape", Shape{2, 2}}, {"pads", Shape{0, 0, 1, 1}}});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  ExpectEqual(&b, {y}, {Floats({1, 1, 2, 3}, {1, nan, -inf, 2, -inf, nan})});
}

TEST(Backend, ClipWithoutBoundsEndsAtTheLargestNumber) {
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {4});
  const float inf = std::numeric_limits<float>::infinity();
  ExpectEqual(
      &b, {b.Node("Clip", {x})},
      {Floats({4}, {inf, -inf, 1, std::numeric_limits<float>::quiet_NaN()})});
}

TEST(Backend, QuantizeAlongAnyAxis) {
  for (int64_t axis = 0; axis < 5; ++axis) {
    Builder b;
    const Shape shape = {2, 3, 4, 5, 6};
    const TensorId x = b.Input(DataType::kFloat, shape);
    const int64_t n = shape[axis];
    std::vector<float> scales;
    for (int64_t i = 0; i < n; ++i) scales.push_back(0.01f * (i + 1));
    const TensorId scale = b.Constant(Floats({n}, scales));
    const TensorId zero = b.Codes(DataType::kInt8, {n});
    const TensorId q =
        b.Node("QuantizeLinear", {x, scale, zero}, {{"axis", axis}});
    ExpectEqual(&b, {q, b.Node("DequantizeLinear", {q, scale, zero},
                               {{"axis", axis}})});
  }
}

TEST(Backend, PackedRowsThatAreSpilled) {
  // Rows of 3*7 bytes are padded to words; the padding is never written.
  Builder b;
  const TensorId x = b.Input(DataType::kFloat, {2, 3, 60, 71});
  const TensorId q = b.Node("QuantizeLinear",
                            {x, b.Real(0.02f), b.Codes(DataType::kUint8, {})});
  ExpectEqual(&b, {b.Conv(q, {16, 3, 3, 3}, {{"strides", Shape{2, 2}}})}, {},
              24 << 10);
}

TEST(Backend, AnUnknownConfigurationIsNoRejectionOfTheModel) {
  CompileOptions options;
  options.config = "h3";
  Builder b;
  EXPECT_EQ(GeneratePackage(b.graph, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace heddle::compiler
