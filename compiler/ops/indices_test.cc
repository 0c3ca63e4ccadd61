// SPDX-License-Identifier: Apache-2.0
// What chooses elements by indices, and TopK: ONNX's definitions by example.
#include <gtest/gtest.h>

#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

TEST(GatherElementsTest, AlongEitherAxis) {
  const TensorData x = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto along = [&](int64_t axis, const TensorData& i) {
    return RunNode({"GatherElements", "", 13, {{"axis", axis}}}, {x, i});
  };
  auto y = along(0, Int64s({2, 2}, {1, -1, 0, 0}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {3, 6, 1, 2}), 0, 0), "");
  y = along(-1, Int32s({1, 3}, {1, -2, 1}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({1, 3}, {2, 1, 2}), 0, 0), "");
  for (int64_t bad : {3, -4}) {
    EXPECT_EQ(RejectionOf(along(0, Int64s({1, 1}, {bad})).status()),
              Rejection::kInvalidModel);
  }
  EXPECT_EQ(RejectionOf(along(0, Int64s({1, 3}, {0, 0, 0})).status()),
            Rejection::kMismatchingShape);
}

TEST(ScatterElementsTest, InTheOrderOfTheAxis) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData i = Int64s({2, 2}, {2, -1, 0, 0});
  const TensorData u = Floats({2, 2}, {10, 20, 30, 40});
  const auto by = [&](const std::string& reduction, const TensorData& index) {
    return RunNode({"ScatterElements",
                    "",
                    16,
                    {{"axis", int64_t{1}}, {"reduction", reduction}}},
                   {x, index, u});
  };
  auto y = by("none", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 20, 40, 5, 6}), 0, 0), "");
  y = by("add", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 33, 74, 5, 6}), 0, 0), "");
  y = by("mul", i);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 600, 4800, 5, 6}), 0, 0), "");
  EXPECT_EQ(RejectionOf(by("max", i).status()),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(RejectionOf(by("add", Int64s({2, 2}, {3, 0, 0, 0})).status()),
            Rejection::kInvalidModel);
}

TEST(ScatterElementsTest, LeavesTheRest) {
  const TensorData x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y =
      RunNode({"ScatterElements",
               "",
               18,
               {{"axis", int64_t{1}}, {"reduction", std::string("max")}}},
              {x, Int64s({1, 2}, {2, 2}), Floats({1, 2}, {7, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {1, 2, 7, 4, 5, 6}), 0, 0), "");
}

TEST(GatherNdTest, RowsAndBatches) {
  const TensorData x = Floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  auto y =
      RunNode({"GatherND", "", 13, {}}, {x, Int64s({2, 2}, {0, 1, -1, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {2, 3, 4, 5}), 0, 0), "");
  y = RunNode({"GatherND", "", 13, {{"batch_dims", int64_t{1}}}},
              {x, Int64s({2, 1}, {1, 0})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 2}, {2, 3, 4, 5}), 0, 0), "");
  EXPECT_EQ(
      RejectionOf(RunNode({"GatherND", "", 13, {}}, {x, Int64s({1, 2}, {0, 2})})
                      .status()),
      Rejection::kInvalidModel);
}

TEST(ScatterNdTest, InOrder) {
  const TensorData x = Floats({4}, {1, 2, 3, 4});
  const TensorData i = Int64s({3, 1}, {1, -1, 1});
  const TensorData u = Floats({3}, {10, 20, 30});
  const auto by = [&](const std::string& reduction) {
    return RunNode({"ScatterND", "", 18, {{"reduction", reduction}}},
                   {x, i, u});
  };
  auto y = by("none");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 30, 3, 20}), 0, 0), "");
  y = by("add");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 42, 3, 24}), 0, 0), "");
  y = by("min");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({4}, {1, 2, 3, 4}), 0, 0), "");
}

TEST(ReverseSequenceTest, EitherAxisIsTime) {
  const TensorData x = Floats({2, 3}, {0, 1, 2, 3, 4, 5});
  auto y = RunNode({"ReverseSequence",
                    "",
                    10,
                    {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}},
                   {x, Int64s({2}, {3, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {2, 1, 0, 4, 3, 5}), 0, 0), "");
  y = RunNode({"ReverseSequence", "", 10, {}}, {x, Int64s({3}, {2, 1, 2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {3, 1, 5, 0, 4, 2}), 0, 0), "");
  EXPECT_EQ(RejectionOf(RunNode({"ReverseSequence", "", 10, {}},
                                {x, Int64s({3}, {2, 3, 2})})
                            .status()),
            Rejection::kInvalidModel);
}

TEST(TopKTest, Values) {
  const TensorData x = Floats({2, 4}, {0, 1, 2, 3, 7, 7, 6, 6});
  auto y = RunNode({"TopK", "", 11, {}}, {x, Int64s({1}, {3})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 3}, {3, 2, 1, 7, 7, 6}), 0, 0), "");
  y = RunNode({"TopK", "", 11, {{"largest", int64_t{0}}, {"axis", int64_t{0}}}},
              {x, Int64s({1}, {1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({1, 4}, {0, 1, 2, 3}), 0, 0), "");
  for (int64_t k : {0, 5}) {
    EXPECT_EQ(
        RejectionOf(
            RunNode({"TopK", "", 11, {}}, {x, Int64s({1}, {k})}).status()),
        Rejection::kInvalidModel);
  }
}

}  // namespace
}  // namespace heddle::compiler
