// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

TensorData Conditions(Shape shape, std::vector<uint8_t> values) {
  TensorData data = TensorData::Zeros(DataType::kBool, std::move(shape));
  std::copy(values.begin(), values.end(), data.bytes.data());
  return data;
}

TEST(WhereTest, ChoosesWideValuesAsTheyAre) {
  const auto y =
      RunNode({"Where", "", 16, {}},
              {Conditions({2, 1}, {1, 0}), Int64s({2}, {INT64_MIN, INT64_MAX}),
               Int64s({1, 1}, {-1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(
      Difference(*y, Int64s({2, 2}, {INT64_MIN, INT64_MAX, -1, -1}), 0, 0), "");
}

TEST(WhereTest, TypesAndShapesMustAgree) {
  EXPECT_EQ(RejectionOf(RunNode({"Where", "", 16, {}},
                                {Conditions({1}, {1}), Int64s({1}, {1}),
                                 Int32s({1}, {1})})
                            .status()),
            Rejection::kInvalidModel);
  EXPECT_EQ(RejectionOf(RunNode({"Where", "", 16, {}},
                                {Conditions({3}, {1, 0, 1}),
                                 Int64s({2}, {1, 2}), Int64s({1}, {1})})
                            .status()),
            Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
