// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_mem.h"

#include "heddle_hw.h"
}
#include <errno.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace {

constexpr u64 kPage = HEDDLE_PAGE_BYTES;

TEST(HeddleMem, HandsOutTheCardWithoutTheReserve) {
  u64 total = 0;
  EXPECT_EQ(heddle_mem_total(HEDDLE_DRAM_BYTES_MIN, &total), 0);
  EXPECT_EQ(total, HEDDLE_DRAM_BYTES_MIN - HEDDLE_DEVICE_RESERVE_BYTES);
  EXPECT_EQ(heddle_mem_total(HEDDLE_DRAM_BYTES_MIN + 5, &total), 0);
  EXPECT_EQ(total % kPage, 0u);
  // The size comes from the card.
  for (u64 bytes : {u64{0}, u64{HEDDLE_DEVICE_RESERVE_BYTES},
                    HEDDLE_DRAM_BYTES_MAX + 1, ~u64{0}}) {
    EXPECT_EQ(heddle_mem_total(bytes, &total), -ERANGE) << bytes;
  }
}

TEST(HeddleMem, RoundsUpToPages) {
  u64 r = 0;
  EXPECT_EQ(heddle_mem_round(0, &r), -EINVAL);
  EXPECT_EQ(heddle_mem_round(1, &r), 0);
  EXPECT_EQ(r, kPage);
  EXPECT_EQ(heddle_mem_round(kPage, &r), 0);
  EXPECT_EQ(r, kPage);
  EXPECT_EQ(heddle_mem_round(~u64{0}, &r), -ENOSPC);
  EXPECT_EQ(heddle_mem_round(~u64{0} - kPage + 1, &r), 0);
}

TEST(HeddleMem, RefusesOnlyWhenTheSumExceedsTheTotal) {
  heddle_mem mem;
  heddle_mem_init(&mem, 3 * kPage);
  heddle_mem_node a = {}, b = {}, c = {}, d = {};
  EXPECT_EQ(heddle_mem_insert(&mem, &a, 1), 0);
  EXPECT_EQ(heddle_mem_insert(&mem, &b, 2 * kPage + 1), -ENOSPC);
  EXPECT_EQ(heddle_mem_insert(&mem, &b, kPage), 0);
  EXPECT_EQ(heddle_mem_insert(&mem, &c, kPage), 0);
  EXPECT_EQ(heddle_mem_available(&mem), 0u);
  EXPECT_EQ(heddle_mem_insert(&mem, &d, 1), -ENOSPC);
  heddle_mem_remove(&mem, &a);
  heddle_mem_remove(&mem, &a);  // not placed: nothing happens
  heddle_mem_remove(&mem, &c);
  EXPECT_EQ(heddle_mem_available(&mem), 2 * kPage);
  EXPECT_EQ(heddle_mem_insert(&mem, &d, 2 * kPage), -EAGAIN);
  heddle_mem_move move;
  ASSERT_EQ(heddle_mem_plan(&mem, 2 * kPage, &move, 1), 1);
  EXPECT_EQ(move.node, &b);
  EXPECT_EQ(move.to, 0u);
  heddle_mem_apply(&move, 1);
  EXPECT_EQ(heddle_mem_plan(&mem, 2 * kPage, &move, 1), 0);
  EXPECT_EQ(heddle_mem_insert(&mem, &d, 2 * kPage), 0);
}

TEST(HeddleMem, ShrinkingRefusesNewObjectsAndKeepsOld) {
  heddle_mem mem;
  heddle_mem_init(&mem, 8 * kPage);
  heddle_mem_node a = {}, b = {};
  ASSERT_EQ(heddle_mem_insert(&mem, &a, 6 * kPage), 0);
  heddle_mem_resize(&mem, 4 * kPage);
  EXPECT_EQ(heddle_mem_available(&mem), 0u);
  EXPECT_EQ(heddle_mem_insert(&mem, &b, 1), -ENOSPC);
  heddle_mem_remove(&mem, &a);
  EXPECT_EQ(heddle_mem_insert(&mem, &b, 4 * kPage), 0);
}

// Against a plain picture of the memory: whatever happens, nothing overlaps,
// accounting is exact, an allocation fails only when the sum does not fit, and
// executing the moves in order keeps every object's contents.
TEST(HeddleMem, RandomLifeAgainstAPictureOfTheMemory) {
  constexpr u64 kPages = 64;
  std::mt19937 random(7);
  heddle_mem mem;
  heddle_mem_init(&mem, kPages * kPage);
  std::vector<int> picture(kPages, -1);
  struct Object {
    heddle_mem_node node = {};
    int name;
  };
  std::vector<std::unique_ptr<Object>> objects;
  int next_name = 0, compactions = 0;
  for (int round = 0; round < 20000; ++round) {
    if (random() % 2 == 0 && !objects.empty()) {
      const size_t i = random() % objects.size();
      std::fill_n(picture.begin() + objects[i]->node.offset / kPage,
                  objects[i]->node.size / kPage, -1);
      heddle_mem_remove(&mem, &objects[i]->node);
      objects.erase(objects.begin() + i);
      continue;
    }
    const u64 size = 1 + random() % (12 * kPage);
    const u64 pages = (size + kPage - 1) / kPage;
    const u64 free = std::count(picture.begin(), picture.end(), -1);
    ASSERT_EQ(heddle_mem_available(&mem), free * kPage);
    auto object = std::make_unique<Object>();
    object->name = next_name++;
    int err = heddle_mem_insert(&mem, &object->node, size);
    ASSERT_EQ(err == -ENOSPC, pages > free);
    for (int n = 1; err == -EAGAIN && n > 0;) {
      heddle_mem_move moves[3];
      n = heddle_mem_plan(&mem, pages * kPage, moves, 1 + random() % 3);
      ASSERT_GE(n, 0);
      for (int i = 0; i < n; ++i) {
        ASSERT_LT(moves[i].to, moves[i].from);
        const auto from = picture.begin() + moves[i].from / kPage;
        std::vector<int> held(from, from + moves[i].size / kPage);
        std::fill(from, from + held.size(), -1);
        const auto to = picture.begin() + moves[i].to / kPage;
        ASSERT_EQ(std::count(to, to + held.size(), -1),
                  static_cast<long>(held.size()));
        std::copy(held.begin(), held.end(), to);
      }
      heddle_mem_apply(moves, n);
      if (n > 0) continue;
      err = heddle_mem_insert(&mem, &object->node, size);
      ASSERT_EQ(err, 0);
      ++compactions;
    }
    if (err != 0) continue;
    const auto at = picture.begin() + object->node.offset / kPage;
    ASSERT_EQ(std::count(at, at + pages, -1), static_cast<long>(pages));
    std::fill_n(at, pages, object->name);
    objects.push_back(std::move(object));
    for (const auto& o : objects) {
      const auto mine = picture.begin() + o->node.offset / kPage;
      ASSERT_EQ(std::count(mine, mine + o->node.size / kPage, o->name),
                static_cast<long>(o->node.size / kPage));
    }
  }
  EXPECT_GT(compactions, 100);
}

}  // namespace
