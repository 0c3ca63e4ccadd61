// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_release.h"

#include <gtest/gtest.h>

namespace heddle::tests {
namespace {

TEST(KernelReleaseTest, ComparesNumbersAndNotText) {
  for (const char* later : {"6.6", "6.6.0-1-amd64", "6.12.117-heddle-debug",
                            "6.10-rc1", "7.0.1", "10.1"}) {
    EXPECT_TRUE(ReleaseAtLeast(later, 6, 6)) << later;
  }
  for (const char* earlier : {"6.5.13", "6.1.0-50-amd64", "5.19", "4.20.66"}) {
    EXPECT_FALSE(ReleaseAtLeast(earlier, 6, 6)) << earlier;
  }
}

TEST(KernelReleaseTest, KnowsNothingOfOtherTexts) {
  for (const char* text : {"", "6", "six.six", "-amd64"}) {
    EXPECT_FALSE(ReleaseAtLeast(text, 0, 0)) << text;
  }
}

TEST(KernelReleaseTest, AsksTheKernelThatRuns) {
  EXPECT_TRUE(KernelAtLeast(3, 0));
  EXPECT_FALSE(KernelAtLeast(1000, 0));
}

}  // namespace
}  // namespace heddle::tests
