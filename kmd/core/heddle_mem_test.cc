// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A random life of the memory; the named cases are in cases/.
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
