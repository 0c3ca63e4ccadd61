// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <variant>

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

TEST(LowerElementwise, BroadcastsAcrossTiles) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 20, 13, 17});
  b.Input("y", DataType::kFloat, {20, 1, 17});
  b.Node("Mul", {"x", "y"}, {"product"});
  b.Node("Relu", {"product"}, {"z"});
  b.Output("z");
  CardCase options;
  options.sram_bytes = {0, 16 << 10};
  const TensorData x = RandomData(DataType::kFloat, {2, 20, 13, 17}, 1);
  const TensorData y = RandomData(DataType::kFloat, {20, 1, 17}, 2);
  const auto z = ExpectCardEqualsReference(b.Bytes(), {x, y}, options);
  ASSERT_EQ(z.size(), 1u);
  const float product = x.as<float>()[5] * y.as<float>()[5];
  EXPECT_EQ(z[0].as<float>()[5], product > 0 ? product : 0);
}

TEST(LowerElementwise, ClipWithComputedBounds) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kInt8,
                        DataType::kInt32}) {
    ModelBuilder b;
    b.Input("x", type, {3, 50});
    b.Input("low", type, {});
    b.Input("high", type, {1});
    b.Node("Clip", {"x", "low", "high"}, {"both"});
    b.Node("Clip", {"x", "", "high"}, {"above"});
    b.Node("Clip", {"x", "low"}, {"below"});
    for (const char* name : {"both", "above", "below"}) b.Output(name);
    const auto y = ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(type, {3, 50}, 1, -9, 9), RandomData(type, {}, 2, -5, -3),
         RandomData(type, {1}, 3, 2, 4)});
    EXPECT_EQ(y.size(), 3u);
  }
}

// Elements that lie far from each other take a cycle each.
TEST(LowerElementwise, LanesAreNeighboursWhereAllAre) {
  ModelBuilder b(14);
  b.Input("x", DataType::kFloat, {64, 96});
  b.Quantize("x", "q", 0.05f, Uint8s({}, {128}));
  b.Dequantize("q", "y", Floats({}, {0.05f}), Uint8s({}, {128}));
  b.Constant("slope", Floats({96}, std::vector<float>(96, 0.25f)));
  b.Node("Mul", {"y", "slope"}, {"z"});
  b.Output("z");
  auto result = CompileOnnx(b.Bytes(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  ASSERT_TRUE(package.ok()) << package.status();
  const std::vector<uint32_t>& words = package->streams[0];
  int runs = 0;
  for (size_t at = 0; at < words.size();) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    ASSERT_TRUE(command.ok()) << command.status();
    if (const auto* run = std::get_if<isa::Vrun>(&*command)) {
      ++runs;
      EXPECT_LE(run->a_lane_stride, 4);
      EXPECT_LE(run->d_lane_stride, 4);
    }
    at += isa::WordsOf(*command);
  }
  EXPECT_GT(runs, 0);
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {64, 96}, 1)});
}

}  // namespace
}  // namespace heddle::compiler
