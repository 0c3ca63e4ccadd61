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

struct Object {
  heddle_mem_node node = {};
  int name = 0;
};

// Against a plain model of the memory: whatever happens, nothing overlaps,
// accounting is exact, an allocation fails only when the sum does not fit, and
// carrying the moves out in order keeps every object's contents, although
// objects come and go while they are carried out.
class Life {
 public:
  void Run() {
    mem_.total = kPages * kPage;
    for (int round = 0; round < 20000; ++round) {
      if (random_() % 2 == 0) {
        Remove();
      } else {
        Allocate();
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(compactions_, 100);
    EXPECT_GT(placed_meanwhile_, 20);
    EXPECT_GT(removed_meanwhile_, 100);
  }

 private:
  static constexpr u64 kPages = 64;

  bool Remove() {
    if (objects_.empty()) return false;
    const size_t i = random_() % objects_.size();
    for (int& page : picture_) {
      if (page == objects_[i]->name) page = -1;
    }
    heddle_mem_remove(&mem_, &objects_[i]->node);
    objects_.erase(objects_.begin() + i);
    return true;
  }

  void Place(std::unique_ptr<Object> object) {
    const auto at = picture_.begin() + object->node.offset / kPage;
    const long pages = object->node.size / kPage;
    ASSERT_EQ(std::count(at, at + pages, -1), pages);
    std::fill_n(at, pages, object->name);
    objects_.push_back(std::move(object));
  }

  void Copy(const heddle_mem_move& move) {
    ASSERT_LT(move.to, move.from);
    const auto from = picture_.begin() + move.from / kPage;
    std::vector<int> held(from, from + move.size / kPage);
    const int name = move.node ? held[0] : -1;
    // The card also writes what was removed meanwhile: over nobody.
    std::replace(from, from + held.size(), name, -1);
    const auto to = picture_.begin() + move.to / kPage;
    ASSERT_EQ(std::count(to, to + held.size(), -1),
              static_cast<long>(held.size()));
    std::fill_n(to, held.size(), name);
  }

  // Somebody else's calls between those of a compaction.
  void Meanwhile() {
    if (random_() % 4 == 0 && Remove()) ++removed_meanwhile_;
    if (random_() % 2 != 0) return;
    auto object = std::make_unique<Object>();
    object->name = next_name_++;
    if (heddle_mem_insert(&mem_, &object->node, (1 + random_() % 3) * kPage) ==
        0) {
      Place(std::move(object));
      ++placed_meanwhile_;
    }
  }

  void Compact(u64 need) {
    for (int n = 1; n > 0;) {
      heddle_mem_move moves[3];
      n = heddle_mem_plan(&mem_, need, moves, 1 + random_() % 3);
      ASSERT_GE(n, 0);
      if (n == 0) break;
      Meanwhile();
      for (int i = 0; i < n; ++i) Copy(moves[i]);
      heddle_mem_apply(&mem_);
      Meanwhile();
    }
  }

  void Allocate() {
    const u64 size = 1 + random_() % (12 * kPage);
    const u64 pages = (size + kPage - 1) / kPage;
    const u64 free = std::count(picture_.begin(), picture_.end(), -1);
    ASSERT_EQ(heddle_mem_available(&mem_), free * kPage);
    auto object = std::make_unique<Object>();
    object->name = next_name_++;
    int err = heddle_mem_insert(&mem_, &object->node, size);
    ASSERT_EQ(err == -ENOSPC, pages > free);
    if (err == -EAGAIN) {
      ++compactions_;
      Compact(pages * kPage);
      // One pass is enough, whatever others did meanwhile.
      err = heddle_mem_insert(&mem_, &object->node, size);
      ASSERT_EQ(err, 0);
    }
    if (err == 0) Place(std::move(object));
    for (const auto& o : objects_) {
      const auto mine = picture_.begin() + o->node.offset / kPage;
      ASSERT_EQ(std::count(mine, mine + o->node.size / kPage, o->name),
                static_cast<long>(o->node.size / kPage));
    }
  }

  std::mt19937 random_{7};
  heddle_mem mem_ = {};
  std::vector<int> picture_ = std::vector<int>(kPages, -1);
  std::vector<std::unique_ptr<Object>> objects_;
  int next_name_ = 0, compactions_ = 0;
  int placed_meanwhile_ = 0, removed_meanwhile_ = 0;
};

TEST(HeddleMem, RandomLifeAgainstAPictureOfTheMemory) { Life().Run(); }

// Every other one of 131,072 objects is freed, which leaves no gap larger than
// a page. What the compaction looks at grows with its moves, not with their
// square.
TEST(HeddleMem, PlanningIsLinearInTheNumberOfMoves) {
  constexpr u64 kObjects = 131072;
  std::vector<heddle_mem_node> nodes(kObjects);
  heddle_mem mem = {};
  mem.total = kObjects * kPage;
  for (auto& node : nodes) ASSERT_EQ(heddle_mem_insert(&mem, &node, kPage), 0);
  EXPECT_LE(mem.visited, 2 * kObjects) << "filling an empty memory in order";
  for (u64 i = 0; i < kObjects; i += 2) heddle_mem_remove(&mem, &nodes[i]);

  const u64 before = mem.visited;
  u64 moved = 0;
  heddle_mem_node large = {};
  ASSERT_EQ(heddle_mem_insert(&mem, &large, kObjects / 2 * kPage), -EAGAIN);
  for (int n = 1; n > 0;) {
    heddle_mem_move moves[HEDDLE_STEPS_MAX];
    n = heddle_mem_plan(&mem, kObjects / 2 * kPage, moves, HEDDLE_STEPS_MAX);
    ASSERT_GE(n, 0);
    heddle_mem_apply(&mem);
    moved += n;
  }
  ASSERT_EQ(heddle_mem_insert(&mem, &large, kObjects / 2 * kPage), 0);
  EXPECT_EQ(moved, kObjects / 2 - 1);  // above the last lies nothing
  EXPECT_LE(mem.visited - before, 5 * moved);
}

}  // namespace
