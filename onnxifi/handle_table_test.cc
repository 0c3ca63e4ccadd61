// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace heddle::onnxifi {
namespace {

TEST(HandleTable, FindsWhatWasInserted) {
  HandleTable<int> table(5);
  void* a = table.Insert(std::make_shared<int>(1));
  void* b = table.Insert(std::make_shared<int>(2));
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(*table.Find(a), 1);
  EXPECT_EQ(*table.Find(b), 2);
  EXPECT_EQ(table.All().size(), 2u);
}

TEST(HandleTable, RefusesReleasedForeignAndWildHandles) {
  HandleTable<int> table(5), other(6);
  void* a = table.Insert(std::make_shared<int>(1));
  EXPECT_EQ(*table.Erase(a), 1);
  EXPECT_EQ(table.Erase(a), nullptr);
  EXPECT_EQ(table.Find(a), nullptr);
  void* again = table.Insert(std::make_shared<int>(2));
  EXPECT_NE(again, a);  // the same slot in a new generation
  EXPECT_EQ(table.Find(a), nullptr);
  void* foreign = other.Insert(std::make_shared<int>(3));
  EXPECT_EQ(table.Find(foreign), nullptr);
  int local = 0;
  const uint64_t bits = reinterpret_cast<uint64_t>(again);
  for (uint64_t wild : {uint64_t{0}, uint64_t{1}, ~uint64_t{0},
                        reinterpret_cast<uint64_t>(&local), bits + 1,
                        bits ^ (1 << 20), bits ^ (uint64_t{1} << 60)}) {
    EXPECT_EQ(table.Find(reinterpret_cast<void*>(wild)), nullptr) << wild;
    EXPECT_EQ(table.Erase(reinterpret_cast<void*>(wild)), nullptr) << wild;
  }
}

TEST(HandleTable, RetiresASlotWhoseGenerationsAreUsedUp) {
  HandleTable<int> table(5, HandleTable<int>::kMaxGeneration - 1);
  std::set<void*> seen;
  for (int i = 0; i < 100; ++i) {
    void* handle = table.Insert(std::make_shared<int>(i));
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_NE(table.Erase(handle), nullptr);
    EXPECT_EQ(table.Find(handle), nullptr);
  }
}

TEST(HandleTable, IsFullAtItsLimit) {
  HandleTable<int> table(5);
  auto object = std::make_shared<int>(1);
  for (uint64_t i = 0; i < HandleTable<int>::kMaxSlots; ++i) {
    ASSERT_NE(table.Insert(object), nullptr);
  }
  EXPECT_EQ(table.Insert(object), nullptr);
}

TEST(HandleTable, ErasesOnceAmongThreads) {
  HandleTable<int> table(5);
  for (int round = 0; round < 200; ++round) {
    void* handle = table.Insert(std::make_shared<int>(round));
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (table.Find(handle) != nullptr && table.Erase(handle) != nullptr) {
          ++winners;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
  }
}

}  // namespace
}  // namespace heddle::onnxifi
