// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/patience.h"

#include "gtest/gtest.h"

namespace heddle::hosted {
namespace {

// Each time it looks, it does so once.
constexpr uint64_t kOnce = 1;

TEST(Patience, LooksWhereItPays) {
  Patience patience(2, 1000000000);
  for (int i = 0; i < 10; ++i) {
    int looks = 0;
    EXPECT_TRUE(patience.Look([&] { return ++looks == 3; }));
    EXPECT_EQ(looks, 3);
  }
}

TEST(Patience, NeverLooksWithOneCpu) {
  Patience patience(1, 1000000000);
  EXPECT_FALSE(patience.Look([]() -> bool {
    ADD_FAILURE();
    return true;
  }));
}

TEST(Patience, SkipsTwiceAsManyCallsAfterEachTimeInVain) {
  Patience patience(2, kOnce);
  uint32_t calls = 0, skipped = 0;
  for (uint32_t expected = 0; expected < Patience::kSkippedMax;
       expected = 2 * expected + 1) {
    bool looked = false;
    while (!looked) {
      ++calls;
      patience.Look([&] {
        looked = true;
        return false;
      });
      if (!looked) ++skipped;
    }
    EXPECT_EQ(skipped, expected);
    skipped = 0;
  }
  // No more than that.
  for (int times = 0; times < 3; ++times) {
    bool looked = false;
    while (!looked) {
      patience.Look([&] {
        looked = true;
        return false;
      });
      if (!looked) ++skipped;
    }
    EXPECT_EQ(skipped, Patience::kSkippedMax);
    skipped = 0;
  }
}

TEST(Patience, OneSuccessIsEnough) {
  Patience patience(2, kOnce);
  for (int i = 0; i < 100; ++i) patience.Look([] { return false; });
  bool looked = false;
  for (uint32_t i = 0; !looked && i <= Patience::kSkippedMax; ++i) {
    patience.Look([&] { return looked = true; });
  }
  ASSERT_TRUE(looked);
  EXPECT_TRUE(patience.Look([] { return true; }));
}

}  // namespace
}  // namespace heddle::hosted
