// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/results_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "kmd/hosted/clock.h"
#include "kmd/hosted/results_board.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kSecond = 1000000000;

// A board, and the page as its client sees it.
class ResultsPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ResultsBoard::Create(&board_, &fd_), 0);
    void* p = mmap(nullptr, ResultsPage::kBytes, PROT_READ, MAP_SHARED, fd_, 0);
    ASSERT_NE(p, MAP_FAILED);
    page_ = static_cast<const ResultsPage*>(p);
  }
  void TearDown() override {
    munmap(const_cast<ResultsPage*>(page_), ResultsPage::kBytes);
    close(fd_);
  }
  static drm_heddle_result Result(uint64_t value) {
    drm_heddle_result r = {};
    r.status = static_cast<uint32_t>(value);
    r.cycles = r.macs = r.dma_busy = value;
    return r;
  }

  std::unique_ptr<ResultsBoard> board_;
  int fd_ = -1;
  const ResultsPage* page_ = nullptr;
};

TEST_F(ResultsPageTest, ShowsWhatWasPublished) {
  drm_heddle_result r;
  EXPECT_FALSE(page_->Find(1, 1, &r));
  EXPECT_FALSE(page_->Find(0, 0, &r)) << "nothing is not a job";
  board_->Publish(1, 1, Result(5));
  board_->Publish(2, 1, Result(6));
  ASSERT_TRUE(page_->Find(1, 1, &r));
  EXPECT_EQ(r.cycles, 5u);
  ASSERT_TRUE(page_->Find(2, 1, &r));
  EXPECT_EQ(r.cycles, 6u);
  EXPECT_FALSE(page_->Find(1, 2, &r));
  EXPECT_FALSE(page_->Find(1, 1 + ResultsPage::kPlaces, &r));
}

TEST_F(ResultsPageTest, LaterJobsTakeThePlacesOfEarlierOnes) {
  for (uint64_t i = 1; i <= 2 * ResultsPage::kPlaces; ++i)
    board_->Publish(3, i, Result(i));
  drm_heddle_result r;
  for (uint64_t i = 1; i <= 2 * ResultsPage::kPlaces; ++i) {
    ASSERT_EQ(page_->Find(3, i, &r), i > ResultsPage::kPlaces) << i;
    if (i > ResultsPage::kPlaces) {
      EXPECT_EQ(r.macs, i);
    }
  }
}

TEST_F(ResultsPageTest, TakesItsWordBack) {
  drm_heddle_result r;
  board_->Publish(1, 1, Result(1));
  board_->Publish(2, 1, Result(2));
  board_->Forget(1);
  EXPECT_FALSE(page_->Find(1, 1, &r));
  EXPECT_TRUE(page_->Find(2, 1, &r));
  board_ = nullptr;
  EXPECT_TRUE(page_->withdrawn());
  EXPECT_FALSE(page_->Find(2, 1, &r));
}

// Whoever has the descriptor may be anybody.
TEST_F(ResultsPageTest, CannotBeChangedByItsClient) {
  EXPECT_EQ(mmap(nullptr, ResultsPage::kBytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED, fd_, 0),
            MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(mprotect(const_cast<ResultsPage*>(page_), ResultsPage::kBytes,
                     PROT_READ | PROT_WRITE),
            0);
  const char byte = 1;
  EXPECT_EQ(pwrite(fd_, &byte, 1, 0), -1);
  EXPECT_EQ(ftruncate(fd_, 0), -1);
  EXPECT_EQ(ftruncate(fd_, 2 * ResultsPage::kBytes), -1);
  EXPECT_EQ(fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                      ResultsPage::kBytes),
            -1);
  EXPECT_EQ(fcntl(fd_, F_ADD_SEALS, F_SEAL_WRITE), -1);
  board_->Publish(1, 1, Result(7));
  drm_heddle_result r;
  EXPECT_TRUE(page_->Find(1, 1, &r));
}

TEST_F(ResultsPageTest, NobodySeesHalfAResult) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> seen{0};
  std::thread reader([&] {
    while (!stop) {
      for (const uint64_t seqno : {1u, 2u}) {
        drm_heddle_result r;
        if (!page_->Find(1, seqno, &r)) continue;
        if (r.cycles != r.macs || r.cycles != r.dma_busy ||
            r.cycles % 2 != seqno % 2)
          ADD_FAILURE() << seqno << " " << r.cycles << " " << r.macs;
        seen++;
      }
    }
  });
  const uint64_t limit = NowNs() + 20 * kSecond;
  for (uint64_t i = 1; i < 20000 || (seen < 100 && NowNs() < limit); ++i) {
    board_->Publish(1, i % 2 == 1 ? 1 : 2, Result(i));
  }
  stop = true;
  reader.join();
  EXPECT_GE(seen, 100u);
}

TEST_F(ResultsPageTest, SleepersWakeUp) {
  // Not for what has happened already.
  const uint32_t before = page_->changes();
  board_->Publish(1, 1, Result(1));
  const uint64_t limit = NowNs() + 30 * kSecond;
  page_->Sleep(before, limit);
  EXPECT_LT(NowNs(), limit);
  // For what happens, and for the end.
  for (const bool end : {false, true}) {
    std::thread sleeper([&] {
      drm_heddle_result r;
      for (;;) {
        const uint32_t seen = page_->changes();
        if (end ? page_->withdrawn() : page_->Find(1, 2, &r)) return;
        page_->Sleep(seen, NowNs() + 30 * kSecond);
      }
    });
    usleep(20000);
    if (end) {
      board_ = nullptr;
    } else {
      board_->Publish(1, 2, Result(2));
    }
    sleeper.join();
  }
  EXPECT_LT(NowNs(), limit);
  // And when it is time.
  page_->Sleep(page_->changes(), NowNs() + kSecond / 1000);
}

}  // namespace
}  // namespace heddle::hosted
