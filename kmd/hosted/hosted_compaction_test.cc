// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a compaction costs the others: calls go on while objects move, and
// whoever wants room again and again has a quarter of the card's time for it.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/manual_clock.h"
#include "kmd/hosted/raw_client.h"
#include "kmd/hosted/test_client.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;

class CompactionTest : public HostedTest {
 protected:
  // Every other page of device memory is free.
  void SetUp() override {
    HostedTest::SetUp();
    Plug(2 * kMiB);
    StartServer();
    owner_ = Open();
    ASSERT_NE(owner_, nullptr);
    const uint64_t pages =
        Query<drm_heddle_memory_info>(owner_.get(), DRM_HEDDLE_QUERY_MEMORY)
            .total /
        kPage;
    std::vector<uint32_t> bos;
    for (uint64_t i = 0; i < pages; ++i)
      bos.push_back(NewDevice(owner_.get(), kPage));
    for (uint64_t i = 0; i < pages; ++i) {
      if (i % 2 == 0) {
        Close(owner_.get(), bos[i]);
      } else {
        kept_.push_back(bos[i]);
      }
    }
    asks_ = std::make_unique<Raw>(options_.socket);
    ASSERT_TRUE(asks_->Open());
  }

  void HoldCopies(bool hold) {
    FakeCard::Behaviour behaviour;
    behaviour.hold_copies = hold;
    card_->Set(behaviour);
  }
  // Asks for a gap that there is not.
  void AskForRoom() {
    drm_heddle_bo_create args = {};
    args.size = 2 * kPage;
    args.placement = DRM_HEDDLE_DEVICE;
    ASSERT_TRUE(
        asks_->Send(kIoctl, &args, sizeof(args), DRM_IOCTL_HEDDLE_BO_CREATE));
  }
  // Until the driver knows of it, while it cannot be given: calls are looked at
  // in the order in which they come, and there is none with this number.
  void WaitUntilAsked() {
    ASSERT_TRUE(asks_->Send(kIoctl, nullptr, 0, 0));
    ExpectAnswer(-ENOTTY);
  }
  void ExpectAnswer(int result) {
    Message reply;
    ASSERT_TRUE(asks_->Receive(&reply));
    EXPECT_EQ(reply.header.result, result);
  }
  void WaitForCopies() {
    const auto moves = [this] {
      const auto seen = card_->seen();
      return !seen.empty() &&
             seen.back().steps.front().type == HEDDLE_STEP_TYPE_COPY;
    };
    while (!moves()) usleep(1000);
  }
  uint64_t Compactions() {
    return Query<drm_heddle_counters>(owner_.get(), DRM_HEDDLE_QUERY_COUNTERS)
        .compactions;
  }
  uint64_t Used() {
    return Query<drm_heddle_memory_info>(owner_.get(), DRM_HEDDLE_QUERY_MEMORY)
        .used;
  }
  // A compaction that takes `ns`.
  void Compact(uint64_t ns) {
    HoldCopies(true);
    AskForRoom();
    WaitForCopies();
    clock_.Advance(ns);
    HoldCopies(false);
    ExpectAnswer(0);
  }

  ManualClock clock_;
  std::unique_ptr<HostedClient> owner_;
  std::unique_ptr<Raw> asks_;
  std::vector<uint32_t> kept_;
};

TEST_F(CompactionTest, LeavesTheCardToItsUsersForThreeTimesAsLong) {
  auto user = Open();
  const uint32_t context = NewContext(user.get());
  const uint32_t bo = NewDevice(user.get(), kPage);
  auto host = NewHost(user.get(), kPage);
  const auto use = [&] {
    EXPECT_EQ(Do(user.get(), context, {CopyIn(host->handle, bo, kPage)}), 0u);
  };
  use();
  Compact(4 * kMs);
  ASSERT_EQ(Compactions(), 1u);
  AskForRoom();
  WaitUntilAsked();
  use();
  EXPECT_EQ(Compactions(), 1u);
  clock_.Advance(12 * kMs - 1);
  use();
  EXPECT_EQ(Compactions(), 1u);
  clock_.Advance(1);
  use();
  EXPECT_EQ(Compactions(), 2u);
  ExpectAnswer(0);
}

TEST_F(CompactionTest, DoesNotRestForNobody) {
  Compact(4 * kMs);
  AskForRoom();
  ExpectAnswer(0);
  EXPECT_EQ(Compactions(), 2u);
}

TEST_F(CompactionTest, CallsOfOthersGoOn) {
  auto other = Open();
  HoldCopies(true);
  AskForRoom();
  WaitForCopies();
  const uint64_t used = Used();
  // The first one is on the move.
  const size_t closed = kept_.size() / 2;
  for (size_t i = 0; i < closed; ++i) Close(owner_.get(), kept_[i]);
  EXPECT_EQ(Used(), used - closed * kPage);
  const uint32_t bo = NewDevice(other.get(), kPage);
  EXPECT_EQ(Used(), used - (closed - 1) * kPage);
  HoldCopies(false);
  ExpectAnswer(0);
  auto host = NewHost(other.get(), kPage);
  EXPECT_EQ(Do(other.get(), NewContext(other.get()),
               {CopyIn(host->handle, bo, kPage)}),
            0u);
  EXPECT_EQ(Compactions(), 1u);
}

}  // namespace
}  // namespace heddle::hosted
