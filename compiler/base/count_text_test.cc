// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/count_text.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

TEST(CountText, OneAndMany) {
  EXPECT_EQ(CountText(1, "node"), "1 node");
  EXPECT_EQ(CountText(0, "node"), "0 nodes");
  EXPECT_EQ(CountText(6, "node"), "6 nodes");
  EXPECT_EQ(CountText(1, "box", "boxes"), "1 box");
  EXPECT_EQ(CountText(2, "box", "boxes"), "2 boxes");
}

}  // namespace
}  // namespace heddle::compiler
