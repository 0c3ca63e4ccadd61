// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/matrix_cost.h"

#include <gtest/gtest.h>

namespace heddle::timing {
namespace {

TEST(MatrixCost, FoldVectors) {
  // 3x3 kernel of 3 channels: 27 bytes; two vectors of 16 lanes, one of 32.
  EXPECT_EQ(FoldVectors(3, 9, 16), 2u);
  EXPECT_EQ(FoldVectors(3, 9, 32), 1u);
  // 7x1 kernel of one channel: at most fold_rows_max rows per vector.
  EXPECT_EQ(FoldVectors(7, 1, 16), 2u);
  EXPECT_EQ(FoldVectors(4, 1, 16), 1u);
}

}  // namespace
}  // namespace heddle::timing
