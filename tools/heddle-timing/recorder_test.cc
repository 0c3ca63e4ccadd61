// SPDX-License-Identifier: Apache-2.0
// The recorder on a core whose time is invented; on the RTL:
// independence_test.cc.
#include "tools/heddle-timing/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "simulator/rtl/fake_core.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::timing {
namespace {

using compiler::DataType;

package::Package Compile(const std::string& model, uint64_t memory = 0) {
  compiler::CompileOptions options;
  options.device_memory_bytes = memory;
  const auto compiled = compiler::CompileOnnx(model, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? *package::Parse(compiled->package)
                       : package::Package();
}

std::vector<compiler::TensorData> InputsOf(const package::Package& package) {
  std::vector<compiler::TensorData> inputs;
  for (const package::TensorInfo& info : package.inputs) {
    inputs.push_back(compiler::RandomData(info.type, info.shape, 1));
  }
  return inputs;
}

// The commands are the package's, and engines take and end theirs in order.
void ExpectSound(const package::Package& package, const CoreRun& run) {
  ASSERT_EQ(run.streams.size(), package.streams.size());
  uint64_t cycles = 0;
  for (size_t s = 0; s < run.streams.size(); ++s) {
    const RecordedStream& stream = run.streams[s];
    const auto commands = EngineCommands(package.streams[s]);
    ASSERT_TRUE(commands.ok());
    ASSERT_EQ(stream.commands.size(), commands->size());
    EXPECT_FALSE(commands->empty());
    std::map<isa::Engine, RecordedCommand> last;
    for (size_t i = 0; i < commands->size(); ++i) {
      const RecordedCommand& c = stream.commands[i];
      EXPECT_EQ(c.offset, (*commands)[i].offset);
      EXPECT_LE(c.begin, c.end);
      EXPECT_LE(c.end, stream.cycles);
      const auto before = last.find((*commands)[i].engine);
      if (before != last.end()) {
        EXPECT_LE(before->second.begin, c.begin);
        EXPECT_LE(before->second.end, c.end);
      }
      last[(*commands)[i].engine] = c;
    }
    cycles += stream.cycles;
  }
  EXPECT_EQ(run.cycles, cycles);
}

TEST(Recorder, EveryCommandHasItsTimes) {
  const package::Package package = Compile(compiler::MakeNetwork("ds_cnn"));
  rtl::FakeCore core(isa::kH256, {});
  size_t calls = 0;
  const auto run = RunAndRecord(package, InputsOf(package), &core,
                                [&calls](size_t, uint64_t) { ++calls; });
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_GT(calls, 0u);
  ExpectSound(package, *run);
  for (const RecordedCommand& c : run->streams[0].commands) {
    EXPECT_FALSE(c.inexact);
  }
  EXPECT_GT(run->streams[0].commands.back().end, 0u);
  // A core that has run before has the same times.
  const auto again = RunAndRecord(package, InputsOf(package), &core);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->streams == run->streams);
}

TEST(Recorder, WeightsThatAreCopiedBetweenStreams) {
  const std::string model = compiler::MakeNetwork("fully_connected");
  const package::Package whole = Compile(model);
  const package::Package package = Compile(model, whole.weights.size() * 3 / 4);
  ASSERT_FALSE(package.weight_plan.empty());
  ASSERT_GT(package.streams.size(), 1u);
  rtl::FakeCore core(isa::kH256, {});
  const auto run = RunAndRecord(package, InputsOf(package), &core);
  ASSERT_TRUE(run.ok()) << run.status();
  ExpectSound(package, *run);
}

// What is over before the gather is exact, what comes after it is not.
TEST(Recorder, TimesThatDependOnIndices) {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {64, 24});
  b.Input("i", DataType::kInt32, {40});
  b.Constant("table",
             compiler::Floats({500, 24}, std::vector<float>(500 * 24, 1)));
  b.Node("Gather", {"table", "i"}, {"rows"});
  b.Node("Exp", {"x"}, {"e"});
  b.Node("MatMul", {"rows", "m"}, {"y"});
  b.Constant("m", compiler::Floats({24, 8}, std::vector<float>(24 * 8, 1)));
  b.Output("y", DataType::kFloat, {40, 8});
  b.Output("e", DataType::kFloat, {64, 24});
  const package::Package package = Compile(b.Bytes());
  ASSERT_EQ(package.streams.size(), 1u);
  std::vector<compiler::TensorData> inputs = InputsOf(package);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (package.inputs[i].name == "i") {
      inputs[i] = compiler::Int32s({40}, std::vector<int32_t>(40, 77));
    }
  }
  rtl::FakeCore core(isa::kH256, {});
  const auto run = RunAndRecord(package, inputs, &core);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto commands = EngineCommands(package.streams[0]);
  const std::vector<RecordedCommand>& times = run->streams[0].commands;
  uint64_t gather = UINT64_MAX;
  for (size_t i = 0; i < times.size(); ++i) {
    if ((*commands)[i].by_index) gather = std::min(gather, times[i].begin);
  }
  ASSERT_NE(gather, UINT64_MAX);
  size_t exact = 0;
  for (const RecordedCommand& c : times) {
    EXPECT_EQ(c.inexact, c.end >= gather) << c.offset;
    exact += !c.inexact;
  }
  EXPECT_GT(exact, 0u);
  EXPECT_LT(exact, times.size());
}

TEST(Recorder, WhatGoesWrongIsSaid) {
  const package::Package package = Compile(compiler::MakeNetwork("ds_cnn"));
  rtl::FakeCore core(isa::kH256, {});
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunAndRecord(package, {}, &core).status()));
  std::vector<compiler::TensorData> inputs = InputsOf(package);
  inputs[0].bytes = std::vector<uint8_t>(3);
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunAndRecord(package, inputs, &core).status()));
  rtl::InjectedFault fault;
  fault.kind = rtl::InjectedFault::Kind::kWrongStatus;
  core.Inject(fault);
  const absl::Status status =
      RunAndRecord(package, InputsOf(package), &core).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
}

}  // namespace
}  // namespace heddle::timing
