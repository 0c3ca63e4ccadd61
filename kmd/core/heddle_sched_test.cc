// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_sched.h"
}
#include <errno.h>

#include <vector>

#include "gtest/gtest.h"

namespace {

TEST(HeddleSched, UrgentFirstThenTurns) {
  heddle_sched sched;
  heddle_sched_init(&sched);
  std::vector<heddle_sched_entry> e = {
      {2, true, 0}, {1, true, 0}, {1, true, 0}};
  u32 chosen = 9;
  std::vector<u32> order;
  for (int i = 0; i < 6; ++i) {
    if (i == 4) e[1].ready = e[2].ready = false;
    ASSERT_EQ(heddle_sched_pick(&sched, e.data(), e.size(), &chosen), 0);
    order.push_back(chosen);
    heddle_sched_start(&sched, &e[chosen], chosen + 1, false);
    heddle_sched_end(&sched);
  }
  EXPECT_EQ(order, (std::vector<u32>{1, 2, 1, 2, 0, 0}));
}

TEST(HeddleSched, ABusyContextGetsNoMoreThanItsShare) {
  heddle_sched sched;
  heddle_sched_init(&sched);
  std::vector<heddle_sched_entry> e(5, {1, true, 0});
  std::vector<int> turns(5);
  u32 chosen;
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(heddle_sched_pick(&sched, e.data(), e.size(), &chosen), 0);
    turns[chosen]++;
    heddle_sched_start(&sched, &e[chosen], 1, false);
    heddle_sched_end(&sched);
  }
  EXPECT_EQ(turns, std::vector<int>(5, 100));
}

TEST(HeddleSched, NeverLetsAJobOvertakeOneWithTheCard) {
  heddle_sched sched;
  heddle_sched_init(&sched);
  heddle_sched_entry e[2] = {{2, true, 0}, {1, false, 0}};
  u32 chosen;
  ASSERT_EQ(heddle_sched_pick(&sched, e, 2, &chosen), 0);
  heddle_sched_start(&sched, &e[chosen], 1, true);
  e[1].ready = true;
  EXPECT_EQ(heddle_sched_pick(&sched, e, 2, &chosen), -EAGAIN);
  e[1].priority = 3;
  ASSERT_EQ(heddle_sched_pick(&sched, e, 2, &chosen), 0);
  EXPECT_EQ(chosen, 0u);
  heddle_sched_start(&sched, &e[chosen], 1, true);
  EXPECT_EQ(heddle_sched_pick(&sched, e, 2, &chosen), -EAGAIN)
      << "enough are with the card";
  EXPECT_EQ(heddle_sched_pick(&sched, e, 0, &chosen), -EAGAIN);
}

TEST(HeddleSched, ClearsSramForAnotherClientAndAfterAReset) {
  heddle_sched sched;
  heddle_sched_init(&sched);
  heddle_sched_entry e = {1, true, 0};
  EXPECT_TRUE(heddle_sched_start(&sched, &e, 7, true))
      << "what was there before us";
  EXPECT_FALSE(heddle_sched_start(&sched, &e, 7, true));
  EXPECT_FALSE(heddle_sched_start(&sched, &e, 8, false))
      << "a copy does not look";
  EXPECT_FALSE(heddle_sched_start(&sched, &e, 7, true));
  EXPECT_TRUE(heddle_sched_start(&sched, &e, 8, true));
  EXPECT_TRUE(heddle_sched_start(&sched, &e, 7, true));
  heddle_sched_reset(&sched);
  EXPECT_TRUE(heddle_sched_start(&sched, &e, 7, true));
}

TEST(HeddleWatch, SeesStandstillOfOneJobOnly) {
  heddle_watch w = {};
  EXPECT_FALSE(heddle_watch_stuck(&w, 1, 10, 1000, 100));
  EXPECT_FALSE(heddle_watch_stuck(&w, 1, 10, 1099, 100));
  EXPECT_TRUE(heddle_watch_stuck(&w, 1, 10, 1100, 100));
  EXPECT_FALSE(heddle_watch_stuck(&w, 1, 11, 1200, 100)) << "progress";
  EXPECT_FALSE(heddle_watch_stuck(&w, 2, 11, 1400, 100)) << "another job";
  EXPECT_FALSE(heddle_watch_stuck(&w, 2, 11, 1450, 100));
  heddle_watch_idle(&w);
  EXPECT_FALSE(heddle_watch_stuck(&w, 2, 11, 9999, 100));
}

}  // namespace
