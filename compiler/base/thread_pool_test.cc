// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <set>

namespace heddle::compiler {
namespace {

TEST(ThreadPool, EachIndexOnce) {
  for (int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (size_t count : {0, 1, 2, 100, 5000}) {
      std::vector<int> done(count);
      pool.For(count, [&](size_t i) { ++done[i]; });
      EXPECT_EQ(done, std::vector<int>(count, 1));
    }
  }
}

// Two bodies that wait for each other end only if two threads run them.
TEST(ThreadPool, ThreadsRunAtTheSameTime) {
  ThreadPool pool(2);
  std::atomic<int> here{0};
  pool.For(2, [&](size_t) {
    ++here;
    while (here < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here, 2);
}

TEST(ThreadPool, OneThreadIsTheCallers) {
  ThreadPool pool(1);
  const auto self = std::this_thread::get_id();
  pool.For(10, [&](size_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST(ThreadPool, ThrowsWhatABodyThrows) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int i = 0; i < 100; ++i) {
      EXPECT_THROW(pool.For(50,
                            [](size_t k) {
                              if (k % 10 == 7) throw std::bad_alloc();
                            }),
                   std::bad_alloc);
      std::atomic<int> done{0};
      pool.For(50, [&](size_t) { ++done; });
      EXPECT_EQ(done, 50);
    }
  }
}

TEST(ThreadPool, AtLeastOneThread) {
  EXPECT_GE(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(-3).threads(), 1);
}

}  // namespace
}  // namespace heddle::compiler
