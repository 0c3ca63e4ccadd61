// SPDX-License-Identifier: Apache-2.0
// A card that goes and comes HEDDLE_CYCLES times [20], in order or by surprise,
// while threads have jobs on it without pause. Every call returns: with an
// answer, or -ENODEV; and on each new card jobs run right.
#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::tests {
namespace {

using uapi::Client;

constexpr int kThreads = 3;

int Cycles() {
  const char* text = std::getenv("HEDDLE_CYCLES");
  return text == nullptr ? 20 : std::atoi(text);
}

// Jobs on one open file until the card is gone. What a call says first, if it
// is not 0, ends it.
int Work(Client* c, uint32_t seed, std::atomic<uint64_t>* rounds) {
  uint32_t context = 0, host = 0, from = 0, to = 0, stream = 0;
  int err = uapi::CreateContext(c, 1 + seed % 3, &context);
  if (err == 0) err = uapi::CreateBo(c, 65536, DRM_HEDDLE_HOST, &host);
  if (err == 0) err = uapi::CreateBo(c, 65536, DRM_HEDDLE_DEVICE, &from);
  if (err == 0) err = uapi::CreateBo(c, 65536, DRM_HEDDLE_DEVICE, &to);
  if (err == 0)
    err = uapi::CreateStream(c, uapi::CopyStream(0, 1, 4096), &stream);
  if (err != 0) return err;
  const auto mapped = uapi::MapHost(c, host);
  if (mapped == nullptr) return -EFAULT;
  const std::vector<drm_heddle_region> regions = {
      uapi::Region(0, from, 65536),
      uapi::Region(1, to, 65536, DRM_HEDDLE_REGION_WRITE)};
  for (uint32_t value = seed;; value += 0x01010101) {
    uint64_t seqno = 0;
    err = uapi::Submit(
        c, context,
        {uapi::Fill(from, 4096, value), uapi::RunStream(stream, regions),
         uapi::CopyOut(to, host, 65536)},
        &seqno);
    if (err != 0) return err;
    drm_heddle_result result = {};
    err = uapi::Wait(c, context, seqno, uapi::InMs(60000), &result);
    if (err != 0) return err;
    if (result.status != 0) return -static_cast<int>(result.error);
    EXPECT_EQ(mapped->Word(1023), value);
    ++*rounds;
  }
}

class Workers {
 public:
  Workers() {
    for (uint32_t i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, i] { Run(i); });
    }
    threads_.emplace_back([this] { OpenAndClose(); });
  }
  ~Workers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // Every thread has had a job end on the card that is there now.
  bool AllWork() {
    uint64_t before[kThreads];
    for (int i = 0; i < kThreads; ++i) before[i] = rounds_[i];
    for (int tries = 0; tries < 30000; ++tries) {
      bool all = true;
      for (int i = 0; i < kThreads; ++i) all = all && rounds_[i] > before[i];
      if (all) return true;
      usleep(1000);
    }
    return false;
  }
  uint64_t rounds() const {
    uint64_t sum = 0;
    for (const auto& n : rounds_) sum += n;
    return sum;
  }

 private:
  void Run(uint32_t i) {
    while (!stop_) {
      int err = 0;
      auto client = uapi::Driver::Get().Open(&err);
      if (client == nullptr) {
        usleep(5000);
        continue;
      }
      EXPECT_EQ(Work(client.get(), i, &rounds_[i]), -ENODEV);
    }
  }

  // So that some open() is always on its way when the card goes.
  void OpenAndClose() {
    while (!stop_) {
      int err = 0;
      uapi::Driver::Get().Open(&err);
      usleep(200);
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> rounds_[kThreads] = {};
  std::vector<std::thread> threads_;
};

// Waits until the card's node can be opened (`there`), or no longer can.
void WaitForCard(bool there) {
  for (int tries = 0; tries < 10000; ++tries) {
    int err = 0;
    if ((uapi::Driver::Get().Open(&err) != nullptr) == there) return;
    usleep(2000);
  }
  ADD_FAILURE() << (there ? "no node for the new card" : "the node stays");
}

void GoesAndComes(bool by_surprise) {
  Workers workers;
  for (int n = 1; n <= Cycles() && !testing::Test::HasFailure(); ++n) {
    ASSERT_TRUE(workers.AllWork()) << "cycle " << n;
    if (by_surprise) {
      ASSERT_TRUE(HostRequest("kill 0").ok);
    }
    const HostAnswer gone = HostRequest("unplug 0", 60);
    ASSERT_TRUE(gone.ok) << gone.text;
    WaitForCard(false);
    const HostAnswer come =
        HostRequest("plug 0 --memory 64M --serial " + std::to_string(n), 60);
    ASSERT_TRUE(come.ok) << come.text;
    WaitForCard(true);
  }
  ASSERT_TRUE(workers.AllWork());
  // So that the threads see the end.
  ASSERT_TRUE(HostRequest("unplug 0", 60).ok);
  WaitForCard(false);
  std::printf("%d cycles, %llu jobs\n", Cycles(),
              static_cast<unsigned long long>(workers.rounds()));
}

class CyclesTest : public testing::Test {
 protected:
  void TearDown() override {
    HostRequest("plug 0 --memory 64M");
    WaitForCard(true);
  }
};

TEST_F(CyclesTest, InOrder) { GoesAndComes(false); }
TEST_F(CyclesTest, BySurprise) { GoesAndComes(true); }

}  // namespace
}  // namespace heddle::tests
