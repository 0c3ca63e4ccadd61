// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

TensorData Apply(const char* op, const TensorData& a, const TensorData& b) {
  auto y = RunNode({op, "", 14, {}}, {a, b});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? *y : TensorData();
}

TEST(ElementwiseTest, Broadcasts) {
  EXPECT_EQ(Difference(
                Apply("Add", Floats({2, 1}, {1, 2}), Floats({3}, {10, 20, 30})),
                Floats({2, 3}, {11, 21, 31, 12, 22, 32}), 0, 0),
            "");
  EXPECT_EQ(Difference(Apply("Sub", Floats({}, {1}), Floats({2}, {1, 2})),
                       Floats({2}, {0, -1}), 0, 0),
            "");
  EXPECT_EQ(RejectionOf(RunNode({"Add", "", 14, {}},
                                {Floats({2}, {1, 2}), Floats({3}, {1, 2, 3})})
                            .status()),
            Rejection::kMismatchingShape);
  EXPECT_EQ(RejectionOf(RunNode({"Add", "", 14, {}},
                                {Floats({1}, {1}), Int32s({1}, {1})})
                            .status()),
            Rejection::kInvalidModel);
}

TEST(ElementwiseTest, NansAreCanonicalAndDenormalsKept) {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = model::FromBits(1);
  const TensorData y =
      Apply("Mul", Floats({3}, {inf, model::FromBits(0xffc12345), tiny}),
            Floats({3}, {0, 1, 1}));
  EXPECT_EQ(model::Bits(y.as<float>()[0]), 0x7fc00000u);
  EXPECT_EQ(model::Bits(y.as<float>()[1]), 0x7fc00000u);
  EXPECT_EQ(model::Bits(y.as<float>()[2]), 1u);
}

TEST(ElementwiseTest, IntegersWrap) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(
      Apply("Add", Int32s({1}, {low}), Int32s({1}, {-1})).as<int32_t>()[0],
      std::numeric_limits<int32_t>::max());
  EXPECT_EQ(
      Apply("Div", Int32s({1}, {low}), Int32s({1}, {-1})).as<int32_t>()[0],
      low);
  EXPECT_EQ(Apply("Div", Int64s({1}, {-7}), Int64s({1}, {2})).as<int64_t>()[0],
            -3);
  EXPECT_EQ(Apply("Mul", Uint8s({1}, {200}), Uint8s({1}, {2})).bytes[0], 144);
}

TEST(ElementwiseTest, IntegersByZeroGiveAllOnes) {
  EXPECT_EQ(
      Apply("Div", Int32s({2}, {1, 0}), Int32s({1}, {0})).as<int32_t>()[1], -1);
  EXPECT_EQ(Apply("Div", Int64s({1}, {-9}), Int64s({1}, {0})).as<int64_t>()[0],
            -1);
  EXPECT_EQ(Apply("Div", Uint8s({1}, {9}), Uint8s({1}, {0})).bytes[0], 255);
}

TEST(ElementwiseTest, HalfIsRoundedTwice) {
  const auto half = [](float v) {
    return MakeData<uint16_t>(DataType::kFloat16, {1}, {model::F32ToF16(v)});
  };
  EXPECT_EQ(Apply("Div", half(1), half(3)).as<uint16_t>()[0],
            model::F32ToF16(1.0f / 3.0f));
}

}  // namespace
}  // namespace heddle::compiler
