// SPDX-License-Identifier: Apache-2.0
#include "tests/support/apart.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace heddle::tests {
namespace {

TEST(Apart, ACallThatEndsItsProcessGivesNothing) {
  const std::string large(100000, 'x');
  const auto results = CallApart(5, [&](size_t i) -> std::string {
    if (i == 1) std::abort();
    if (i == 3) std::exit(0);
    return i == 4 ? large : std::to_string(i);
  });
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0], "0");
  EXPECT_FALSE(results[1].has_value());
  EXPECT_EQ(results[2], "2");
  EXPECT_FALSE(results[3].has_value());
  EXPECT_EQ(results[4], large);
}

TEST(Apart, NothingIsCalledForNothing) {
  EXPECT_TRUE(CallApart(0, [](size_t) { return std::string(); }).empty());
}

}  // namespace
}  // namespace heddle::tests
