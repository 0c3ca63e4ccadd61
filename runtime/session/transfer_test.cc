// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/transfer.h"

#include <gtest/gtest.h>

#include <random>

namespace heddle::session {
namespace {

TEST(Transfer, JoinsNeighbours) {
  const auto ranges = Merge({{100, 50}, {0, 100}, {200, 0}}, 8);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].offset, 0u);
  EXPECT_EQ(ranges[0].size, 150u);
  EXPECT_EQ(Merge({{0, 1}, {1 << 20, 1}}, 8).size(), 2u);
  EXPECT_TRUE(Merge({}, 8).empty());
  EXPECT_TRUE(Merge({{5, 0}}, 8).empty());
}

TEST(Transfer, CoversEveryPartWithinTheLimit) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Range> parts;
    for (size_t i = 0; i < 1 + random() % 20; ++i) {
      parts.push_back({random() % (1 << 24), random() % (1 << 16)});
    }
    const size_t most = 1 + random() % 6;
    const auto ranges = Merge(parts, most);
    EXPECT_LE(ranges.size(), most);
    for (size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_GT(ranges[i].offset, ranges[i - 1].offset + ranges[i - 1].size);
    }
    for (const Range& part : parts) {
      bool covered = part.size == 0;
      for (const Range& range : ranges) {
        covered |= range.offset <= part.offset &&
                   part.offset + part.size <= range.offset + range.size;
      }
      EXPECT_TRUE(covered);
    }
  }
}

}  // namespace
}  // namespace heddle::session
