// SPDX-License-Identifier: Apache-2.0
// JudgeOnnx says what CompileOnnx does, and of models without initializers what
// it does with some choice of weights; Goal changes schedules, not verdicts.
#include "compiler/judge.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"

namespace heddle::compiler {
namespace {

Rejection Verdict(const std::string& model) {
  return RejectionOf(JudgeOnnx(model, {}).status());
}

bool Accepted(const ModelBuilder& b) {
  const auto graph = JudgeOnnx(b.Bytes(), {});
  if (!graph.ok()) ADD_FAILURE() << graph.status();
  return graph.ok();
}

// ---- With weights: the compiler's verdict

TEST(Judge, WhatTheBackEndRefuses) {
  // 1: of uint64, 2: to double, 3: to int64, 4: of int64, 5: no elements.
  for (int i = 1; i <= 5; ++i) {
    SCOPED_TRACE(i);
    ModelBuilder b;
    const DataType type = i == 1   ? DataType::kUint64
                          : i == 4 ? DataType::kInt64
                                   : DataType::kFloat;
    b.Input("x", type, {i == 5 ? 0 : 3}).Input("z", type, {i == 5 ? 0 : 3});
    switch (i) {
      case 1:
        b.Node("Max", {"x", "z"}, {"y"});
        break;
      case 2:
        SetInt(b.Node("Cast", {"x"}, {"y"}), "to", 11);
        b.Node("Relu", {"z"}, {"r"});
        break;
      case 3:
        b.Node("Add", {"x", "z"}, {"s"});
        SetInt(b.Node("Cast", {"s"}, {"y"}), "to", 7);
        break;
      case 4:
        b.Node("Pow", {"x", "z"}, {"y"});
        break;
      default:
        b.Node("Add", {"x", "z"}, {"y"});
    }
    b.Output("y");
    const Rejection compiled = RejectionOf(CompileOnnx(b.Bytes(), {}).status());
    EXPECT_NE(compiled, Rejection::kNone);
    EXPECT_EQ(Verdict(b.Bytes()), compiled);
  }
}

TEST(Judge, DeviceMemory) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1024});
  b.Constant("w", TensorData::Zeros(DataType::kFloat, {1024, 1024}));
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  CompileOptions options;
  for (uint64_t bytes : {uint64_t{1} << 20, uint64_t{16} << 20}) {
    options.device_memory_bytes = bytes;
    EXPECT_EQ(RejectionOf(JudgeOnnx(b.Bytes(), options).status()),
              RejectionOf(CompileOnnx(b.Bytes(), options).status()));
  }
}

// Equal weights count once, microprograms count too.
TEST(Judge, DeviceMemoryToThePage) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {4, 64});
  const TensorData w = RandomData(DataType::kFloat, {64, 64}, 1);
  b.Constant("w", w).Constant("v", w);
  b.Node("MatMul", {"x", "w"}, {"h"});
  b.Node("Sigmoid", {"h"}, {"s"});
  b.Node("MatMul", {"s", "v"}, {"y"});
  b.Output("y");
  CompileOptions options;
  options.goal = Goal::kCompileTime;  // the verdict's schedule
  const auto compiled = CompileOnnx(b.Bytes(), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto package = package::Parse(compiled->package);
  ASSERT_TRUE(package.ok()) << package.status();
  const auto pages = [](uint64_t bytes) {
    return (bytes + package::kPageBytes - 1) / package::kPageBytes *
           package::kPageBytes;
  };
  const uint64_t weights = pages(package->weights.size());
  const uint64_t needed = weights + pages(package->scratch_bytes) +
                          pages(package->io_bytes) +
                          pages(package->streams[0].size() * sizeof(uint32_t));
  const auto compile = [&](uint64_t bytes) {
    options.device_memory_bytes = bytes;
    return CompileOnnx(b.Bytes(), options);
  };
  const auto judge = [&](uint64_t bytes) {
    options.device_memory_bytes = bytes;
    return JudgeOnnx(b.Bytes(), options).status();
  };
  EXPECT_EQ(compile(needed)->package, compiled->package);
  EXPECT_TRUE(judge(needed).ok());
  // A byte less: there is no room for a second stream beside the matrix, which
  // is loaded as one piece.
  for (uint64_t bytes : {needed - 1, needed - weights}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(RejectionOf(compile(bytes).status()), Rejection::kNoDeviceMemory);
    EXPECT_EQ(judge(bytes), compile(bytes).status());
  }
}

// With a part of the weights in host memory.
TEST(Judge, WeightsInHostMemory) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 256});
  b.Constant("w", RandomData(DataType::kFloat, {256, 1024}, 1));
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  CompileOptions options;
  options.device_memory_bytes = 768 << 10;
  EXPECT_TRUE(JudgeOnnx(b.Bytes(), options).ok());
  const auto compiled = CompileOnnx(b.Bytes(), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_GT(compiled->report.copied_weight_bytes, 0u);
}

// ---- Without weights

TEST(Judge, WeightsMayComeLater) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 8, 8});
  b.Input("w", DataType::kFloat, {4, 3, 3, 3});
  b.Input("scale", DataType::kFloat, {4}).Input("bias", DataType::kFloat, {4});
  b.Input("mean", DataType::kFloat, {4}).Input("var", DataType::kFloat, {4});
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, {"n"});
  b.Node("Relu", {"n"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(Accepted(b));
}

TEST(Judge, QuantizationMayComeLater) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 8}).Input("xs", DataType::kFloat, {});
  b.Input("xz", DataType::kUint8, {}).Input("w", DataType::kInt8, {8, 4});
  b.Input("ws", DataType::kFloat, {}).Input("wz", DataType::kInt8, {});
  b.Node("QuantizeLinear", {"x", "xs", "xz"}, {"q"});
  b.Node("DequantizeLinear", {"q", "xs", "xz"}, {"d"});
  b.Node("DequantizeLinear", {"w", "ws", "wz"}, {"f"});
  b.Node("MatMul", {"d", "f"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(Accepted(b));
}

// Not every operator takes the same value.
TEST(Judge, ParametersWithARange) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2}).Input("ratio", DataType::kFloat, {});
  b.Input("w", DataType::kInt8, {2}).Input("s", DataType::kFloat, {});
  b.Node("DequantizeLinear", {"w", "s"}, {"f"});
  b.Node("Add", {"x", "f"}, {"t"});
  b.Node("Dropout", {"t", "ratio"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(Accepted(b));
}

// The values decide the shape: of one node with a declared result, in the
// middle of a graph, and through a chain of nodes.
TEST(Judge, ShapesMayComeLater) {
  for (const bool declared : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {2, 6}).Input("to", DataType::kInt64, {2});
    b.Node("Reshape", {"x", "to"}, {"y"});
    if (declared) {
      b.Output("y", DataType::kFloat, {3, 4});
    } else {
      b.Output("y");
    }
    EXPECT_TRUE(Accepted(b));
  }
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 6}).Input("pick", DataType::kInt64, {1});
  b.Input("rest", DataType::kInt64, {1}).Input("from", DataType::kInt64, {1});
  b.Input("end", DataType::kInt64, {1});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("Shape", {"r"}, {"s"});
  b.Node("Gather", {"s", "pick"}, {"g"});
  SetInt(b.Node("Concat", {"g", "rest"}, {"to"}), "axis", 0);
  b.Node("Reshape", {"r", "to"}, {"t"});
  b.Node("Slice", {"t", "from", "end"}, {"u"});
  b.Node("Sigmoid", {"u"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(Accepted(b));
}

// Computed from weights by way of a DequantizeLinear, which is folded late: no
// part of the graph, so that its types are none of the card's.
TEST(Judge, ShapesOfWhatWeightsDecideMayComeLater) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 6}).Input("w", DataType::kInt8, {6});
  b.Input("s", DataType::kFloat, {}).Input("from", DataType::kInt64, {1});
  b.Input("end", DataType::kInt64, {1});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("DequantizeLinear", {"w", "s"}, {"d"});
  SetInt(b.Node("Cast", {"d"}, {"i"}), "to", 7);
  b.Node("Slice", {"i", "from", "end"}, {"p"});
  auto* info = b.proto().mutable_graph()->add_value_info();
  info->set_name("p");
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(7);
  type->mutable_shape()->add_dim()->set_dim_value(3);
  b.Node("Max", {"p", "p"}, {"m"});
  b.Output("r").Output("m");
  EXPECT_TRUE(Accepted(b));
}

TEST(Judge, WhatNoWeightsHelpIsRefused) {
  // Before and behind a shape that is not known.
  for (const bool behind : {false, true}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {2, 6}).Input("to", DataType::kInt64, {1});
    SetInt(b.Node("Cast", {behind ? "t" : "x"}, {"d"}), "to", 11);
    b.Node("Reshape", {behind ? "x" : "d", "to"}, {behind ? "t" : "y"});
    if (behind) {
      b.proto().mutable_graph()->mutable_node()->SwapElements(0, 1);
      auto* info = b.proto().mutable_graph()->add_value_info();
      info->set_name("t");
      auto* type = info->mutable_type()->mutable_tensor_type();
      type->set_elem_type(1);
      type->mutable_shape()->add_dim()->set_dim_value(12);
    }
    b.Output(behind ? "d" : "y");
    EXPECT_NE(Verdict(b.Bytes()), Rejection::kNone) << behind;
  }
  ModelBuilder unknown;
  unknown.Input("x", DataType::kFloat, {2}).Input("w", DataType::kFloat, {2});
  unknown.Node("NoSuch", {"x", "w"}, {"y"});
  unknown.Output("y");
  EXPECT_EQ(Verdict(unknown.Bytes()), Rejection::kUnsupportedOperator);
}

// A few bytes that declare much.
TEST(Judge, WeightsThatFitNoCard) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1 << 14});
  b.Input("to", DataType::kInt64, {int64_t{1} << 28});
  b.Node("Reshape", {"x", "to"}, {"y"});
  b.Output("y");
  CompileOptions options;
  options.device_memory_bytes = 1 << 28;
  EXPECT_FALSE(JudgeOnnx(b.Bytes(), options).ok());
}

// ---- Goals

CompileResult Compile(const std::string& model, Goal goal) {
  CompileOptions options;
  options.goal = goal;
  auto result = CompileOnnx(model, options);
  if (!result.ok()) ADD_FAILURE() << result.status();
  return result.ok() ? *std::move(result) : CompileResult();
}

TEST(Goals, TimeOfARunTrafficAndTimeToCompile) {
  const std::string model = MakeNetwork("resnet8");
  const CompileReport speed = Compile(model, Goal::kSpeed).report;
  const CompileReport traffic = Compile(model, Goal::kTraffic).report;
  const CompileReport quick = Compile(model, Goal::kCompileTime).report;
  EXPECT_LT(traffic.dram_bytes, speed.dram_bytes);
  EXPECT_LT(speed.estimated_cycles, traffic.estimated_cycles);
  EXPECT_LT(speed.estimated_cycles, quick.estimated_cycles);
}

// Of many networks the usual search finds the best, too.
TEST(Goals, MoreSchedules) {
  const std::string model = MakeNetwork("deit_tiny");
  EXPECT_LT(Compile(model, Goal::kThorough).report.estimated_cycles,
            Compile(model, Goal::kSpeed).report.estimated_cycles);
}

}  // namespace
}  // namespace heddle::compiler
