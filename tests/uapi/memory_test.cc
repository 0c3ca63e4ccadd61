// SPDX-License-Identifier: Apache-2.0
// Device memory: its limit to the page, zero before first use, moved but never
// lost.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class MemoryTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    total_ = MemoryInfo(c()).total;
  }
  int Create(uint64_t size, uint32_t* handle) {
    return CreateBo(c(), size, DRM_HEDDLE_DEVICE, handle);
  }
  // Closes it, and waits until the driver has it back.
  void Return(uint32_t handle) {
    const uint64_t before = MemoryInfo(c()).used;
    EXPECT_EQ(CloseBo(c(), handle), 0);
    EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used < before; }));
  }
  // How many bytes of the buffer are not `value`.
  uint64_t Others(Client* client, uint32_t bo, uint64_t size, uint8_t value) {
    const uint64_t piece = std::min<uint64_t>(size, 4 * kMiB);
    auto host = NewHost(client, piece);
    const uint32_t context = NewContext(client);
    uint64_t others = 0;
    for (uint64_t at = 0; at < size; at += piece) {
      const uint64_t n = std::min(piece, size - at);
      std::memset(host->data, ~value, n);
      EXPECT_EQ(Do(client, context, {CopyOut(bo, host->handle, n, at)}).status,
                0u);
      others += n - std::count(host->data, host->data + n, value);
    }
    return others;
  }

  uint32_t context_ = 0;
  uint64_t total_ = 0;
};

TEST_F(MemoryTest, TheLastPageIsAvailable) {
  uint32_t most = 0, last = 0;
  ASSERT_EQ(Create(total_ - kPage, &most), 0);
  ASSERT_EQ(Create(kPage, &last), 0);
  EXPECT_EQ(MemoryInfo(c()).used, total_);
  EXPECT_EQ(Do(c(), context_, {Fill(last, kPage, 1)}).status, 0u);
}

TEST_F(MemoryTest, AllOfItIsAvailableToOneBuffer) {
  uint32_t all = 0;
  ASSERT_EQ(Create(total_, &all), 0);
  EXPECT_EQ(Do(c(), context_, {Fill(all, 4, 1, total_ - 4)}).status, 0u);
}

TEST_F(MemoryTest, IsRefusedPageByPageAroundTheLimit) {
  for (uint64_t left : {uint64_t{1}, uint64_t{2}, uint64_t{17}}) {
    uint32_t most = 0;
    ASSERT_EQ(Create(total_ - left * kPage, &most), 0);
    for (int64_t step = -3; step <= 3; ++step) {
      const int64_t pages = static_cast<int64_t>(left) + step;
      if (pages <= 0) continue;
      uint32_t bo = 0;
      EXPECT_EQ(Create(pages * kPage, &bo), step <= 0 ? 0 : -ENOSPC) << pages;
      if (bo != 0) Return(bo);
    }
    Return(most);
  }
}

TEST_F(MemoryTest, OneByteTooManyIsAPageTooMany) {
  uint32_t most = 0, bo = 0;
  ASSERT_EQ(Create(total_ - 4 * kPage, &most), 0);
  EXPECT_EQ(Create(4 * kPage + 1, &bo), -ENOSPC);
  EXPECT_EQ(Create(4 * kPage, &bo), 0);
}

TEST_F(MemoryTest, NoneIsLeft) {
  uint32_t all = 0, bo = 0;
  ASSERT_EQ(Create(total_, &all), 0);
  uint64_t available = 1;
  EXPECT_EQ(CreateBo(c(), 1, DRM_HEDDLE_DEVICE, &bo, &available), -ENOSPC);
  EXPECT_EQ(available, 0u);
  EXPECT_EQ(CreateBo(c(), kPage, DRM_HEDDLE_HOST, &bo), 0) << "HOST is other";
}

TEST_F(MemoryTest, TheLimitIsThatOfAllFiles) {
  auto other = Open();
  NewDevice(other.get(), total_ / 2);
  uint32_t bo = 0;
  EXPECT_EQ(Create(total_ - total_ / 2 + 1, &bo), -ENOSPC);
  EXPECT_EQ(Create(total_ - total_ / 2, &bo), 0);
}

TEST_F(MemoryTest, IsThereAgainWhenAFileEnds) {
  auto other = Open();
  NewDevice(other.get(), total_);
  uint32_t bo = 0;
  EXPECT_EQ(Create(kPage, &bo), -ENOSPC);
  other = nullptr;
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 0; }));
  EXPECT_EQ(Create(total_, &bo), 0);
}

// Who has waited for the jobs need not wait for the memory.
TEST_F(MemoryTest, IsThereAgainAtOnce) {
  for (int i = 0; i < 20; ++i) {
    uint32_t bo = 0;
    ASSERT_EQ(Create(total_, &bo), 0) << i;
    ASSERT_EQ(Do(c(), context_, {Fill(bo, kPage, 1)}).status, 0u);
    ASSERT_EQ(CloseBo(c(), bo), 0);
  }
}

TEST_F(MemoryTest, IsZeroAtFirst) {
  uint32_t bo = 0;
  ASSERT_EQ(Create(3 * kPage, &bo), 0);
  EXPECT_EQ(Others(c(), bo, 3 * kPage, 0), 0u);
}

TEST_F(MemoryTest, IsZeroAfterSomebodyElse) {
  {
    auto other = Open();
    const uint32_t secret = NewDevice(other.get(), total_);
    ASSERT_EQ(Do(other.get(), NewContext(other.get()),
                 {Fill(secret, total_, 0xa5a5a5a5)})
                  .status,
              0u);
  }
  ASSERT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 0; }));
  uint32_t bo = 0;
  ASSERT_EQ(Create(total_, &bo), 0);
  EXPECT_EQ(Others(c(), bo, total_, 0), 0u);
}

TEST_F(MemoryTest, IsZeroAfterOneself) {
  for (int round = 0; round < 3; ++round) {
    uint32_t bo = 0;
    ASSERT_EQ(Create(kMiB, &bo), 0);
    EXPECT_EQ(Others(c(), bo, kMiB, 0), 0u) << round;
    ASSERT_EQ(Do(c(), context_, {Fill(bo, kMiB, ~0u)}).status, 0u);
    Return(bo);
  }
}

// SRAM, too, is nobody else's to see.
TEST_F(MemoryTest, SramIsZeroAfterSomebodyElse) {
  auto other = Open();
  const uint32_t mine = NewDevice(c(), kPage);
  const uint32_t theirs = NewDevice(other.get(), kPage);
  auto leave = [](uint32_t value) {
    return Stream(
        {Command("fill").Set("value", value).Set("n0", 2048).Set("t0", 1),
         Command("end")});
  };
  const std::vector<uint32_t> look =
      Stream({Command("store").Set("n0", 2048).Set("s0", 1).Set("t0", 1),
              Command("end")});
  const std::vector<drm_heddle_region> regions = {
      Region(0, mine, kPage, DRM_HEDDLE_REGION_WRITE)};
  const std::vector<drm_heddle_region> others = {
      Region(0, theirs, kPage, DRM_HEDDLE_REGION_WRITE)};
  const uint32_t their_context = NewContext(other.get());
  const uint32_t secret = NewStream(other.get(), leave(0x5a));
  const uint32_t see = NewStream(c(), look);
  ASSERT_EQ(Do(other.get(), their_context, {RunStream(secret, others)}).status,
            0u);
  ASSERT_EQ(Do(c(), context_, {Fill(mine, kPage, ~0u), RunStream(see, regions)})
                .status,
            0u);
  auto host = NewHost(c(), kPage);
  ASSERT_EQ(Do(c(), context_, {CopyOut(mine, host->handle, kPage)}).status, 0u);
  EXPECT_EQ(std::count(host->data, host->data + 2048, 0), 2048);
  EXPECT_EQ(std::count(host->data + 2048, host->data + kPage, 0xff), 2048);
}

TEST_F(MemoryTest, IsNeverRefusedBecauseItIsInPieces) {
  constexpr uint64_t kPieces = 16;
  const uint64_t piece = total_ / kPieces / kPage * kPage;
  std::vector<uint32_t> bos;
  for (uint32_t i = 0; i < kPieces; ++i) {
    uint32_t bo = 0;
    ASSERT_EQ(Create(piece, &bo), 0);
    ASSERT_EQ(Do(c(), context_, {Fill(bo, piece, 0x01010101 * (i + 1))}).status,
              0u);
    bos.push_back(bo);
  }
  for (uint32_t i = 0; i < kPieces; i += 2) Return(bos[i]);
  const auto before = Counters(c());
  const uint64_t left = total_ - MemoryInfo(c()).used;
  uint32_t big = 0;
  EXPECT_EQ(Create(left + 1, &big), -ENOSPC);
  ASSERT_EQ(Create(left, &big), 0);
  EXPECT_EQ(Counters(c()).compactions, before.compactions + 1);
  for (uint32_t i = 1; i < kPieces; i += 2) {
    EXPECT_EQ(Others(c(), bos[i], piece, i + 1), 0u) << i;
  }
  EXPECT_EQ(Others(c(), big, left, 0), 0u);
  // Copies on the card find both ends where they are now.
  ASSERT_EQ(Do(c(), context_, {CopyOnCard(bos[1], big, piece)}).status, 0u);
  EXPECT_EQ(Others(c(), big, piece, 2), 0u);
}

// Whether the thread sleeps in a call.
bool Sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t state = stat.rfind(')') + 2;
  return state < stat.size() && (stat[state] == 'S' || stat[state] == 'D');
}

// A compaction waits for the jobs that the card has; only who asked for it
// waits with it. The card has no more than two jobs at a time, so how long it
// waits has a limit: each call is made in a compaction of its own.
TEST_F(MemoryTest, NobodyElseWaitsForACompaction) {
  constexpr uint64_t kPieces = 8;
  struct Call {
    const char* name;
    std::function<void()> make;
  };
  const Call calls[] = {
      {"a buffer is created and closed",
       [&] {
         uint32_t bo = 0;
         EXPECT_EQ(Create(kPage, &bo), 0);
         EXPECT_EQ(CloseBo(c(), bo), 0);
       }},
      {"the memory is queried", [&] { MemoryInfo(c()); }},
      {"a file is opened and closed", [&] { Open(); }},
  };
  Load load(c());
  for (const Call& call : calls) {
    bool seen = false;
    for (int attempt = 0; !seen && attempt < 20; ++attempt) {
      auto other = Open();
      const uint64_t piece =
          (total_ - MemoryInfo(c()).used - 4 * kPage) / kPieces / kPage * kPage;
      std::vector<uint32_t> bos(kPieces);
      for (uint32_t& bo : bos) ASSERT_EQ(Create(piece, &bo), 0);
      for (uint32_t i = 0; i < kPieces; i += 2) Return(bos[i]);
      const uint64_t left = total_ - MemoryInfo(c()).used - kPage;

      const uint64_t before = Counters(c()).compactions;
      const uint64_t last = load.Queue(context_, 1200);
      std::atomic<bool> placed{false};
      std::atomic<pid_t> asking{0};
      std::thread asks([&] {
        uint32_t big = 0;
        asking = static_cast<pid_t>(syscall(SYS_gettid));
        EXPECT_EQ(CreateBo(other.get(), left, DRM_HEDDLE_DEVICE, &big), 0);
        placed = true;
      });
      EXPECT_TRUE(
          Eventually([&] { return placed || (asking && Sleeps(asking)); }));
      call.make();
      seen = Counters(c()).compactions == before &&
             Wait(c(), context_, last, 0) == -ETIME;
      asks.join();
      EXPECT_EQ(ResultOf(c(), context_, last).status, 0u);
      for (uint32_t i = 1; i < kPieces; i += 2) Return(bos[i]);
      other = nullptr;
      EXPECT_TRUE(
          Eventually([&] { return MemoryInfo(c()).used == 16 * kMiB; }));
    }
    EXPECT_TRUE(seen) << call.name << ": it returned behind the compaction";
  }
}

}  // namespace
}  // namespace heddle::uapi
