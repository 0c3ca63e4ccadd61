// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/turns.h"

#include <gtest/gtest.h>

namespace heddle::hosted {
namespace {

TEST(TurnsTest, UrgentFirstThenTurns) {
  const struct {
    bool ready[3];
    int want;
  } rows[] = {
      {{true, true, true}, 1},   {{true, true, true}, 2},
      {{true, true, true}, 1},   {{true, true, true}, 2},
      {{true, false, false}, 0}, {{true, false, false}, 0},
  };
  std::vector<Turn> offers = {{2}, {1}, {1}};
  Turns turns;
  for (const auto& row : rows) {
    for (int i = 0; i < 3; ++i) offers[i].ready = row.ready[i];
    ASSERT_EQ(turns.Pick(offers), row.want) << turns.now();
    turns.Start(&offers[row.want]);
    turns.End();
  }
}

TEST(TurnsTest, ABusyContextGetsNoMoreThanItsShare) {
  std::vector<Turn> offers(5, Turn{1, true});
  std::vector<int> given(5);
  Turns turns;
  for (int i = 0; i < 500; ++i) {
    const int chosen = turns.Pick(offers);
    ASSERT_GE(chosen, 0);
    ++given[chosen];
    turns.Start(&offers[chosen]);
    turns.End();
  }
  EXPECT_EQ(given, std::vector<int>(5, 100));
}

TEST(TurnsTest, NoJobOvertakesOneWithTheCard) {
  std::vector<Turn> offers = {{2, true}, {1, false}};
  Turns turns;
  ASSERT_EQ(turns.Pick(offers), 0);
  turns.Start(&offers[0]);
  offers[1].ready = true;
  EXPECT_EQ(turns.Pick(offers), -1);
  offers[1].priority = 3;
  ASSERT_EQ(turns.Pick(offers), 0);
  turns.Start(&offers[0]);
  EXPECT_EQ(turns.Pick(offers), -1) << "enough are with the card";
  turns.End();
  EXPECT_EQ(turns.Pick(offers), 0);
}

TEST(TurnsTest, NobodyIsChosenWhenNobodyIsReady) {
  const Turns turns;
  EXPECT_EQ(turns.Pick({{0, false}, {1, false}}), -1);
  EXPECT_EQ(turns.Pick({}), -1);
}

}  // namespace
}  // namespace heddle::hosted
