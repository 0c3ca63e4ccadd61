// SPDX-License-Identifier: Apache-2.0
// Cascades in row stripes: equal to the reference byte for byte, chosen where
// tensors do not fit, with taps of what exists in rolling buffers only, and no
// row computed twice.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/schedule/cascade.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

// Products of all matrix commands, those with padding included.
uint64_t MacsOfCommands(const package::Package& package) {
  uint64_t macs = 0;
  for (const std::vector<uint32_t>& words : package.streams) {
    for (size_t at = 0; at < words.size();) {
      const auto command = isa::DecodeAny(&words[at], words.size() - at);
      if (!command.ok()) {
        ADD_FAILURE() << command.status();
        return 0;
      }
      at += isa::WordsOf(*command);
      const auto* c = std::get_if<isa::Conv>(&*command);
      if (c == nullptr) continue;
      uint64_t of_pixel = uint64_t{c->co} * c->kh * c->kw;
      if (c->mode == isa::MatrixMode::kConv) of_pixel *= c->ci;
      if (c->mode == isa::MatrixMode::kFold) of_pixel *= c->fold_channels;
      macs += of_pixel * c->out_rows * c->ow;
    }
  }
  return macs;
}

class Net {
 public:
  // A float input that is quantized, or codes.
  Net& Input(const Shape& shape, bool real) {
    const DataType type = real ? DataType::kFloat : DataType::kUint8;
    b_.Input(real ? "real" : "x", type, shape);
    inputs_.push_back(RandomData(type, shape, 1));
    if (real) {
      b_.Node("QuantizeLinear", {"real", Scale(0.03f), Zero(120)}, {"x"});
    }
    return *this;
  }
  onnx::NodeProto* Conv(const std::string& x, const std::string& y, int64_t co,
                        int64_t ci, int64_t k, int64_t stride = 1,
                        int64_t group = 1) {
    auto* node = b_.Node(
        "QLinearConv",
        {x, Scale(0.02f), Zero(3),
         Data(RandomData(DataType::kInt8, {co, ci / group, k, k}, ++seed_)),
         Scale(0.01f), Data(Int8s({}, {0})), Scale(0.06f), Zero(7)},
        {y});
    SetInts(node, "pads", {k / 2, k / 2, k / 2, k / 2});
    SetInts(node, "strides", {stride, stride});
    SetInt(node, "group", group);
    return node;
  }
  void Add(const std::string& a, const std::string& b, const std::string& y) {
    b_.Node("QLinearAdd",
            {a, Scale(0.05f), Zero(9), b, Scale(0.031f), Zero(4), Scale(0.07f),
             Zero(11)},
            {y}, "com.microsoft");
  }
  ModelBuilder& builder() { return b_; }

  // The commands of all boxes together compute what the layers consist of.
  static void ExpectMacs(const CompileResult& result) {
    auto package = package::Parse(result.package);
    ASSERT_TRUE(package.ok()) << package.status();
    EXPECT_EQ(MacsOfCommands(*package), result.report.macs);
  }

  // Equal everywhere; with `sram` bytes on h256 at least one cascade.
  void Expect(const std::string& output, uint64_t sram) {
    b_.Output(output);
    CardCase sizes;
    sizes.sram_bytes = {0, sram, 3 * sram / 4, sram / 2};
    ExpectCardEqualsReference(b_.Bytes(), inputs_, sizes);
    auto graph = AnalyseOnnx(b_.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    auto expected = EvaluateGraph(*graph, inputs_);
    ASSERT_TRUE(expected.ok()) << expected.status();
    // (Without it some of these are faster in other boxes.)
    CompileOptions options;
    options.features.always_rewrite = true;
    options.sram_bytes = sram;
    auto production = CompileOnnx(b_.Bytes(), options);
    ASSERT_TRUE(production.ok()) << production.status();
    ExpectMacs(*production);
    options.taps = true;
    auto tapped = CompileOnnx(b_.Bytes(), options);
    ASSERT_TRUE(tapped.ok()) << tapped.status();
    ExpectShortFirst(*graph, *expected, sram);
    int cascades = 0;
    ASSERT_EQ(production->report.layers.size(), tapped->report.layers.size());
    for (size_t i = 0; i < production->report.layers.size(); ++i) {
      const LayerReport& layer = production->report.layers[i];
      cascades += layer.op.find('>') != std::string::npos;
      EXPECT_EQ(layer.op, tapped->report.layers[i].op);
    }
    EXPECT_GT(cascades, 0);
    auto package = package::Parse(tapped->package);
    ASSERT_TRUE(package.ok()) << package.status();
    model::Options model_options;
    model_options.detect_races = true;
    auto run = RunPackage(*package, inputs_, model_options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(run->findings.empty());
    for (size_t id = 0; id < graph->tensors.size(); ++id) {
      const Tensor& t = graph->tensors[id];
      if (t.is_constant() || t.type == DataType::kFloat) continue;
      ASSERT_EQ(run->outputs.count(t.name), 1u) << t.name;
      EXPECT_EQ(run->outputs[t.name].bytes, (*expected)[id].bytes) << t.name;
    }
  }

  // With shorter first stripes, which no estimate has to favour here.
  void ExpectShortFirst(const Graph& graph,
                        const std::vector<TensorData>& expected,
                        uint64_t sram) {
    CompileOptions options;
    options.details = options.features.always_rewrite = true;
    bool shorter = false;
    // (in less SRAM stripes may have one row)
    for (uint64_t bytes : {sram / 2, 3 * sram / 4, sram, 2 * sram}) {
      options.sram_bytes = bytes;
      auto result = CompileOnnx(b_.Bytes(), options);
      ASSERT_TRUE(result.ok()) << result.status();
      for (const LayerReport& layer : result->report.layers) {
        shorter |= layer.op.find('>') != std::string::npos &&
                   layer.first_tile_rows < layer.tile_rows;
      }
      auto package = package::Parse(result->package);
      ASSERT_TRUE(package.ok()) << package.status();
      model::Options model_options;
      model_options.detect_races = true;
      auto run = RunPackage(*package, inputs_, model_options);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_TRUE(run->findings.empty());
      for (int id : graph.outputs) {
        EXPECT_EQ(run->outputs[graph.tensors[id].name].bytes,
                  expected[id].bytes);
      }
    }
    EXPECT_TRUE(shorter);
  }

 private:
  std::string Data(const TensorData& data) {
    const std::string name = "c" + std::to_string(++constants_);
    b_.Constant(name, data);
    return name;
  }
  std::string Scale(float s) { return Data(Floats({}, {s})); }
  std::string Zero(uint8_t z) { return Data(Uint8s({}, {z})); }

  ModelBuilder b_;
  std::vector<TensorData> inputs_;
  uint64_t seed_ = 100;
  int constants_ = 0;
};

TEST(Cascade, InvertedBottleneckWithResidual) {
  Net net;
  net.Input({2, 16, 30, 19}, false);
  net.Conv("x", "a", 96, 16, 1);
  net.Conv("a", "b", 96, 96, 3, 1, 96);
  net.Conv("b", "c", 16, 96, 1);
  net.Add("c", "x", "y");
  net.Expect("y", 48 << 10);
}

TEST(Cascade, FromFloatsThroughTheFirstLayer) {
  Net net;
  net.Input({1, 3, 61, 50}, true);
  net.Conv("x", "a", 32, 3, 3, 2);
  net.Conv("a", "b", 32, 32, 3, 1, 32);
  net.Conv("b", "c", 20, 32, 1);
  net.Conv("c", "d", 96, 20, 1);
  net.Conv("d", "e", 96, 96, 3, 2, 96);
  net.Conv("e", "y", 24, 96, 1);
  net.Expect("y", 40 << 10);
}

TEST(Cascade, ResidualInsideAndPooling) {
  Net net;
  net.Input({1, 16, 40, 33}, false);
  net.Conv("x", "a", 40, 16, 3);
  net.Conv("a", "b", 100, 40, 1);
  net.Conv("b", "c", 40, 100, 3);
  net.Add("a", "c", "d");
  auto* pool = net.builder().Node("MaxPool", {"d"}, {"e"});
  SetInts(pool, "kernel_shape", {2, 2});
  SetInts(pool, "strides", {2, 2});
  net.Conv("e", "y", 24, 40, 3);
  net.Expect("y", 112 << 10);
}

// Chains of any windows, in any SRAM: every row of every layer is computed by
// one stripe.
TEST(Cascade, NoRowIsComputedTwice) {
  std::mt19937 random(7);
  int cascades = 0, stripes = 0;
  for (int i = 0; i < 24; ++i) {
    Net net;
    int64_t rows = 30 + random() % 70, channels = 16 * (1 + random() % 2);
    net.Input({1, channels, rows, 20 + int64_t(random() % 30)}, false);
    std::string x = "x";
    const int layers = 3 + random() % 4;
    for (int k = 0; k < layers; ++k) {
      const int64_t kernel = 1 + 2 * (random() % 3);
      const int64_t stride = random() % 4 == 0 ? 2 : 1;
      const std::string y = "y" + std::to_string(k);
      if (random() % 3 == 0) {
        net.Conv(x, y, channels, channels, kernel, stride, channels);
      } else {
        const int64_t co = 16 * (1 + random() % 5);
        net.Conv(x, y, co, channels, kernel, stride);
        channels = co;
      }
      if (stride == 1 && k > 0 && random() % 4 == 0) {
        net.Add(y, y, y + "sum");
        x = y + "sum";
      } else {
        x = y;
      }
    }
    net.builder().Output(x);
    CompileOptions options;
    options.sram_bytes = (40 + random() % 60) << 10;
    auto result = CompileOnnx(net.builder().Bytes(), options);
    ASSERT_TRUE(result.ok()) << result.status();
    Net::ExpectMacs(*result);
    for (const LayerReport& layer : result->report.layers) {
      if (layer.op.find('>') == std::string::npos) continue;
      ++cascades;
      stripes += layer.commands > 6;
    }
  }
  EXPECT_GT(cascades, 10);
  EXPECT_GT(stripes, 10);
}

TEST(Cascade, StridesThatSkipRows) {
  Net net;
  net.Input({1, 16, 47, 40}, false);
  net.Conv("x", "a", 96, 16, 3);
  net.Conv("a", "b", 96, 96, 1, 3);
  net.Conv("b", "y", 32, 96, 1);
  net.Expect("y", 64 << 10);
}

}  // namespace
}  // namespace heddle::compiler
