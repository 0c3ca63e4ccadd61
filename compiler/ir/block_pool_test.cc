// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace heddle::compiler {
namespace {

constexpr size_t kLarge = 1 << 20;
using Bytes = std::vector<uint8_t, PooledAllocator<uint8_t>>;

TEST(BlockPool, ABlockComesBack) {
  const auto pool = std::make_shared<BlockPool>(64 * kLarge, 4 * kLarge);
  const BlockPoolScope scope(pool);
  const uint8_t* at = nullptr;
  {
    Bytes bytes(kLarge, 7);
    at = bytes.data();
    EXPECT_EQ(pool->kept_bytes(), 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 64, 0u);
  }
  EXPECT_EQ(pool->kept_bytes(), kLarge);
  const Bytes smaller(kLarge - 5);
  EXPECT_EQ(smaller.data(), at);
  EXPECT_EQ(pool->kept_bytes(), 0u);
  EXPECT_EQ(smaller[0], 0);  // a vector's elements are new
  const Bytes other(kLarge);
  EXPECT_NE(other.data(), at);
}

TEST(BlockPool, OnlyLargeBlocksOfAScope) {
  const auto pool = std::make_shared<BlockPool>(64 * kLarge, 4 * kLarge);
  { Bytes bytes(kLarge); }
  {
    const BlockPoolScope scope(pool);
    Bytes bytes(kLeastPooledBytes - 1);
  }
  EXPECT_EQ(pool->kept_bytes(), 0u);
  {
    const BlockPoolScope scope(pool);
    Bytes bytes(kLeastPooledBytes);
  }
  EXPECT_EQ(pool->kept_bytes(), kLeastPooledBytes);
}

TEST(BlockPool, TheInnermostScopeCounts) {
  const auto outer = std::make_shared<BlockPool>(64 * kLarge, kLarge);
  const auto inner = std::make_shared<BlockPool>(64 * kLarge, kLarge);
  const BlockPoolScope scope(outer);
  {
    const BlockPoolScope within(inner);
    Bytes bytes(kLarge);
  }
  EXPECT_EQ(inner->kept_bytes(), kLarge);
  EXPECT_EQ(outer->kept_bytes(), 0u);
  { Bytes bytes(kLarge); }
  EXPECT_EQ(outer->kept_bytes(), kLarge);
}

// A small tensor in a large block would take memory for two, and the best of
// those that fit is taken.
TEST(BlockPool, TakesWhatFits) {
  const auto pool = std::make_shared<BlockPool>(64 * kLarge, 16 * kLarge);
  const BlockPoolScope scope(pool);
  const uint8_t *four = nullptr, *five = nullptr;
  {
    Bytes a(5 * kLarge), b(4 * kLarge);
    five = a.data();
    four = b.data();
  }
  EXPECT_EQ(pool->kept_bytes(), 9 * kLarge);
  const Bytes small(kLarge);
  EXPECT_NE(small.data(), four);
  EXPECT_EQ(pool->kept_bytes(), 9 * kLarge);
  const Bytes third(3 * kLarge), again(3 * kLarge);
  EXPECT_EQ(third.data(), four);
  EXPECT_EQ(again.data(), five);
}

TEST(BlockPool, KeepsTheLatestUpToItsLimit) {
  const auto pool = std::make_shared<BlockPool>(64 * kLarge, 3 * kLarge);
  const BlockPoolScope scope(pool);
  { Bytes bytes(kLarge); }
  { Bytes bytes(4 * kLarge); }  // more than the pool keeps
  EXPECT_EQ(pool->kept_bytes(), kLarge);
  { Bytes bytes(3 * kLarge); }
  EXPECT_EQ(pool->kept_bytes(), 3 * kLarge);
  {
    Bytes a(kLarge), b(kLarge), c(kLarge);  // (no block is that small)
  }
  EXPECT_EQ(pool->kept_bytes(), 3 * kLarge);
}

// Blocks in use and kept ones together have a limit, too.
TEST(BlockPool, KeepsNothingBeyondTheWhole) {
  const auto pool = std::make_shared<BlockPool>(4 * kLarge, 3 * kLarge);
  const BlockPoolScope scope(pool);
  { Bytes a(kLarge), b(kLarge), c(kLarge); }
  EXPECT_EQ(pool->kept_bytes(), 3 * kLarge);
  const Bytes four(3 * kLarge);  // (no block is that large)
  EXPECT_EQ(pool->kept_bytes(), kLarge);
  {
    const Bytes one(kLarge), more(kLarge);
    EXPECT_EQ(pool->kept_bytes(), 0u);
  }
  EXPECT_EQ(pool->kept_bytes(), kLarge);
}

// With a sanitizer the process ends where operator new has nothing to give.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif !defined(__has_feature)
constexpr bool kSanitized = false;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Where the system has no more, what is kept goes before the error comes.
TEST(BlockPool, GivesBackBeforeItFails) {
  if (kSanitized) GTEST_SKIP() << "under a sanitizer";
  const auto pool = std::make_shared<BlockPool>(uint64_t{1} << 62, 4 * kLarge);
  const BlockPoolScope scope(pool);
  { Bytes bytes(kLarge); }
  EXPECT_EQ(pool->kept_bytes(), kLarge);
  EXPECT_THROW(PooledAllocator<uint8_t>().allocate(size_t{1} << 60),
               std::bad_alloc);
  EXPECT_EQ(pool->kept_bytes(), 0u);
  { Bytes bytes(kLarge); }
  EXPECT_EQ(pool->kept_bytes(), kLarge);
}

// Tensors outlive the function that computed them, and threads free those of
// others.
TEST(BlockPool, BlocksOutliveThePoolsOwner) {
  Bytes bytes;
  {
    const auto pool = std::make_shared<BlockPool>(64 * kLarge, kLarge);
    const BlockPoolScope scope(pool);
    bytes.resize(kLarge, 9);
  }
  std::thread([&bytes] { bytes = Bytes(); }).join();
}

TEST(BlockPool, OfManyThreads) {
  const auto pool = std::make_shared<BlockPool>(64 * kLarge, 4 * kLarge);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      const BlockPoolScope scope(pool);
      for (size_t i = 0; i < 500; ++i) {
        Bytes bytes(kLeastPooledBytes * (1 + i % 7));
        std::memset(bytes.data(), t, bytes.size());
        ASSERT_EQ(bytes.front() + bytes.back(), 2 * t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(pool->kept_bytes(), kLeastPooledBytes);
  EXPECT_LE(pool->kept_bytes(), 4 * kLarge);
}

}  // namespace
}  // namespace heddle::compiler
