// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/flatten.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

struct Flat {
  bool done;
  Shape result;
  std::vector<Shape> operands;
};

Flat Apply(Shape result, std::vector<Shape> operands) {
  const bool done = Flatten(&result, &operands);
  return {done, result, operands};
}

TEST(FlattenTest, EqualShapesBecomeShortRows) {
  const Flat f = Apply({2, 150, 1200}, {{2, 150, 1200}, {1}});
  ASSERT_TRUE(f.done);
  EXPECT_EQ(f.result, (Shape{360, 1000}));
  EXPECT_EQ(f.operands[0], f.result);
  EXPECT_EQ(f.operands[1], (Shape{1, 1}));
}

TEST(FlattenTest, BroadcastDimensionsStayApart) {
  Flat f = Apply({4, 8, 300}, {{4, 8, 300}, {300}});
  ASSERT_TRUE(f.done);
  EXPECT_EQ(f.result, (Shape{32, 300}));
  EXPECT_EQ(f.operands[1], (Shape{1, 300}));
  f = Apply({4, 8, 300}, {{4, 8, 300}, {8, 1}});
  ASSERT_TRUE(f.done);
  EXPECT_EQ(f.result, (Shape{4, 1, 8, 300}));
  EXPECT_EQ(f.operands[0], f.result);
  EXPECT_EQ(f.operands[1], (Shape{1, 1, 8, 1}));
}

TEST(FlattenTest, LongRowsAreSplit) {
  const Flat f = Apply({3, 60000}, {{3, 60000}, {3, 1}});
  ASSERT_TRUE(f.done);
  EXPECT_EQ(f.result, (Shape{3, 1, 60, 1000}));
  EXPECT_EQ(f.operands[1], (Shape{3, 1, 1, 1}));
}

TEST(FlattenTest, LeavesWhatItCannotCut) {
  for (const Shape& shape : {Shape{}, Shape{1, 1}, Shape{7}, Shape{104729}}) {
    const Flat f = Apply(shape, {shape});
    EXPECT_FALSE(f.done);
    EXPECT_EQ(f.result, shape);
    EXPECT_EQ(f.operands[0], shape);
  }
  EXPECT_FALSE(Apply({2, 3, 4, 5}, {{2, 3, 4, 5}, {2, 1, 4, 1}}).done);
}

TEST(FlattenTest, RowElementsCountsAllChannels) {
  EXPECT_EQ(RowElements({10}), 10);
  EXPECT_EQ(RowElements({10, 20}), 20);
  EXPECT_EQ(RowElements({2, 10, 20}), 200);
  EXPECT_EQ(RowElements({2, 3, 10, 20}), 60);
}

}  // namespace
}  // namespace heddle::compiler
