// SPDX-License-Identifier: Apache-2.0
// The report agrees with the stream: layers add up, every access to SRAM lies
// in a piece that the report names, no two pieces share a byte at a time.
#include "compiler/backend/compile_report.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "compiler/compiler.h"
#include "compiler/stream/access.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TensorData Weights(const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  std::mt19937 random(1);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random() % 100) / 100;
  }
  return data;
}

// Two convolutions with a residual, padded: tensors with halos.
std::string Model() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 32, 32});
  b.Constant("w1", Weights({8, 3, 3, 3}));
  b.Constant("w2", Weights({8, 8, 3, 3}));
  SetInts(b.Node("Conv", {"x", "w1"}, {"a"}), "pads", {1, 1, 1, 1});
  b.Node("Relu", {"a"}, {"r"});
  SetInts(b.Node("Conv", {"r", "w2"}, {"c"}), "pads", {1, 1, 1, 1});
  b.Node("Add", {"c", "r"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

Graph Analysed(const std::string& model) {
  auto graph = AnalyseOnnx(model, {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

BackendResult Compile(const CompileOptions& options) {
  auto result = GeneratePackage(Analysed(Model()), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

class CompileReportTest : public testing::TestWithParam<uint64_t> {
 protected:
  CompileReportTest() {
    options_.details = true;
    options_.sram_bytes = GetParam();
  }
  CompileOptions options_;
};

TEST_P(CompileReportTest, LayersAddUp) {
  const BackendResult result = Compile(options_);
  const CompileReport& r = result.report;
  uint64_t cycles = 0, commands = 0, bytes = 0, constants = 0;
  ASSERT_FALSE(r.layers.empty());
  for (const LayerReport& layer : r.layers) {
    cycles += layer.estimated_cycles;
    commands += layer.commands;
    bytes += layer.dram_bytes;
    constants += layer.constant_bytes;
    EXPECT_LE(layer.first_cycle, layer.last_cycle);
    EXPECT_LE(layer.last_cycle, r.estimated_cycles);
    EXPECT_FALSE(layer.bound.empty());
    EXPECT_FALSE(layer.sources.empty()) << layer.name;
    EXPECT_LE(layer.utilisation, 1);
    EXPECT_LE(layer.tile_rows, layer.rows);
    EXPECT_GE(layer.tiles, 1u);
    EXPECT_EQ(layer.output.shape, layer.output_shape);
  }
  EXPECT_EQ(cycles, r.estimated_cycles);
  EXPECT_EQ(result.package.estimated_cycles, cycles);
  EXPECT_EQ(bytes, r.dram_bytes);
  EXPECT_GE(constants, (8u * 3 * 9 + 8 * 8 * 9) * 4) << "the weights";
  EXPECT_EQ(r.macs, 32u * 32 * 9 * 8 * (3 + 8));
  EXPECT_EQ(r.commands_in_time.size(), commands + 1) << "and end";
  EXPECT_EQ(r.commands, r.commands_in_time.size());
  EXPECT_LE(r.compute_bound_cycles, r.estimated_cycles);
  EXPECT_LE(r.dram_bound_cycles, r.estimated_cycles);
  EXPECT_LE(r.compute_bound_cycles, r.layer_bound_cycles);
  ASSERT_EQ(r.engines.size(), 4u);
  EXPECT_EQ(r.engines[2].commands, 0u);
  EXPECT_GT(r.engines[3].busy, 0u);
}

TEST_P(CompileReportTest, BuffersHoldEveryAccess) {
  const BackendResult result = Compile(options_);
  const CompileReport& r = result.report;
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const BufferReport& a = r.buffers[i];
    EXPECT_LE(a.address + a.bytes, r.sram_bytes);
    EXPECT_LE(a.address + a.bytes, r.sram_peak_bytes);
    for (size_t k = i + 1; k < r.buffers.size(); ++k) {
      const BufferReport& b = r.buffers[k];
      const bool time =
          a.first_layer <= b.last_layer && b.first_layer <= a.last_layer;
      const bool space =
          a.address < b.address + b.bytes && b.address < a.address + a.bytes;
      EXPECT_FALSE(time && space) << a.name << " and " << b.name;
    }
  }
  const isa::Config& config = isa::kConfigs[0];
  const std::vector<uint32_t>& words = result.package.streams[0];
  for (const CommandReport& command : r.commands_in_time) {
    if (command.layer < 0) continue;
    const size_t at = command.offset / 4;
    const auto decoded = isa::DecodeAny(&words[at], words.size() - at);
    ASSERT_TRUE(decoded.ok());
    for (const Access& access : AccessesOf(*decoded, config)) {
      if (access.space != kSramSpace) continue;
      bool found = false;
      for (const BufferReport& b : r.buffers) {
        const auto layer = static_cast<size_t>(command.layer);
        found |= b.first_layer <= layer && layer <= b.last_layer &&
                 b.address <= access.begin &&
                 access.end <= b.address + (b.bytes + 15) / 16 * 16 &&
                 b.first_cycle <= command.start && command.end <= b.last_cycle;
      }
      EXPECT_TRUE(found) << command.mnemonic << " of layer " << command.layer
                         << " touches " << access.begin << " to " << access.end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sram, CompileReportTest,
                         testing::Values(0, 40000, 16000));

// The limit counts the rows that are chosen, not the table.
TEST(CompileReport, AGatheredTableIsNotReadWhole) {
  constexpr uint64_t kRows = 20000, kRow = 64 * 4, kChosen = 24;
  for (const bool twice : {false, true}) {
    ModelBuilder b;
    b.Input("i", DataType::kInt32, {kChosen});
    b.Constant("table", Weights({kRows, 64}));
    b.Node("Gather", {"table", "i"}, {"y"});
    b.Output("y");
    if (twice) {
      b.Input("k", DataType::kInt32, {kChosen});
      b.Node("Gather", {"table", "k"}, {"z"});
      b.Output("z");
    }
    auto result = GeneratePackage(Analysed(b.Bytes()), {});
    ASSERT_TRUE(result.ok()) << result.status();
    const CompileReport& r = result->report;
    const uint64_t bytes = (2 * kChosen * kRow + kChosen * 4) * (twice ? 2 : 1);
    const uint64_t rate = isa::kConfigs[0].dram_bytes_per_cycle;
    EXPECT_GE(r.dram_bound_cycles, bytes / rate);
    EXPECT_LE(r.dram_bound_cycles, bytes / rate + 64) << "and microprograms";
    EXPECT_GE(r.estimated_cycles, r.dram_bound_cycles);
    EXPECT_GE(r.dram_bytes, r.dram_bound_cycles * rate - rate);
  }
}

// Of a tensor that is read in stripes the limit counts the stripes, and a
// tensor that is read again and again once.
TEST(CompileReport, TheLimitIsWhatMustMove) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 3, 200, 200});
  b.Constant("s", Int64s({1}, {1}));
  b.Constant("e", Int64s({1}, {200}));
  b.Constant("a", Int64s({1}, {2}));
  b.Constant("t", Int64s({1}, {4}));
  b.Node("Slice", {"x", "s", "e", "a", "t"}, {"part"});
  b.Constant("w", Weights({8, 3, 3, 3}));
  SetInts(b.Node("Conv", {"part", "w"}, {"y"}), "pads", {1, 1, 1, 1});
  b.Output("y");
  CompileOptions options;
  options.sram_bytes = 24 << 10;
  auto result = GeneratePackage(Analysed(b.Bytes()), options);
  ASSERT_TRUE(result.ok()) << result.status();
  const CompileReport& r = result->report;
  const uint64_t least = (3 * 50 * 200 + 8 * 50 * 200) * 4;
  const uint64_t rate = isa::kConfigs[0].dram_bytes_per_cycle;
  EXPECT_GE(r.dram_bound_cycles, least / rate);
  EXPECT_LE(r.dram_bound_cycles, least / rate + least / rate / 20);
  EXPECT_GE(r.estimated_cycles, r.dram_bound_cycles);
}

TEST(CompileReport, DetailsAreOptional) {
  CompileOptions options;
  const BackendResult plain = Compile(options);
  EXPECT_TRUE(plain.report.commands_in_time.empty());
  EXPECT_TRUE(plain.report.buffers.empty());
  options.details = true;
  const BackendResult detailed = Compile(options);
  EXPECT_EQ(package::Serialize(plain.package),
            package::Serialize(detailed.package));
  EXPECT_EQ(plain.report.estimated_cycles, detailed.report.estimated_cycles);
}

TEST(CompileReport, StagesAreNamed) {
  std::vector<std::string> stages;
  CompileOptions options;
  options.progress = [&](const char* stage, double part) {
    if (part < 0) stages.push_back(stage);
  };
  ASSERT_TRUE(CompileOnnx(Model(), options).ok());
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages.front(), "import");
  EXPECT_EQ(stages.back(), "timeline");
}

// Every tensor that is computed and has a place, not only codes; what is fused
// away (a) may have none.
TEST(CompileReport, TapsOfAllTensors) {
  CompileOptions options;
  options.taps = true;
  EXPECT_TRUE(Compile(options).package.taps.empty());
  options.tap_all = true;
  std::vector<std::string> names;
  for (const auto& tap : Compile(options).package.taps) {
    names.push_back(tap.name);
    EXPECT_EQ(tap.type, DataType::kFloat);
  }
  for (const char* name : {"r", "y"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace
}  // namespace heddle::compiler
