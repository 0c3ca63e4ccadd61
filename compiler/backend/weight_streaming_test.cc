// SPDX-License-Identifier: Apache-2.0
// Packages for less device memory than their weights take: the same results, as
// little copied as possible, and rejections that say what is missing.
#include "compiler/backend/weight_streaming.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kPage = package::kPageBytes;

uint64_t PageUp(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// As the driver counts.
uint64_t DeviceBytes(const package::Package& p) {
  uint64_t bytes =
      p.weight_device_bytes() + PageUp(p.scratch_bytes) + PageUp(p.io_bytes);
  for (const auto& s : p.streams) bytes += PageUp(s.size() * sizeof(uint32_t));
  return bytes;
}

// `layers` products of so many rows with weights of 256 KiB each: with 2 rows
// they take as long to load as to use.
std::string Products(int layers, int rows = 2) {
  ModelBuilder b;
  b.Input("x0", DataType::kFloat, {rows, 256});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    b.Constant("w" + n, RandomData(DataType::kFloat, {256, 256}, i + 1));
    b.Node("MatMul", {"x" + n, "w" + n}, {"p" + n});
    b.Node("Tanh", {"p" + n}, {"x" + std::to_string(i + 1)});
  }
  b.Output("x" + std::to_string(layers));
  return b.Bytes();
}

// 20,000 rows, any of which one command may read.
std::string Table() {
  ModelBuilder b;
  b.Input("i", DataType::kInt32, {5});
  b.Constant("t", RandomData(DataType::kFloat, {20000, 16}, 1));
  b.Node("Gather", {"t", "i"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

CompileOptions Options(uint64_t device_memory, const char* config = "h256") {
  CompileOptions options;
  options.config = config;
  options.device_memory_bytes = device_memory;
  return options;
}

package::Package Compile(const std::string& model, CompileOptions options) {
  const auto result = CompileOnnx(model, options);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return {};
  }
  auto package = package::Parse(result->package);
  if (!package.ok()) {
    ADD_FAILURE() << package.status();
    return {};
  }
  if (options.device_memory_bytes != 0) {
    EXPECT_LE(DeviceBytes(*package), options.device_memory_bytes);
  }
  EXPECT_LE(package->streams.size() + package->weight_plan.copies.size(),
            kMostWeightSteps);
  EXPECT_EQ(result->report.region0_bytes, package->region0_bytes());
  EXPECT_EQ(result->report.window_bytes,
            package->weight_plan.windows * package->weight_plan.window_bytes);
  EXPECT_LE(package->weight_plan.windows, options.weight_windows);
  EXPECT_EQ(result->report.copied_weight_bytes,
            package->weight_plan.copied_bytes());
  return *std::move(package);
}

std::vector<uint8_t> OutputOf(const package::Package& package,
                              bool detect_races = true) {
  std::vector<TensorData> inputs;
  for (const package::TensorInfo& info : package.inputs) {
    inputs.push_back(RandomData(info.type, info.shape, 77));
    if (info.type != DataType::kInt32) continue;
    for (size_t i = 0; i < 5; ++i) inputs.back().as<int32_t>()[i] = 4999 * i;
  }
  model::Options check;
  check.detect_races = detect_races;
  const auto run = RunPackage(package, inputs, check);
  if (!run.ok()) {
    ADD_FAILURE() << run.status();
    return {};
  }
  for (const std::string& f : run->findings) {
    // Between the bytes that are kept from stream to stream.
    if (package.weight_plan.empty() ||
        f.find("which nothing has written") == std::string::npos) {
      ADD_FAILURE() << f;
    }
  }
  const auto& bytes = run->outputs.at(package.outputs[0].name).bytes;
  return {bytes.begin(), bytes.end()};
}

TEST(WeightStreaming, TheSameResultsOfAnyDeviceMemory) {
  const std::string model = Products(12, 16);
  for (const char* config : {"h256", "h1024"}) {
    const package::Package whole = Compile(model, Options(0, config));
    const std::vector<uint8_t> expected = OutputOf(whole);
    const uint64_t all = DeviceBytes(whole), weights = whole.weights.size();
    ASSERT_GT(weights, 3u << 20);
    uint32_t most = 0;
    for (const uint32_t windows : {1, 2}) {
      uint64_t last = 0;
      for (const uint64_t less : {weights / 8, weights / 2, weights * 3 / 4}) {
        SCOPED_TRACE(testing::Message() << less << ' ' << windows);
        CompileOptions options = Options(all - less, config);
        options.weight_windows = windows;
        const package::Package p = Compile(model, options);
        ASSERT_FALSE(p.weight_plan.empty());
        most = std::max(most, p.weight_plan.windows);
        EXPECT_EQ(package::WhatIsWrong(p.weight_plan, p.weights.size(),
                                       p.streams.size()),
                  "");
        EXPECT_EQ(OutputOf(p), expected);
        EXPECT_EQ(p.weights.size(), weights);
        // What has no place is copied, and as much more as windows take.
        const uint64_t copied = p.weight_plan.copied_bytes();
        EXPECT_GT(copied, less);
        EXPECT_LT(copied, less + weights * windows / 3);
        EXPECT_GT(copied, last);
        last = copied;
      }
    }
    EXPECT_EQ(most, 2u);
  }
}

// Nothing runs beside the copies of the first stream. With two windows those of
// the others are hidden as far as they are not longer than what computes.
TEST(WeightStreaming, TwoWindowsHideCopies) {
  const std::string model = Products(12, 16);
  const package::Package whole = Compile(model, Options(0));
  CompileOptions options = Options(DeviceBytes(whole) - (1536u << 10));
  const auto two = CompileOnnx(model, options);
  options.weight_windows = 1;
  const auto one = CompileOnnx(model, options);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  const auto plan = package::Parse(two->package)->weight_plan;
  ASSERT_EQ(plan.windows, 2u);
  EXPECT_GT(plan.copies[0].stream, 0u);
  EXPECT_GT(one->report.copy_wait_cycles, one->report.copied_weight_bytes / 16);
  EXPECT_LT(two->report.copy_wait_cycles, one->report.copy_wait_cycles / 8);
}

// Whoever has room for one window only gets one.
TEST(WeightStreaming, OneWindowWhereTwoHaveNoRoom) {
  const std::string model = Products(3, 16);
  const package::Package whole = Compile(model, Options(0));
  const uint64_t beside = DeviceBytes(whole) - PageUp(whole.weights.size());
  bool one = false, two = false;
  for (uint64_t room = 700 << 10; room > 0; room -= 20 << 10) {
    const auto result = CompileOnnx(model, Options(beside + room));
    if (!result.ok()) {
      EXPECT_EQ(RejectionOf(result.status()), Rejection::kNoDeviceMemory);
      break;
    }
    const auto p = package::Parse(result->package);
    (p->weight_plan.windows == 1 ? one : two) = true;
    EXPECT_EQ(OutputOf(*p), OutputOf(whole)) << room;
  }
  EXPECT_TRUE(one && two);
}

// To the page: one less, and weights are copied.
TEST(WeightStreaming, WhereAllFitsNothingChanges) {
  const std::string model = Products(3);
  const auto whole = CompileOnnx(model, Options(0));
  ASSERT_TRUE(whole.ok()) << whole.status();
  const uint64_t all = DeviceBytes(*package::Parse(whole->package));
  const auto same = CompileOnnx(model, Options(all));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->package, whole->package);
  EXPECT_FALSE(Compile(model, Options(all - 1)).weight_plan.empty());
}

// Convolutions with residuals, and attention; with little SRAM, too,
// where more is kept from stream to stream.
TEST(WeightStreaming, Networks) {
  const std::pair<const char*, int> kNetworks[] = {{"mobilenet_v2", 50},
                                                   {"deit_tiny", 15}};
  for (const auto& [name, percent] : kNetworks) {
    const std::string model = MakeNetwork(name);
    for (const uint64_t sram : {0, 64 << 10}) {
      SCOPED_TRACE(testing::Message() << name << " SRAM " << sram);
      CompileOptions options = Options(0);
      options.sram_bytes = sram;
      options.goal = Goal::kCompileTime;
      const package::Package whole = Compile(model, options);
      options.device_memory_bytes =
          DeviceBytes(whole) - whole.weights.size() * percent / 100;
      const package::Package p = Compile(model, options);
      EXPECT_GT(p.weight_plan.copied_bytes(), 0u);
      EXPECT_EQ(OutputOf(p, name[0] != 'm'), OutputOf(whole, false));
    }
  }
}

TEST(WeightStreaming, TapsToo) {
  const std::string model = Products(6);
  CompileOptions options;
  options.taps = options.tap_all = true;
  const package::Package whole = Compile(model, options);
  options.device_memory_bytes = DeviceBytes(whole) - (768u << 10);
  const package::Package p = Compile(model, options);
  EXPECT_FALSE(p.weight_plan.empty());
  EXPECT_EQ(OutputOf(p), OutputOf(whole));
}

// One command reads a table as a whole: it stays while there is room.
TEST(WeightStreaming, WhatIsTooLargeForAWindow) {
  const package::Package whole = Compile(Table(), Options(0));
  const uint64_t all = DeviceBytes(whole);
  EXPECT_TRUE(Compile(Table(), Options(all)).weight_plan.empty());
  const auto refused = CompileOnnx(Table(), Options(all / 2));
  EXPECT_EQ(RejectionOf(refused.status()), Rejection::kNoDeviceMemory)
      << refused.status();
  const std::string text(refused.status().message());
  EXPECT_NE(text.find("one command reads 1280000 bytes"), std::string::npos)
      << text;
  EXPECT_NE(text.find(std::to_string(all)), std::string::npos) << text;
  EXPECT_NE(text.find(std::to_string(all / 2)), std::string::npos) << text;
  EXPECT_NE(text.find(" MiB (" + std::to_string(all) + " bytes) of device"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("a card with more memory"), std::string::npos) << text;
}

TEST(WeightStreaming, WhatIsNoWeightMustFit) {
  const auto refused = CompileOnnx(Products(3), Options(8 << 10));
  EXPECT_EQ(RejectionOf(refused.status()), Rejection::kNoDeviceMemory);
  EXPECT_NE(refused.status().message().find(
                "inputs, outputs, scratch memory and commands take"),
            std::string::npos)
      << refused.status();
}

// Nor is a schedule looked for, which takes a large model minutes.
TEST(WeightStreaming, InputsAndOutputsMustFit) {
  CompileOptions options = Options(8 << 10);
  bool scheduled = false;
  options.progress = [&](const char* text, double) {
    scheduled |= std::string(text).find("schedule") != std::string::npos;
  };
  const auto refused = CompileOnnx(Products(3, 5), options);
  EXPECT_EQ(RejectionOf(refused.status()), Rejection::kNoDeviceMemory);
  EXPECT_NE(refused.status().message().find(
                "the model's inputs and outputs take 10240 bytes of device "
                "memory, 8192 bytes are available"),
            std::string::npos)
      << refused.status();
  EXPECT_FALSE(scheduled);
  EXPECT_FALSE(CompileOnnx(Products(3), options).ok());
  EXPECT_TRUE(scheduled);
}

// 16 MiB through a window of one piece.
TEST(WeightStreaming, StepsAreCounted) {
  const std::string model = Products(60);
  const package::Package whole = Compile(model, Options(0));
  const uint64_t beside = DeviceBytes(whole) - PageUp(whole.weights.size());
  const auto refused = CompileOnnx(model, Options(beside + (300u << 10)));
  EXPECT_EQ(RejectionOf(refused.status()), Rejection::kNoDeviceMemory);
  EXPECT_NE(refused.status().message().find("copies and streams"),
            std::string::npos)
      << refused.status();
}

TEST(WeightStreaming, Text) {
  package::WeightPlan plan;
  EXPECT_EQ(WeightPlanText(plan), "");
  plan.device_bytes = 64;
  plan.windows = 2;
  plan.window_bytes = 192;
  plan.resident = {{0, 0, 0, 64}};
  plan.copies = {{1, 64, 64, 100}};
  EXPECT_EQ(WeightPlanText(plan),
            "weights: region 0 has 64 bytes, 64 of them resident; 100 bytes "
            "are copied from host memory for each run, to 2 windows of 192 "
            "bytes\n"
            "  resident  0..0x40 to 0\n"
            "  stream 1: 0x40..0xa4 to 0x40\n");
}

// ---- Addresses

// The last ones are from the window.
std::vector<uint32_t> LoadsFrom(std::vector<uint32_t> offsets,
                                size_t from_window = 0) {
  std::vector<uint32_t> words;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint32_t offset = offsets[i];
    isa::Load load;
    load.region = i + from_window < offsets.size() ? 0 : package::kWindowRegion;
    load.dram_offset = offset;
    load.elem_log2 = 4;
    load.n0 = 4;
    load.s0 = load.t0 = 16;
    isa::Append(isa::Command(load), &words);
  }
  return words;
}

TEST(WeightStreaming, StreamsAddressTheWindow) {
  package::WeightPlan plan;
  plan.device_bytes = 192;
  plan.windows = 2;
  plan.window_bytes = 256;
  plan.resident = {{0, 256, 0, 128}, {0, 1024, 128, 64}};
  plan.copies = {{0, 512, 0, 128}, {1, 576, 0, 128}, {1, 4096, 128, 70}};
  const auto addressed = [&](uint32_t stream, std::vector<uint32_t> from) {
    return AddressWeights(LoadsFrom(std::move(from)), stream, plan, isa::kH256);
  };
  const auto first = addressed(0, {256, 320, 1024, 512, 576});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, LoadsFrom({0, 64, 128, 0, 64}, 2));
  const auto second = addressed(1, {1024, 576, 640, 4096});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*second, LoadsFrom({128, 0, 64, 128}, 3));
  // Another stream's, between pieces, across an end.
  EXPECT_FALSE(addressed(1, {512}).ok());
  EXPECT_FALSE(addressed(0, {0}).ok());
  EXPECT_FALSE(addressed(0, {352}).ok());
  EXPECT_FALSE(addressed(0, {640}).ok());
}

}  // namespace
}  // namespace heddle::compiler
