// SPDX-License-Identifier: Apache-2.0
// Nodes that several threads share have the bytes that one thread gives, which
// are those of the reference.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/compiler.h"
#include "compiler/host/host_function.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/lent_threads.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

struct Case {
  std::string op;
  std::vector<Shape> inputs;
  std::function<void(onnx::NodeProto*)> attributes = nullptr;
  int outputs = 1;
};

std::vector<Case> Cases() {
  const Shape rows = {401, 707}, image = {4, 12, 101, 127},
              picture = {2, 12, 91, 97};
  const auto integer = [](const char* name, int64_t value) {
    return [name, value](onnx::NodeProto* node) { SetInt(node, name, value); };
  };
  const auto ints = [](const char* name, std::vector<int64_t> values) {
    return [name, values = std::move(values)](onnx::NodeProto* node) {
      SetInts(node, name, values);
    };
  };
  return {
      {"Exp", {rows}},
      {"Tanh", {rows}},
      {"Sigmoid", {rows}},
      {"Erf", {rows}},
      {"Log", {rows}},
      {"Sin", {rows}},  // interpreted
      {"Softsign", {{601, 1007}}},
      {"Pow", {rows, {1}}},
      {"Softmax", {rows}},
      {"Softmax", {image}, integer("axis", 1)},
      {"LogSoftmax", {rows}, integer("axis", 0)},
      {"LayerNormalization", {rows, {707}, {707}}, nullptr, 3},
      {"InstanceNormalization", {image, {12}, {12}}},
      {"BatchNormalization", {image, {12}, {12}, {12}, {12}}},
      {"ReduceMean", {{1001, 2707}}, ints("axes", {1})},
      {"ReduceMax", {{1001, 2707}}, ints("axes", {0})},
      {"ReduceL2", {{3, 501, 1707}}, ints("axes", {1})},
      {"GlobalAveragePool", {{4, 64, 101, 101}}},
      {"MatMul", {{67, 301}, {301, 199}}},
      {"MatMul", {{2, 150, 128}, {2, 128, 250}}},
      {"Gemm", {{67, 301}, {199, 301}, {199}}, integer("transB", 1)},
      {"LSTM",
       {{30, 9, 120}, {1, 400, 120}, {1, 400, 100}},
       integer("hidden_size", 100),
       3},
      {"GridSample", {{2, 9, 60, 70}, {2, 150, 140, 2}}},
      {"Conv", {picture, {10, 12, 3, 3}}},
      {"Conv",
       {picture, {72, 6, 3, 5}, {72}},
       [](onnx::NodeProto* node) {
         SetInt(node, "group", 2);
         SetInts(node, "strides", {2, 3});
         SetInts(node, "pads", {1, 2, 0, 1});
       }},
  };
}

// Of numbers of no order, some of them special.
TensorData Values(const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    const auto random = static_cast<int64_t>(
        (static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15u >> 33) % 1'000'003);
    data.as<float>()[i] = static_cast<float>(random % 509 - 200) / 64;
  }
  return data;
}

struct Built {
  HostFunction host;
  std::vector<TensorData> inputs;
};

absl::StatusOr<Built> Build(const Case& c) {
  ModelBuilder b(17);
  std::vector<std::string> names, results;
  std::vector<TensorData> data;
  for (const Shape& shape : c.inputs) {
    names.push_back("x" + std::to_string(names.size()));
    b.Input(names.back(), DataType::kFloat, shape);
    data.push_back(Values(shape));
  }
  for (int i = 0; i < c.outputs; ++i) {
    results.push_back("y" + std::to_string(i));
  }
  onnx::NodeProto* node = b.Node(c.op, names, results);
  if (c.attributes) c.attributes(node);
  for (const std::string& y : results) b.Output(y);
  CompileOptions options;
  options.features.fuse_elementwise = false;
  options.keep_direct = true;
  auto graph = AnalyseOnnx(b.Bytes(), options);
  if (!graph.ok()) return graph.status();
  auto host = HostFunction::Make(*std::move(graph));
  if (!host.ok()) return host.status();
  return Built{*std::move(host), std::move(data)};
}

std::vector<std::vector<uint8_t>> Space(const HostFunction& host) {
  std::vector<std::vector<uint8_t>> results;
  for (TensorId id : host.graph().outputs) {
    const Tensor& t = host.graph().tensors[id];
    results.emplace_back(ElementCount(t.shape) * ElementBytes(t.type));
  }
  return results;
}

absl::Status RunHost(const Built& built,
                     const std::function<absl::Status()>& stop,
                     int64_t interval,
                     std::vector<std::vector<uint8_t>>* results) {
  std::vector<const uint8_t*> from;
  for (const TensorData& x : built.inputs) from.push_back(x.bytes.data());
  std::vector<uint8_t*> to;
  for (auto& result : *results) to.push_back(result.data());
  return built.host.Run(from, to, stop, interval);
}

TEST(Threads, BytesAreThoseOfTheReference) {
  const std::function<absl::Status()> stop = [] { return absl::OkStatus(); };
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.op);
    const auto built = Build(c);
    ASSERT_TRUE(built.ok()) << built.status();
    const auto values = EvaluateGraph(built->host.graph(), built->inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    for (int threads : {1, 2, 3, 7}) {
      LentThreads crew(threads);
      const CrewScope scope(&crew, stop);
      auto results = Space(built->host);
      ASSERT_TRUE(RunHost(*built, stop, kPaceInterval, &results).ok());
      for (size_t i = 0; i < results.size(); ++i) {
        const TensorId id = built->host.graph().outputs[i];
        EXPECT_TRUE((*values)[id].bytes == TensorBytes(results[i]))
            << threads << " threads, result " << i;
      }
      EXPECT_EQ(crew.offers() > 0, threads > 1);
    }
  }
}

TEST(Threads, AllOfThemEndWhenAsked) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.op);
    const auto built = Build(c);
    ASSERT_TRUE(built.ok()) << built.status();
    std::atomic<int> asked{0};
    const std::function<absl::Status()> stop = [&asked] {
      return ++asked > 3 ? absl::DeadlineExceededError("now")
                         : absl::OkStatus();
    };
    LentThreads crew(3);
    const CrewScope scope(&crew, stop, 4096);
    auto results = Space(built->host);
    EXPECT_EQ(RunHost(*built, stop, 4096, &results).code(),
              absl::StatusCode::kDeadlineExceeded);
  }
}

}  // namespace
}  // namespace heddle::compiler
