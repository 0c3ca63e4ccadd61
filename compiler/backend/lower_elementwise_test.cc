// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

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

}  // namespace
}  // namespace heddle::compiler
