// SPDX-License-Identifier: Apache-2.0
// Whole models through the compiler onto the functional model: every output
// and every quantized tensor equals the reference semantics byte for byte, in
// every configuration, without races, and the package is deterministic.
#include "compiler/compiler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_package.h"
#include "tests/support/shared.h"

namespace heddle::compiler {
namespace {

struct Case {
  const char* model;
  const char* config;
  uint64_t sram_bytes;  // 0 = all
};

void PrintTo(const Case& c, std::ostream* os) {
  *os << c.model << "/" << c.config << "/" << c.sram_bytes;
}

class WholeModel : public testing::TestWithParam<Case> {};

TEST_P(WholeModel, EqualsTheReferenceSemantics) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const std::string folder =
      tests::SharedPath(absl::StrCat("models/", GetParam().model));
  auto bytes = ReadFile(folder + "/model.onnx");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto named = ReadTensorFiles(folder + "/test_data_set_0", "input_");
  ASSERT_TRUE(named.ok()) << named.status();
  CompileOptions options;
  options.config = GetParam().config;
  options.sram_bytes = GetParam().sram_bytes;
  std::vector<TensorData> inputs;
  for (const NamedTensor& input : *named) {
    options.input_shapes[input.name] = input.data.shape;
    inputs.push_back(input.data);
  }
  auto graph = AnalyseOnnx(*bytes, options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto expected = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();

  std::string production;
  for (bool taps : {false, true}) {
    options.taps = taps;
    auto compiled = CompileOnnx(*bytes, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto again = CompileOnnx(*bytes, options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(compiled->package, again->package);
    auto package = package::Parse(compiled->package);
    ASSERT_TRUE(package.ok()) << package.status();
    model::Options model_options;
    model_options.implementation = model::Implementation::kReference;
    model_options.detect_races = true;
    auto run = RunPackage(*package, inputs, model_options);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const std::string& f : run->findings) ADD_FAILURE() << f;
    EXPECT_GE(run->macs, compiled->report.macs);
    EXPECT_GT(compiled->report.macs, 0u);
    for (const auto& [name, data] : run->outputs) {
      const TensorId id = graph->FindTensor(name);
      ASSERT_NE(id, kNoTensor) << name;
      EXPECT_EQ(Difference(data, (*expected)[id], 0, 0), "") << name;
      EXPECT_EQ(data.bytes, (*expected)[id].bytes) << name;
    }
    EXPECT_EQ(run->outputs.size(),
              package->outputs.size() + package->taps.size());
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* model : {"mnist_cntk", "mnist_tiny_fp32", "mnist_tiny_int8",
                            "cifar10_classifier_winml", "qtdnn"}) {
    for (const char* config : {"h256", "h512", "h1024"}) {
      // Little SRAM: tensors are spilled, tiles have few rows, weights come in
      // groups.
      for (uint64_t sram : {0, 64 << 10, 32 << 10}) {
        // One weight tile of the head's 7x7 product is 50 KiB on h1024.
        const bool small = sram == 32 << 10 && config == std::string("h1024");
        if (!small) cases.push_back({model, config, sram});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, WholeModel, testing::ValuesIn(Cases()));

}  // namespace
}  // namespace heddle::compiler
