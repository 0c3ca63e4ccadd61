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

TEST(BytesText, HasMebibytesWhereDigitsAreMany) {
  EXPECT_EQ(BytesText(1), "1 byte");
  EXPECT_EQ(BytesText((1 << 20) - 1), "1048575 bytes");
  EXPECT_EQ(BytesText(1 << 20), "1.0 MiB (1048576 bytes)");
  EXPECT_EQ(BytesText(160 << 20), "160.0 MiB (167772160 bytes)");
  EXPECT_EQ(BytesText(uint64_t{5} << 30), "5120.0 MiB (5368709120 bytes)");
}

}  // namespace
}  // namespace heddle::compiler
