// SPDX-License-Identifier: Apache-2.0
// What is done to the operations before they are scheduled, another order and
// copies of what is cheap: equal bytes, and less traffic or time where they are
// taken.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/analyse.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/network_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

std::vector<std::string> LayersOf(const CompileResult& result) {
  std::vector<std::string> names;
  for (const LayerReport& layer : result.report.layers) {
    names.push_back(layer.name);
  }
  return names;
}

// Names that several layers have.
int Copies(const CompileResult& result) {
  const std::vector<std::string> names = LayersOf(result);
  return static_cast<int>(names.size()) -
         static_cast<int>(
             std::set<std::string>(names.begin(), names.end()).size());
}

class Rewrites : public testing::Test {
 protected:
  // The bytes of the reference.
  void Expect(const std::string& model, const CompileOptions& options,
              const CompileResult& result) {
    auto graph = AnalyseOnnx(model, options);
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::vector<TensorData> inputs;
    for (TensorId id : graph->inputs) {
      const Tensor& t = graph->tensors[id];
      inputs.push_back(RandomData(t.type, t.shape, 5));
    }
    auto expected = EvaluateGraph(*graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto package = package::Parse(result.package);
    ASSERT_TRUE(package.ok()) << package.status();
    model::Options model_options;
    model_options.detect_races = true;
    auto run = RunPackage(*package, inputs, model_options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(run->findings.empty());
    for (TensorId id : graph->outputs) {
      EXPECT_EQ(run->outputs[graph->tensors[id].name].bytes,
                (*expected)[id].bytes);
    }
  }

  CompileResult Compile(const std::string& model,
                        const CompileOptions& options) {
    auto result = CompileOnnx(model, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : CompileResult();
  }
};

// Branches that are written layer by layer, with tensors of 32 KiB.
std::string Branches(int count, int length) {
  NetworkBuilder n("branches", 16, 32, 32);
  const Activation in = n.Conv(32, 1, 1).at();
  std::vector<Activation> branches(count, in);
  for (int k = 0; k < length; ++k) {
    for (Activation& branch : branches) {
      n.Goto(branch);
      branch = n.Conv(k + 1 < length ? 64 : 16, k % 2 ? 3 : 1, 1).at();
    }
  }
  return n.Concat(branches).Conv(16, 1, 1).Bytes();
}

TEST_F(Rewrites, BranchesOneAfterAnother) {
  const std::string model = Branches(4, 3);
  CompileOptions options;
  options.sram_bytes = 200 << 10;
  options.features.order = false;
  const CompileResult plain = Compile(model, options);
  options.features.order = true;
  const CompileResult ordered = Compile(model, options);
  EXPECT_NE(LayersOf(plain), LayersOf(ordered));
  EXPECT_LT(ordered.report.dram_bytes, plain.report.dram_bytes);
  EXPECT_LE(ordered.report.estimated_cycles,
            plain.report.estimated_cycles * 4001 / 4000);
  Expect(model, options, ordered);
}

// A map that is four times what it is made of, read at once and at the end.
std::string FarUpsample() {
  NetworkBuilder n("far_upsample", 16, 24, 24);
  const Activation wide = n.Conv(32, 1, 1).Upsample().at();
  n.Conv(64, 3, 1).Conv(64, 3, 1).Conv(32, 3, 1, false).Add(wide, false);
  return n.Conv(16, 1, 1).Bytes();
}

TEST_F(Rewrites, CheapTensorsAgain) {
  const std::string model = FarUpsample();
  CompileOptions options;
  options.goal = Goal::kTraffic;
  // (else what lies between has no place that it could take)
  options.features.cascade = false;
  int less = 0;
  for (uint64_t kilobytes : {96, 128, 160, 192, 224, 256, 288, 320}) {
    options.sram_bytes = kilobytes << 10;
    options.features.recompute = false;
    const CompileResult plain = Compile(model, options);
    EXPECT_EQ(Copies(plain), 0);
    options.features.recompute = true;
    const CompileResult again = Compile(model, options);
    EXPECT_LE(again.report.dram_bytes, plain.report.dram_bytes);
    if (Copies(again) == 0) continue;
    less += again.report.dram_bytes < plain.report.dram_bytes;
    EXPECT_TRUE(again.report.dram_bytes < plain.report.dram_bytes ||
                again.report.estimated_cycles < plain.report.estimated_cycles);
  }
  EXPECT_GT(less, 0);
}

// Taken or not, in any SRAM, with taps.
TEST_F(Rewrites, BytesAreEqualAlways) {
  for (const std::string& model : {Branches(5, 2), FarUpsample()}) {
    for (uint64_t kilobytes : {16, 48, 100, 180, 512}) {
      for (bool taps : {false, true}) {
        CompileOptions options;
        options.sram_bytes = kilobytes << 10;
        options.taps = taps;
        options.features.always_rewrite = true;
        Expect(model, options, Compile(model, options));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
