// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/byte_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heddle::model {
namespace {

using Runs = std::vector<std::pair<uint64_t, uint64_t>>;

bool Meet(const Runs& a, const Runs& b) {
  ByteSet sets[2] = {ByteSet(64), ByteSet(64)};
  for (const auto& [first, last] : a) sets[0].Add(first, last);
  for (const auto& [first, last] : b) sets[1].Add(first, last);
  for (ByteSet& set : sets) set.Seal();
  EXPECT_EQ(sets[0].Meets(sets[1]), sets[1].Meets(sets[0]));
  return sets[0].Meets(sets[1]);
}

TEST(ByteSet, BytesOfOneGranule) {
  EXPECT_FALSE(Meet({{0, 7}}, {{8, 15}}));
  EXPECT_TRUE(Meet({{0, 8}}, {{8, 15}}));
  EXPECT_FALSE(Meet({{0, 0}, {2, 2}, {4, 40}}, {{1, 1}, {3, 3}, {41, 41}}));
  EXPECT_TRUE(Meet({{0, 0}, {2, 2}, {4, 40}}, {{1, 1}, {40, 41}}));
  // A granule in parts, and as a whole.
  EXPECT_TRUE(Meet({{3, 3}, {0, 15}}, {{9, 9}}));
  EXPECT_TRUE(Meet({{0, 15}, {3, 3}}, {{9, 9}}));
  EXPECT_TRUE(Meet({{0, 7}, {8, 15}}, {{9, 9}}));
  EXPECT_FALSE(Meet({}, {{0, 1023}}));
}

TEST(ByteSet, RandomSets) {
  std::mt19937 random(1);
  int met = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    Runs runs[2];
    std::set<uint64_t> bytes[2];
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < 6; ++i) {
        const uint64_t first = random() % 990;
        const uint64_t last = first + random() % (turn % 2 == 0 ? 33 : 4);
        runs[k].push_back({first, last});
        for (uint64_t b = first; b <= last; ++b) bytes[k].insert(b);
      }
    }
    bool want = false;
    for (uint64_t b : bytes[0]) want = want || bytes[1].count(b) > 0;
    EXPECT_EQ(Meet(runs[0], runs[1]), want) << turn;
    met += want;
  }
  EXPECT_GT(met, 200);
  EXPECT_LT(met, 1800);
}

}  // namespace
}  // namespace heddle::model
