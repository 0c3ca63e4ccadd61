// SPDX-License-Identifier: Apache-2.0
// Any number of threads makes the same package.
#include <gtest/gtest.h>

#include <string>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"

namespace heddle::compiler {
namespace {

// More weights than are packed at a time; those of the last layer are those of
// the first.
std::string Products() {
  constexpr int64_t kWidth = 1536;
  constexpr int kLayers = 6;
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {16, kWidth});
  b.Constant("s", Floats({}, {0.02f}));
  b.Constant("z", Uint8s({}, {128}));
  b.Constant("wz", Int8s({}, {0}));
  std::string from = "x";
  for (int i = 0; i < kLayers; ++i) {
    const std::string w = "w" + std::to_string(i), y = "y" + std::to_string(i);
    b.Constant(w, RandomData(DataType::kInt8, {kWidth, kWidth},
                             i % (kLayers - 1) + 1));
    b.Node("QLinearMatMul", {from, "s", "z", w, "s", "wz", "s", "z"}, {y});
    from = y;
  }
  b.Output(from);
  return b.Bytes();
}

void ExpectTheSame(const std::string& model, CompileOptions options) {
  options.threads = 1;
  const auto expected = CompileOnnx(model, options);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (int threads : {2, 7}) {
    options.threads = threads;
    const auto result = CompileOnnx(model, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result->package == expected->package) << threads;
    EXPECT_EQ(result->report.estimated_cycles,
              expected->report.estimated_cycles);
  }
}

TEST(Threads, ManyWeights) {
  const std::string model = Products();
  ExpectTheSame(model, {});
  // Equal weights are there once.
  const auto result = CompileOnnx(model, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->report.weight_bytes, model.size());
}

TEST(Threads, ManySchedules) {
  ExpectTheSame(MakeNetwork("resnet8"), {});
  CompileOptions options;
  options.goal = Goal::kThorough;
  options.sram_bytes = 64 << 10;
  ExpectTheSame(MakeNetwork("resnet8"), options);
}

TEST(Threads, Taps) {
  CompileOptions options;
  options.taps = options.tap_all = options.details = true;
  ExpectTheSame(MakeNetwork("ds_cnn"), options);
}

}  // namespace
}  // namespace heddle::compiler
