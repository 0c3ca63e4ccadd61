// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_ring.h"

#include "heddle_hw.h"
}
#include <errno.h>

#include "gtest/gtest.h"

namespace {

TEST(HeddleRing, TakesOnlyPowersOfTwoUpToTheLimit) {
  heddle_ring ring;
  heddle_completion_ring completions;
  for (u32 size : {0u, 3u, HEDDLE_RING_ENTRIES_MAX + 1,
                   HEDDLE_RING_ENTRIES_MAX * 2, ~0u}) {
    EXPECT_EQ(heddle_ring_init(&ring, size), -EINVAL) << size;
    EXPECT_EQ(heddle_completion_init(&completions, size), -EINVAL) << size;
  }
  for (u32 size = 1; size <= HEDDLE_RING_ENTRIES_MAX; size *= 2) {
    EXPECT_EQ(heddle_ring_init(&ring, size), 0);
    EXPECT_EQ(heddle_ring_space(&ring), size);
  }
}

TEST(HeddleRing, CountsAcrossTheWrapOf32Bits) {
  heddle_ring ring;
  ASSERT_EQ(heddle_ring_init(&ring, 4), 0);
  ring.head = ring.tail = 0xfffffffe;
  u32 index = 0;
  for (u32 i = 0; i < 4; ++i) {
    ASSERT_EQ(heddle_ring_push(&ring, &index), 0);
    EXPECT_EQ(index, (0xfffffffe + i) % 4);
  }
  EXPECT_EQ(heddle_ring_push(&ring, &index), -ENOSPC);
  EXPECT_EQ(ring.head, 2u);
  u32 count = 0;
  ASSERT_EQ(heddle_ring_retire(&ring, 1, &count), 0);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(heddle_ring_used(&ring), 1u);
}

TEST(HeddleRing, RefusesATailThatTheCardCannotHave) {
  heddle_ring ring;
  ASSERT_EQ(heddle_ring_init(&ring, 8), 0);
  u32 index, count = 77;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(heddle_ring_push(&ring, &index), 0);
  for (u32 tail : {4u, 8u, 0x80000000u, ~0u}) {
    EXPECT_EQ(heddle_ring_retire(&ring, tail, &count), -EIO) << tail;
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(ring.tail, 0u);
  }
  EXPECT_EQ(heddle_ring_retire(&ring, 3, &count), 0);
  EXPECT_EQ(heddle_ring_retire(&ring, 2, &count), -EIO)
      << "tails never go back";
}

TEST(HeddleRing, KnowsTheNextCompletionByItsNumber) {
  heddle_completion_ring ring = {0, 0};
  EXPECT_FALSE(heddle_completion_ready(&ring, 0)) << "disabled";
  ASSERT_EQ(heddle_completion_init(&ring, 4), 0);
  EXPECT_FALSE(heddle_completion_ready(&ring, 0));
  EXPECT_FALSE(heddle_completion_ready(&ring, 2));
  for (u32 i = 0; i < 10; ++i) {
    EXPECT_EQ(heddle_completion_index(&ring), i % 4);
    EXPECT_TRUE(heddle_completion_ready(&ring, i + 1));
    heddle_completion_advance(&ring);
    EXPECT_FALSE(heddle_completion_ready(&ring, i + 1));
  }
  ring.next = ~0u;
  heddle_completion_advance(&ring);
  EXPECT_TRUE(heddle_completion_ready(&ring, 0)) << "modulo 2^32";
}

}  // namespace
