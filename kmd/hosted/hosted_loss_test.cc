// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A card that goes on writing to host memory when it was told to stop: whoever
// hears that the job has ended has the memory for himself.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/manual_clock.h"
#include "kmd/hosted/test_client.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kBytes = 16 * kPage;
constexpr uint64_t kMs = 1000000;

class LossTest : public HostedTest {
 protected:
  void SetUp() override {
    HostedTest::SetUp();
    Plug();
    StartServer();
    client_ = Open();
    ASSERT_NE(client_, nullptr);
    context_ = NewContext(client_.get());
    const uint32_t buffer = NewDevice(client_.get(), kBytes);
    host_ = NewHost(client_.get(), kBytes);
    FakeCard::Behaviour behaviour;
    behaviour.runaway = true;
    card_->Set(behaviour);
    ASSERT_EQ(Submit(client_.get(), context_,
                     {CopyOut(buffer, host_->handle, kBytes)}, &seqno_),
              0);
    while (std::count(host_->data, host_->data + kBytes, 0) != 0) usleep(1000);
  }

  // Abort and reset fail, one after another; the driver gives the card up.
  void WaitForTheEnd() {
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
      drm_heddle_result result;
      EXPECT_EQ(Wait(client_.get(), context_, seqno_, &result), -ENODEV);
      ended = true;
    });
    for (; !ended; usleep(1000)) clock_.Advance(20 * kMs);
    waiter.join();
  }
  void ExpectNothingIsWritten() {
    EXPECT_FALSE(card_->masters_bus());
    std::memset(host_->data, 0, kBytes);
    // Whatever was on its way is there when the card has tried twice more.
    const uint64_t before = card_->refused_writes();
    for (int i = 0; i < 10000 && card_->refused_writes() < before + 2; ++i)
      usleep(1000);
    EXPECT_GE(card_->refused_writes(), before + 2)
        << "nothing keeps it from writing";
    EXPECT_EQ(std::count(host_->data, host_->data + kBytes, 0),
              static_cast<ptrdiff_t>(kBytes));
  }

  ManualClock clock_;
  std::unique_ptr<HostedClient> client_;
  std::unique_ptr<HostBuffer> host_;
  uint32_t context_ = 0;
  uint64_t seqno_ = 0;
};

TEST_F(LossTest, NothingIsWrittenAfterAResetThatFailed) {
  WaitForTheEnd();
  ExpectNothingIsWritten();
}

TEST_F(LossTest, NothingIsWrittenAfterTheEndOfTheDriver) {
  StopServer();
  ExpectNothingIsWritten();
}

// Its next driver finds it as busy as it was left.
TEST_F(LossTest, ACardHasNoBusBeforeItHasStopped) {
  WaitForTheEnd();
  const uint32_t resets = card_->resets();
  while (card_->resets() == resets) {
    clock_.Advance(20 * kMs);
    usleep(1000);
  }
  ExpectNothingIsWritten();
  card_->Set({});
  std::unique_ptr<HostedClient> again;
  while (HostedClient::Open(options_.socket, 0, &again) != 0) {
    clock_.Advance(20 * kMs);
    usleep(1000);
  }
  EXPECT_TRUE(card_->masters_bus());
  auto host = NewHost(again.get(), kBytes);
  const uint32_t buffer = NewDevice(again.get(), kBytes);
  EXPECT_EQ(Do(again.get(), NewContext(again.get()),
               {CopyOut(buffer, host->handle, kBytes)}),
            0u);
}

}  // namespace
}  // namespace heddle::hosted
