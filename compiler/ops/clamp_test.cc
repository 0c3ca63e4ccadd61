// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/clamp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(ReluTest, FollowsTheIsa) {
  auto y =
      RunNode({"Relu", "", 13, {}}, {Floats({5}, {-1, 2, -0.0f, kNaN, kInf})});
  ASSERT_TRUE(y.ok()) << y.status();
  const uint32_t expected[] = {0, model::Bits(2), 0, model::kNan,
                               model::Bits(kInf)};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(model::Bits(y->as<float>()[i]), expected[i]) << i;
  }
}

TEST(ClipTest, AttributesAndInputs) {
  const TensorData x = Floats({4}, {-9, 0.5f, 9, kNaN});
  auto old = RunNode({"Clip", "", 10, {{"min", -1.0f}, {"max", 6.0f}}}, {x});
  auto now =
      RunNode({"Clip", "", 11, {}}, {x, Floats({}, {-1}), Floats({}, {6})});
  ASSERT_TRUE(old.ok() && now.ok()) << old.status() << now.status();
  EXPECT_EQ(old->bytes, now->bytes);
  EXPECT_EQ(now->as<float>()[0], -1);
  EXPECT_EQ(now->as<float>()[2], 6);
  EXPECT_TRUE(std::isnan(now->as<float>()[3]));
  auto open = RunNode({"Clip", "", 11, {}}, {x, TensorData(), Floats({}, {6})});
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->as<float>()[0], -9);
  EXPECT_EQ(
      RejectionOf(
          RunNode({"Clip", "", 11, {}}, {x, Floats({2}, {1, 2})}).status()),
      Rejection::kInvalidModel);
}

TEST(ClipTest, Integers) {
  auto y = RunNode({"Clip", "", 12, {}}, {Int8s({3}, {-128, 3, 127}),
                                          Int8s({}, {-5}), Int8s({}, {5})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->as<int8_t>()[0], -5);
  EXPECT_EQ(y->as<int8_t>()[1], 3);
  EXPECT_EQ(y->as<int8_t>()[2], 5);
}

}  // namespace
}  // namespace heddle::compiler
